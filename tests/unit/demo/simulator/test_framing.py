"""Test the framing of responses."""

from typing import Any

import pytest

from relaybook_demo.simulator.contents import Content
from relaybook_demo.simulator.directives import NO_DIRECTIVES, Directives
from relaybook_demo.simulator.framing import ResponseContext, framing_of, head_of, tail_of
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.replies import Reply, Stamp
from relaybook_demo.simulator.settings import SimulatorSettings

KNOWN = Content([b"abc"], 3, b"text/plain")
UNKNOWN = Content([b"abc"], None, b"text/plain")


def make_context(directives: Directives = NO_DIRECTIVES, status: int = 200, **request: Any) -> ResponseContext:
    return ResponseContext(
        Request(**request), directives, Reply(status), Stamp("0123456789abcdef0123", 0), SimulatorSettings()
    )


@pytest.mark.parametrize(
    ("context", "content", "framing"),
    [
        (make_context(), KNOWN, "length"),
        (make_context(), UNKNOWN, "chunked"),
        (make_context(version="1.0"), UNKNOWN, "close"),
        (make_context(Directives(http="1.0")), UNKNOWN, "close"),
        (make_context(Directives(framing="chunked")), KNOWN, "chunked"),
        (make_context(Directives(framing="close")), KNOWN, "close"),
        (make_context(Directives(framing="length")), UNKNOWN, "chunked"),
        (make_context(status=204), KNOWN, "none"),
        (make_context(status=101), KNOWN, "none"),
    ],
)
def test_framing_depends_on_length_and_directive(context: ResponseContext, content: Content, framing: str) -> None:
    assert framing_of(context, content) == framing


@pytest.mark.parametrize(("length", "declared"), [(("+", 4), 7), (("-", 1), 2), (("-", 9), 0), (("", 99), 99)])
def test_declared_length_can_be_wrong(length: tuple[str, int], declared: int) -> None:
    assert b"\r\ncontent-length: %d\r\n" % declared in head_of(make_context(Directives(length=length)), KNOWN, "length")


def test_directives_add_headers() -> None:
    directives = Directives(header=((b"A", b"b\x00"),), header_fill=(2, 3), encoding="br", connection="close")
    head = head_of(make_context(directives), KNOWN, "chunked")
    for line in (b"A: b\x00", b"x-fill-1: xxx", b"content-encoding: br", b"Connection: close"):
        assert b"\r\n" + line + b"\r\n" in head
    assert head.endswith(b"transfer-encoding: chunked\r\n\r\n")


def test_status_line_and_type_can_be_replaced() -> None:
    head = head_of(make_context(Directives(status_line=b"HTP/9 oops")), Content([], 0, b""), "length")
    assert head.startswith(b"HTP/9 oops\r\n")
    assert b"content-type" not in head


def test_the_tail_ends_chunks_with_trailers_and_surplus() -> None:
    directives = Directives(trailer=((b"a", b"1"),), surplus=2)
    assert tail_of(directives, "chunked") == b"0\r\na: 1\r\n\r\nxx"
    assert tail_of(directives, "length") == b"xx"


@pytest.mark.parametrize(
    ("context", "has_body"),
    [
        (make_context(), True),
        (make_context(method="HEAD"), False),
        (make_context(status=304), False),
        (make_context(status=103), False),
    ],
)
def test_some_responses_have_no_body(context: ResponseContext, has_body: bool) -> None:
    assert context.has_body is has_body


@pytest.mark.parametrize(("name", "is_sent"), [(b"request-id", True), (None, False)])
def test_each_api_has_its_own_header_for_the_request_id(name: bytes | None, is_sent: bool) -> None:
    context = make_context()
    context.reply.request_id_header = name
    head = head_of(context, KNOWN, "length")
    assert (b"\r\nrequest-id: req_0123456789abcdef0123\r\n" in head) is is_sent
    assert b"x-request-id" not in head
