"""Test how responses are encoded for the client."""

import pytest

from relaybook.relay.client_framing import ClientFraming
from relaybook.relay.response_head import ResponseHead


def head(*, chunked: bool = False, length: int | None = None, status: int = 200) -> ResponseHead:
    new_head = ResponseHead()
    new_head.status, new_head.reason, new_head.chunked, new_head.length = status, b"Fine", chunked, length
    new_head.lines = [b"X: 1"]
    if chunked:
        new_head.lines.append(b"Transfer-Encoding: chunked")
    if length is not None:
        new_head.lines.append(b"Content-Length: %d" % length)
    return new_head


def framing(response_head: ResponseHead, method: bytes = b"GET", *, version_1_0: bool = False) -> ClientFraming:
    framed = ClientFraming(response_head, method, version_1_0=version_1_0)
    framed.begin(b"Ours: 1", keep_alive=not framed.ends_with_close)
    return framed


def test_a_content_length_is_kept() -> None:
    framed = framing(head(length=5))
    assert framed.encode(b"he") == b"HTTP/1.1 200 Fine\r\nX: 1\r\nContent-Length: 5\r\nOurs: 1\r\n\r\nhe"
    assert framed.encode(b"llo", complete=True) == b"llo"
    assert not framed.ends_with_close


def test_a_chunked_body_stays_chunked_with_one_chunk_per_read() -> None:
    framed = framing(head(chunked=True))
    assert framed.encode(b"") == b"HTTP/1.1 200 Fine\r\nX: 1\r\nTransfer-Encoding: chunked\r\nOurs: 1\r\n\r\n"
    assert framed.encode(b"hello") == b"5\r\nhello\r\n"
    assert framed.encode(b"") == b""
    assert framed.encode(b"x", complete=True) == b"1\r\nx\r\n0\r\n\r\n"


def test_the_last_chunk_can_be_sent_separately() -> None:
    framed = framing(head(chunked=True))
    framed.encode(b"a")
    assert framed.encode(b"", complete=True) == b"0\r\n\r\n"


def test_a_response_without_headers_and_reason_gets_the_relays_headers_and_no_empty_line() -> None:
    new_head = ResponseHead()
    new_head.status = 200
    framed = ClientFraming(new_head, b"GET", version_1_0=False)
    framed.begin(b"Ours: 1", keep_alive=False)
    assert framed.encode(b"x") == b"HTTP/1.1 200 \r\nOurs: 1\r\nConnection: close\r\n\r\nx"


def test_without_a_length_the_connection_closes_after_the_response() -> None:
    framed = framing(head())
    assert framed.ends_with_close
    assert framed.encode(b"x").endswith(b"Ours: 1\r\nConnection: close\r\n\r\nx")


def test_an_http_1_0_client_gets_no_chunks() -> None:
    framed = framing(head(chunked=True), version_1_0=True)
    assert framed.ends_with_close
    wire = framed.encode(b"x", complete=True)
    assert b"ransfer" not in wire
    assert wire.endswith(b"\r\n\r\nx")


@pytest.mark.parametrize(("method", "status"), [(b"HEAD", 200), (b"GET", 204), (b"GET", 304)])
def test_responses_without_a_body_end_with_their_head(method: bytes, status: int) -> None:
    framed = framing(head(chunked=True, status=status), method)
    assert not framed.ends_with_close
    assert framed.encode(b"", complete=True).endswith(b"\r\n\r\n")
    assert not framed.encode(b"", complete=True)
