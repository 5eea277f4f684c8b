"""Test how values of settings are parsed and formatted."""

from pathlib import Path
from typing import Any, Literal

import pytest

from relaybook.settings.definitions import PriceSettings
from relaybook.settings.routes import RouteSettings
from relaybook.settings.typed_values import BadValue, Count, Dollars, describe_type, format_value, parse_value


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("4100", 4100),
        ("10_000", 10_000),
        ("64MiB", 64 << 20),
        ("10 GiB", 10 << 30),
        ("1.5 KiB", 1536),
        ("5MB", 5_000_000),
        ("2kB", 2000),
        ("7 B", 7),
        (12, 12),
    ],
)
def test_sizes_can_have_units(text: object, number: int) -> None:
    assert parse_value(int, text) == number


@pytest.mark.parametrize("bad", ["", "x", "-1", "1.5", "5 apples", "9" * 30, "999999999TiB", "٣", True, 1.5, -1, []])
def test_an_invalid_size_is_rejected(bad: object) -> None:
    with pytest.raises(BadValue, match=r"a number below|a number of bytes"):
        parse_value(int, bad)


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("4", 4), ("10_000", 10_000), (12, 12)])
def test_a_count_is_a_whole_number(text: object, number: int) -> None:
    assert parse_value(Count, text) == number


@pytest.mark.parametrize("bad", ["", "x", "-1", "1.5", "64KiB", "5 B", "9" * 30, "٣", True, 1.5, -1, 1 << 63, []])
def test_an_invalid_count_is_rejected(bad: object) -> None:
    with pytest.raises(BadValue, match="a whole number"):
        parse_value(Count, bad)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10", 10), ("0.5", 0.5), ("10s", 10), ("15 min", 900), ("2h", 7200), ("500ms", 0.5), (3, 3), (2.5, 2.5)],
)
def test_durations_are_seconds(text: object, seconds: float) -> None:
    value = parse_value(float, text)
    assert isinstance(value, float)
    assert value == seconds


@pytest.mark.parametrize("bad", ["", "nan", "inf", "-1", "1e9", "5 days", True, float("nan"), float("inf"), -1, None])
def test_an_invalid_duration_is_rejected(bad: object) -> None:
    with pytest.raises(BadValue, match="duration"):
        parse_value(float, bad)


@pytest.mark.parametrize(
    ("text", "expected"), [("true", True), ("Yes", True), ("0", False), ("off", False), (True, True)]
)
def test_booleans_have_several_spellings(text: object, expected: bool) -> None:
    assert parse_value(bool, text) is expected


def test_lists_are_text_with_commas_or_arrays() -> None:
    assert parse_value(list[str], "a, b,,c ") == ["a", "b", "c"]
    assert parse_value(list[str], ["a", "b"]) == ["a", "b"]
    assert parse_value(list[str], "") == []
    with pytest.raises(BadValue):
        parse_value(list[str], ["a", 1])


def test_a_wrong_choice_is_rejected_with_the_list_of_choices() -> None:
    assert parse_value(Literal["cancel", "finish"], "finish") == "finish"
    with pytest.raises(BadValue, match="cancel or finish"):
        parse_value(Literal["cancel", "finish"], "Finish")


def test_none_is_parsed_only_if_the_type_allows_it() -> None:
    assert parse_value(str | None, "none") is None
    assert parse_value(str, "none") == "none"


def test_a_tilde_in_paths_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert parse_value(Path | None, "~/log") == Path("/home/ada/log")
    for bad in ("", "a\0b", "~nobody-of-this-name/x", 3):
        with pytest.raises(BadValue, match=r"path|text"):
            parse_value(Path, bad)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        ([], "–"),
        (["a", "b"], "a, b"),
        (0.5, "0.5 s"),
        (600.0, "600 s"),
        (1 << 30, "1 GiB"),
        (64 << 20, "64 MiB"),
        (10_000, "10000"),
        (0, "0"),
        ("x", "x"),
    ],
)
def test_formatted_values_can_be_parsed(value: Any, text: str) -> None:
    assert format_value(value) == text
    if value not in (None, []):
        assert parse_value(list[str] if isinstance(value, list) else type(value), text) == value


def test_types_are_described_for_people() -> None:
    assert describe_type(Literal["full", "no-bodies"]) == "`full` or `no-bodies`"
    assert describe_type(list[str]) == "list"
    assert describe_type(Path | None) == "path"


def test_numbers_in_tables_are_shown_with_the_unit_of_their_setting() -> None:
    prices = {"my-model": PriceSettings(input_mtok=Dollars(2.5), output_mtok=Dollars(0))}
    assert format_value(prices) == "my-model: input_mtok=2.5 output_mtok=0"
    routes = {"own": RouteSettings(upstream="http://u:p@a/v1", idle_timeout=2.5, max_in_flight=Count(2048))}
    assert format_value(routes) == "own: upstream=http://…@a/v1 idle_timeout=2.5 s max_in_flight=2048"
