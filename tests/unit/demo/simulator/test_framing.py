"""How the end of an answer is told."""

from typing import Any

import pytest

from relaybook_demo.simulator.contents import Content
from relaybook_demo.simulator.directives import NO_DIRECTIVES, Directives
from relaybook_demo.simulator.framing import Case, framing_of, head_of, tail_of
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.replies import Reply, Stamp
from relaybook_demo.simulator.settings import SimulatorSettings

KNOWN = Content([b"abc"], 3, b"text/plain")
UNKNOWN = Content([b"abc"], None, b"text/plain")


def case(directives: Directives = NO_DIRECTIVES, status: int = 200, **request: Any) -> Case:
    return Case(Request(**request), directives, Reply(status), Stamp("0123456789abcdef0123", 0), SimulatorSettings())


@pytest.mark.parametrize(
    ("found", "content", "framing"),
    [
        (case(), KNOWN, "length"),
        (case(), UNKNOWN, "chunked"),
        (case(version="1.0"), UNKNOWN, "close"),
        (case(Directives(http="1.0")), UNKNOWN, "close"),
        (case(Directives(framing="chunked")), KNOWN, "chunked"),
        (case(Directives(framing="close")), KNOWN, "close"),
        (case(Directives(framing="length")), UNKNOWN, "chunked"),
        (case(status=204), KNOWN, "none"),
        (case(status=101), KNOWN, "none"),
    ],
)
def test_framing_follows_from_length_and_wish(found: Case, content: Content, framing: str) -> None:
    assert framing_of(found, content) == framing


@pytest.mark.parametrize(("length", "declared"), [(("+", 4), 7), (("-", 1), 2), (("-", 9), 0), (("", 99), 99)])
def test_declared_length_can_be_wrong(length: tuple[str, int], declared: int) -> None:
    assert b"\r\ncontent-length: %d\r\n" % declared in head_of(case(Directives(length=length)), KNOWN, "length")


def test_wished_headers_are_there() -> None:
    directives = Directives(header=((b"A", b"b\x00"),), header_fill=(2, 3), encoding="br", connection="close")
    head = head_of(case(directives), KNOWN, "chunked")
    for line in (b"A: b\x00", b"x-fill-1: xxx", b"content-encoding: br", b"Connection: close"):
        assert b"\r\n" + line + b"\r\n" in head
    assert head.endswith(b"transfer-encoding: chunked\r\n\r\n")


def test_status_line_and_type_can_be_replaced() -> None:
    head = head_of(case(Directives(status_line=b"HTP/9 oops")), Content([], 0, b""), "length")
    assert head.startswith(b"HTP/9 oops\r\n")
    assert b"content-type" not in head


def test_tail_ends_chunks_with_trailers_and_surplus() -> None:
    directives = Directives(trailer=((b"a", b"1"),), surplus=2)
    assert tail_of(directives, "chunked") == b"0\r\na: 1\r\n\r\nxx"
    assert tail_of(directives, "length") == b"xx"


@pytest.mark.parametrize(
    ("found", "has_body"),
    [(case(), True), (case(method="HEAD"), False), (case(status=304), False), (case(status=103), False)],
)
def test_some_answers_have_no_body(found: Case, has_body: bool) -> None:
    assert found.has_body is has_body
