"""Claims about how an answer is put on a caller's wire."""

import pytest

from relaybook.relay.client_framing import CallerFraming
from relaybook.relay.response_head import ResponseHead


def head(*, chunked: bool = False, length: int | None = None, status: int = 200, stream: bool = False) -> ResponseHead:
    made = ResponseHead()
    made.status, made.reason, made.chunked, made.length, made.event_stream = status, b"Fine", chunked, length, stream
    made.lines = [b"X: 1"]
    if chunked:
        made.lines.append(b"Transfer-Encoding: chunked")
    if length is not None:
        made.lines.append(b"Content-Length: %d" % length)
    return made


def framing(made: ResponseHead, method: bytes = b"GET", *, version_1_0: bool = False) -> CallerFraming:
    new = CallerFraming(made, method, version_1_0=version_1_0)
    new.begin(b"Ours: 1", keep_alive=not new.endless)
    return new


def test_a_length_stays_a_length() -> None:
    made = framing(head(length=5))
    assert made.wire(b"he") == b"HTTP/1.1 200 Fine\r\nX: 1\r\nContent-Length: 5\r\nOurs: 1\r\n\r\nhe"
    assert made.wire(b"llo", complete=True) == b"llo"
    assert not made.endless


def test_chunks_stay_chunks_one_for_each_read() -> None:
    made = framing(head(chunked=True))
    assert made.wire(b"") == b"HTTP/1.1 200 Fine\r\nX: 1\r\nTransfer-Encoding: chunked\r\nOurs: 1\r\n\r\n"
    assert made.wire(b"hello") == b"5\r\nhello\r\n"
    assert made.wire(b"") == b""
    assert made.wire(b"x", complete=True) == b"1\r\nx\r\n0\r\n\r\n"


def test_the_last_chunk_may_come_alone() -> None:
    made = framing(head(chunked=True))
    made.wire(b"a")
    assert made.wire(b"", complete=True) == b"0\r\n\r\n"


def test_an_answer_without_a_header_or_a_reason_gets_ours_and_no_blank_line() -> None:
    made = ResponseHead()
    made.status = 200
    new = CallerFraming(made, b"GET", version_1_0=False)
    new.begin(b"Ours: 1", keep_alive=False)
    assert new.wire(b"x") == b"HTTP/1.1 200 \r\nOurs: 1\r\nConnection: close\r\n\r\nx"


def test_without_a_length_the_connection_ends_with_the_answer() -> None:
    made = framing(head())
    assert made.endless
    assert made.wire(b"x").endswith(b"Ours: 1\r\nConnection: close\r\n\r\nx")


def test_a_caller_of_http_1_0_gets_no_chunks() -> None:
    made = framing(head(chunked=True), version_1_0=True)
    assert made.endless
    wire = made.wire(b"x", complete=True)
    assert b"ransfer" not in wire
    assert wire.endswith(b"\r\n\r\nx")


@pytest.mark.parametrize(("method", "status"), [(b"HEAD", 200), (b"GET", 204), (b"GET", 304)])
def test_an_answer_without_a_body_has_none(method: bytes, status: int) -> None:
    made = framing(head(chunked=True, status=status), method)
    assert not made.endless
    assert made.wire(b"", complete=True).endswith(b"\r\n\r\n")
    assert not made.wire(b"", complete=True)


@pytest.mark.parametrize(
    ("pieces", "between"),
    [
        ([], True),
        ([b"data: a\n\n"], True),
        ([b"data: a\r\n\r\n"], True),
        ([b"data: a\r\r"], True),
        ([b"data: a\n", b"\n"], True),
        ([b"data: a\r\n", b"\r", b"\n"], True),
        ([b"data: a\n"], False),
        ([b"data: a\n\nda"], False),
        ([b"data: a\n\n", b"d"], False),
    ],
)
def test_where_an_event_of_our_own_fits(pieces: list[bytes], between: bool) -> None:
    made = framing(head(chunked=True, stream=True))
    for piece in pieces:
        made.wire(piece)
    assert made.between_events is between


def test_only_plain_chunked_event_streams_take_an_event_of_ours() -> None:
    assert framing(head(chunked=True, stream=True)).is_event_stream
    assert not framing(head(stream=True)).is_event_stream
    assert not framing(head(chunked=True)).is_event_stream
    packed = head(chunked=True, stream=True)
    packed.encoded = True
    assert not framing(packed).is_event_stream
    assert not framing(head(chunked=True, stream=True), version_1_0=True).is_event_stream
