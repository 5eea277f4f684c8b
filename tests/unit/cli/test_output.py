"""A request as one line."""

import time
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from tests.support.rows import row

from relaybook.cli.output import (
    clock_time,
    cost,
    duration,
    escape,
    is_text,
    one_line,
    previews,
    result,
    tokens,
)


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
        ({"outcome": "open", "status": None}, "◐ running"),
        ({}, "✓ 200"),
        ({"finish_reason": "tool_calls"}, "✓ 200 tool calls"),
        ({"status": 429, "failed": True}, "✗ 429 error"),
        ({"failed": True}, "✗ 200 error in stream"),
        (
            {"outcome": "upstream_failed", "error_code": "upstream_unreachable", "failed": True},
            "✗ upstream unreachable",
        ),
        ({"outcome": "upstream_failed", "error_code": "upstream_reset", "failed": True}, "✗ upstream disconnected"),
        ({"outcome": "client_closed"}, "◌ client disconnected"),
        ({"outcome": "client_closed", "failed": True}, "✗ 200 error in stream"),
        ({"outcome": "open"}, "◐ running"),
        ({"outcome": "interrupted", "failed": True}, "✗ relay stopped"),
        ({"outcome": "refused", "status": 413, "failed": True}, "✗ 413 refused"),
        ({"outcome": "refused", "status": None, "failed": True}, "✗ refused"),
    ],
)
def test_the_result_describes_the_outcome(fields: dict[str, Any], text: str) -> None:
    assert result(row(**fields)) == text


def test_an_open_request_without_a_server_is_unfinished() -> None:
    assert result(row(outcome="open") | {"is_served": False}) == "◌ unfinished"


def test_unknown_values_are_a_dash_and_not_zero() -> None:
    assert (tokens(row()), cost(row()), duration(row())) == ("– → –", "–", "–")


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


def test_the_date_is_shown_if_it_is_another_day() -> None:
    timestamp = row()["started_at"]
    assert clock_time(timestamp, date(2026, 11, 21)) == "14:02:27"
    assert clock_time(timestamp, date(2026, 11, 22)) == "2026-11-21 14:02:27"


def test_the_line_of_a_refused_request() -> None:
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
    line = one_line(shown, date(2026, 11, 21))
    cells = [cell.strip() for cell in line.split("  ") if cell.strip()]
    assert cells[:4] == ["14:02:27", "staging", "gpt-4o-mini", "✗ 429 error"]
    assert cells[4:] == ["2,911 → –", "–", "0.08 s", "Summarise this → Rate limit reached"]


def test_hostile_text_stays_on_one_line() -> None:
    nasty = "x\n\x1b]0;title\x07\u2028y"
    line = one_line(row(namespace=nasty, model=nasty, input_preview=nasty, output_preview=nasty), date(2026, 11, 21))
    assert line.isprintable()


def test_long_previews_are_truncated() -> None:
    text = previews(row(input_preview="a" * 200, output_preview="b"))
    assert text.endswith("… → b")
    assert len(text) < 60


def test_without_previews_the_text_is_empty() -> None:
    assert previews(row()) == ""


def test_invalid_utf_8_is_not_text() -> None:
    assert is_text("café \U0001f600")
    assert not is_text(b"caf\xe9".decode("utf-8", "surrogateescape"))
