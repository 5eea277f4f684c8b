"""Test valid and invalid values of directives."""

from collections.abc import Callable
from typing import Any, Literal

import pytest

from relaybook_demo.simulator import directive_values as read
from relaybook_demo.simulator.directive_values import After, BadDirective, BodyDirectives, Break, PacedWrites


@pytest.mark.parametrize(
    ("reader", "text", "value"),
    [
        (read.break_point, "head", Break("head", 0, 0, "fin")),
        (read.break_point, "head:12 rst", Break("head", 0, 12, "rst")),
        (read.break_point, "event:3", Break("event", 3, 0, "fin")),
        (read.break_point, "event:3:5 hang", Break("event", 3, 5, "hang")),
        (read.break_point, "byte:9", Break("byte", 0, 9, "fin")),
        (read.break_point, "end rst", Break("end", 0, 0, "rst")),
        (read.after, "close 1.5", After("close", 1.5)),
        (read.paced_writes, "4 10", PacedWrites(4, 10.0)),
        (read.body, "bytes:7", BodyDirectives("bytes", size=7)),
        (read.body, "base64:YQ==", BodyDirectives("exact", data=b"a")),
        (read.body, "html", BodyDirectives("html")),
        (read.header_lines, "a: b%0d | C:", ((b"a", b"b\r"), (b"C", b""))),
        (read.interim_statuses, "100 103*2", (100, 103, 103)),
        (read.declared_length, "+4", ("+", 4)),
        (read.declared_length, "4", ("", 4)),
        (read.size_and_count, "3 9", (3, 9)),
        (read.size_and_count, "3", (3, 16)),
        (read.percent_text, "%C3%A9", "é"),
    ],
)
def test_a_valid_value_is_parsed(reader: Callable[[str], Any], text: str, value: Any) -> None:
    assert reader(text) == value


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        (int, "42", 42),
        (float, "1.5", 1.5),
        (float, "250", 250.0),
        (str, "null", "null"),
        (bytes, "YQ==", b"a"),
        (bool, "yes", True),
        (bool, "1", True),
        (bool, "no", False),
        (bool, "0", False),
        (Literal["null", "missing"], "null", "null"),
    ],
)
def test_a_scalar_is_parsed_by_its_type(type_: Any, text: str, value: Any) -> None:
    assert read.scalar(text, type_) == value


@pytest.mark.parametrize(
    ("type_", "text", "expected"),
    [
        *((int, text, "a whole number") for text in ("", "-1", "1.5", "²", "+1", "null", "1 ")),
        *((float, text, "a number of zero or more") for text in ("", "nan", "inf", "-1", "1e999", "soon")),
        (bytes, "not base64", "base64"),
        (bool, "true", "one of yes, no, 1, 0"),
        (Literal["null", "missing"], "None", "one of null, missing"),
    ],
)
def test_an_invalid_scalar_is_rejected_with_the_expected_one(type_: Any, text: str, expected: str) -> None:
    with pytest.raises(BadDirective) as error:
        read.scalar(text, type_)
    assert str(error.value) == expected


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (read.break_point, "event"),
        (read.break_point, "event:x"),
        (read.break_point, "byte:1:2"),
        (read.break_point, "head explode"),
        (read.after, "later"),
        (read.paced_writes, "0"),
        (read.body, "xml"),
        (read.body, "base64:YQ"),
        (read.declared_length, "+-3"),
        (read.interim_statuses, "103*x"),
        (read.header_lines, "no colon"),
        (read.interim_statuses, "200"),
        (read.any_of("a"), "b"),
    ],
)
def test_an_invalid_value_is_rejected_with_the_expected_one(reader: Callable[[str], Any], text: str) -> None:
    with pytest.raises(BadDirective, match=r"\w"):
        reader(text)
