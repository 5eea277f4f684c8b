"""Test valid and invalid values of directives."""

from collections.abc import Callable
from typing import Any

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
        (read.boolean, "1", True),
    ],
)
def test_a_valid_value_is_parsed(reader: Callable[[str], Any], text: str, value: Any) -> None:
    assert reader(text) == value


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (read.break_point, "event"),
        (read.break_point, "event:x"),
        (read.break_point, "byte:1:2"),
        (read.break_point, "head explode"),
        (read.after, "later"),
        (read.paced_writes, "0"),
        (read.non_negative, "nan"),
        (read.non_negative, "-1"),
        (read.non_negative, "soon"),
        (read.number, "²"),
        (read.number, ""),
        (read.body, "xml"),
        (read.base64_bytes, "not base64"),
        (read.header_lines, "no colon"),
        (read.interim_statuses, "200"),
        (read.boolean, "maybe"),
        (read.any_of("a"), "b"),
    ],
)
def test_an_invalid_value_is_rejected_with_the_expected_one(reader: Callable[[str], Any], text: str) -> None:
    with pytest.raises(BadDirective, match=r"\w"):
        reader(text)
