"""Test how a request is printed as one line."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.rows import row

from relaybook.cli.output import (
    cost,
    duration,
    escape,
    local_time,
    one_line,
    previews,
    result,
    tokens,
    truncate_middle,
)
from relaybook.log.query.term_values import parse_timestamp


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"outcome": "open", "status": None}, "◐ Running"),
        ({}, "✓ 200"),
        ({"finish_reason": "tool_calls"}, "✓ 200 · tool calls"),
        ({"status": 429, "failed": True}, "✗ 429 rate limited"),
        ({"failed": True}, "✗ 200 · error in response"),
        (
            {"outcome": "upstream_failed", "error_code": "upstream_unreachable", "failed": True, "status": 502},
            "✗ 502 upstream unreachable",
        ),
        (
            {"outcome": "upstream_failed", "error_code": "upstream_reset", "failed": True},
            "✗ Connection closed by upstream",
        ),
        ({"outcome": "client_closed"}, "◌ Client disconnected"),
        ({"outcome": "client_closed", "failed": True}, "✗ 200 · error in response"),
        ({"outcome": "open"}, "◐ Running"),
        ({"outcome": "interrupted", "failed": True}, "✗ Relay stopped"),
        ({"outcome": "refused", "status": 413, "failed": True}, "✗ 413 refused"),
        ({"outcome": "refused", "status": None, "failed": True}, "✗ Refused"),
    ],
)
def test_the_result_describes_the_outcome(fields: dict[str, Any], text: str) -> None:
    assert result(row(**fields)) == text


def test_an_open_request_without_a_server_is_unfinished() -> None:
    assert result(row(outcome="open") | {"is_served": False}) == "◌ Unfinished"


def test_unknown_values_are_a_dash_and_not_zero() -> None:
    assert (tokens(row()), cost(row()), duration(row())) == ("– → –", "–", "–")


def test_a_short_duration_is_in_milliseconds() -> None:
    assert [duration(row(duration_ms=ms)) for ms in (1.04, 9.94, 9.96, 920)] == ["1.0 ms", "9.9 ms", "0.01 s", "0.92 s"]


def test_tokens_have_thousands_and_estimates_are_marked() -> None:
    assert tokens(row(input_tokens=2911, output_tokens=204)) == "2,911 → 204"
    assert tokens(row(input_tokens=48, output_tokens=9, tokens_estimated=True)) == "≈48 → ≈9"


@pytest.mark.parametrize(
    ("usd", "text"), [(0.0033, "$0.0033"), (0.00001, "<$0.0001"), (12.5, "$12.50"), (1234.5, "$1,234.50"), (0.0, "$0")]
)
def test_a_small_cost_is_not_rounded_to_zero(usd: float, text: str) -> None:
    assert cost(row(cost_usd=usd)) == text


def test_an_estimated_cost_is_marked() -> None:
    assert cost(row(cost_usd=0.002, tokens_estimated=True)) == "≈$0.0020"


def test_control_characters_and_direction_marks_are_escaped() -> None:
    assert escape("a\x1b[2Jb\x9b\u202e\ud800\u2028é") == "a\\x1b[2Jb\\x9b\\u202e\\ud800\\u2028é"
    assert escape("a\n\tb\r", keep="\n\t") == "a\n\tb\\x0d"
    assert escape("\U000e0001") == "\\U000e0001"


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("UTC", "2026-11-21T14:02:27+00:00"),
        ("Europe/Berlin", "2026-11-21T15:02:27+01:00"),
        ("America/St_Johns", "2026-11-21T10:32:27-03:30"),
    ],
)
def test_a_time_has_its_offset_and_is_a_valid_filter(zone: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    timestamp = row()["started_at"]
    assert local_time(timestamp) == text
    assert parse_timestamp(text, 0) == parse_timestamp(timestamp, 0) // 1_000_000 * 1_000_000


def test_long_names_are_shortened_in_the_middle() -> None:
    assert truncate_middle("gpt-4o-mini", 11) == "gpt-4o-mini"
    assert truncate_middle("gpt-4o-mini-2024-07-18", 11) == "gpt-4…07-18"
    assert truncate_middle("gpt-4o-mini-2024-07-18", 12) == "gpt-4o…07-18"


def test_columns_are_aligned_whatever_the_length_of_names() -> None:
    long = row(
        namespace="user-8f3a2b44-5c1d-4e0f-9a77-c91e00000000",
        model="accounts/fireworks/models/llama-v3p1-405b-instruct",
        outcome="upstream_failed",
        error_code="upstream_unreachable",
        failed=True,
        input_tokens=128_000,
        output_tokens=16_384,
        cost_usd=0.00001,
        duration_ms=612_345.6,
    )
    starts = [one_line(each).index(sign) for each, sign in ((long, "✗"), (row(namespace="a"), "✓"))]
    assert starts[0] == starts[1]


def test_a_failed_request_is_one_line_with_its_error() -> None:
    shown = row(
        namespace="staging",
        model="gpt-4o-mini",
        status=429,
        failed=True,
        input_tokens=2911,
        duration_ms=80.4,
        input_preview="Summarise\nthis",
        error_message="Rate limit reached",
    )
    line = one_line(shown)
    cells = [cell.strip() for cell in line.split("  ") if cell.strip()]
    assert cells[:4] == ["2026-11-21T14:02:27+00:00", "staging", "gpt-4o-mini", "2,911 → –"]
    assert cells[4:] == ["–", "0.08 s", "✗ 429 rate limited", "Summarise this → Rate limit reached"]


def test_hostile_text_stays_on_one_line() -> None:
    nasty = "x\n\x1b]0;title\x07\u2028y"
    line = one_line(row(namespace=nasty, model=nasty, input_preview=nasty, output_preview=nasty))
    assert line.isprintable()


def test_long_previews_are_truncated() -> None:
    text = previews(row(input_preview="a" * 200, output_preview="b"))
    assert text.endswith("… → b")
    assert len(text) < 60


def test_without_previews_the_text_is_empty() -> None:
    assert previews(row()) == ""


def test_the_route_is_named_if_it_is_not_the_default_route() -> None:
    assert "via anthropic  Hello" in one_line(row(route="anthropic", input_preview="Hello"))
    assert "via" not in one_line(row(input_preview="Hello"))
