"""Values of wishes, right and wrong."""

from collections.abc import Callable
from typing import Any

import pytest

from relaybook_demo.simulator import directive_values as read
from relaybook_demo.simulator.directive_values import After, BadDirective, BodyDirectives, Break, Pieces


@pytest.mark.parametrize(
    ("reader", "text", "value"),
    [
        (read.breaking, "head", Break("head", 0, 0, "fin")),
        (read.breaking, "head:12 rst", Break("head", 0, 12, "rst")),
        (read.breaking, "event:3", Break("event", 3, 0, "fin")),
        (read.breaking, "event:3:5 hang", Break("event", 3, 5, "hang")),
        (read.breaking, "byte:9", Break("byte", 0, 9, "fin")),
        (read.breaking, "end rst", Break("end", 0, 0, "rst")),
        (read.after, "close 1.5", After("close", 1.5)),
        (read.pieces, "4 10", Pieces(4, 10.0)),
        (read.body, "bytes:7", BodyDirectives("bytes", size=7)),
        (read.body, "base64:YQ==", BodyDirectives("exact", data=b"a")),
        (read.body, "html", BodyDirectives("html")),
        (read.header_lines, "a: b%0d | C:", ((b"a", b"b\r"), (b"C", b""))),
        (read.statuses, "100 103*2", (100, 103, 103)),
        (read.declared_length, "+4", ("+", 4)),
        (read.declared_length, "4", ("", 4)),
        (read.size_and_count, "3 9", (3, 9)),
        (read.size_and_count, "3", (3, 16)),
        (read.plain, "%C3%A9", "é"),
        (read.switch, "1", True),
    ],
)
def test_value_is_read(reader: Callable[[str], Any], text: str, value: Any) -> None:
    assert reader(text) == value


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (read.breaking, "event"),
        (read.breaking, "event:x"),
        (read.breaking, "byte:1:2"),
        (read.breaking, "head explode"),
        (read.after, "later"),
        (read.pieces, "0"),
        (read.amount, "nan"),
        (read.amount, "-1"),
        (read.amount, "soon"),
        (read.number, "²"),
        (read.number, ""),
        (read.body, "xml"),
        (read.raw, "not base64"),
        (read.header_lines, "no colon"),
        (read.statuses, "200"),
        (read.switch, "maybe"),
        (read.words("a"), "b"),
    ],
)
def test_bad_value_is_refused_with_what_was_expected(reader: Callable[[str], Any], text: str) -> None:
    with pytest.raises(BadDirective, match=r"\w"):
        reader(text)
