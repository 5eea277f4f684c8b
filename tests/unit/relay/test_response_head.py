"""Test which parts of response heads are forwarded and logged, and which heads are rejected."""

import pytest

from relaybook.relay.fingerprints import Fingerprints
from relaybook.relay.response_head import ResponseHead, ResponseHeadError, ResponseHeadReader

READER = ResponseHeadReader(["Service", "Relaybook"], Fingerprints(b"secret"))


def read(*lines: bytes, first: bytes = b"HTTP/1.1 200 OK") -> ResponseHead:
    return READER.read(b"\r\n".join([first, *lines, b"", b""]))


def test_status_reason_order_case_and_repeats_are_kept() -> None:
    lines = [b"x-A: 1", b"X-a: 2", b"Set-Cookie: a", b"set-cookie: b", b"content-encoding: br"]
    head = read(*lines, first=b"HTTP/1.1 418 I'm a  teapot")
    assert (head.status, head.reason, head.lines) == (418, b"I'm a  teapot", lines)


def test_hop_by_hop_headers_and_the_relays_own_names_are_not_forwarded() -> None:
    ours = [b"Service-Request-Id: forged", b"service-namespace: x", b"Relaybook-Warning: y", b"Service-Error: z"]
    ours.append(b"Service-Route: other")
    hops = [b"Connection: keep-alive", b"Keep-Alive: timeout=5", b"Trailer: x", b"Upgrade: h2c", b"Proxy-Connection: x"]
    head = read(*ours, *hops, b"Service-Level: gold")
    assert head.lines == [b"Service-Level: gold"]
    assert head.idle_seconds == 5


def test_cookies_are_forwarded_but_not_logged() -> None:
    head = read(b"Set-Cookie: session=verysecret")
    assert head.lines == [b"Set-Cookie: session=verysecret"]
    assert b"verysecret" not in head.logged


def test_rate_limits_are_logged() -> None:
    line = b"x-ratelimit-remaining-tokens: 149984"
    assert read(line).logged == line


@pytest.mark.parametrize(
    "lines",
    [
        [b"Content-Length: 5", b"Transfer-Encoding: chunked"],
        [b"Content-Length: 5", b"Content-Length: 6"],
        [b"Content-Length: -1"],
        [b"Transfer-Encoding: gzip, chunked"],
        [b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"],
        [b"X: a\0b"],
        [b"X : a"],
        [b"nonsense"],
        [b"X-%d: 1" % number for number in range(101)],
    ],
)
def test_headers_that_are_not_http_are_rejected(lines: list[bytes]) -> None:
    with pytest.raises(ResponseHeadError):
        read(*lines)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            [b"Transfer-Encoding: chunked", b"transfer-encoding: Chunked"],
            "chunked occurs more than once in Transfer-Encod",
        ),
        ([b"Transfer-Encoding: chunked, chunked"], "chunked occurs more than once in Transfer-Encoding"),
        ([b"Transfer-Encoding: chunked ,chunked,chunked"], "chunked occurs more than once in Transfer-Encoding"),
        ([b"Transfer-Encoding: gzip, chunked"], "Transfer-Encoding must be exactly chunked"),
        ([b"Transfer-Encoding: gzip", b"Transfer-Encoding: chunked"], "Transfer-Encoding must be exactly chunked"),
        ([b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip"], "Transfer-Encoding must be exactly chunked"),
        ([b"Transfer-Encoding: identity"], "Transfer-Encoding must be exactly chunked"),
        ([b"Transfer-Encoding: gzip"], "Transfer-Encoding must be exactly chunked"),
        ([b"Transfer-Encoding: chunked;q=1"], "Transfer-Encoding must be exactly chunked"),
        ([b"Transfer-Encoding: chunked,"], "Transfer-Encoding must be exactly chunked"),
        ([b"Transfer-Encoding:"], "Empty Transfer-Encoding"),
        (
            [b"Content-Length: 5", b"Transfer-Encoding: chunked"],
            "Transfer-Encoding can't be present with Content-Length",
        ),
        ([b"Transfer-Encoding: identity", b"Content-Length: 5"], "Content-Length can't be present with Transfer-Encod"),
        ([b"Content-Length: 5", b"Content-Length: 6"], "Duplicate Content-Length"),
        ([b"Content-Length: 5, 6"], "Invalid character in Content-Length"),
        ([b"Content-Length: -1"], "Invalid character in Content-Length"),
        ([b"Content-Length: 5a"], "Invalid character in Content-Length"),
        ([b"Content-Length:"], "Empty Content-Length"),
        ([b"Content-Length: 18446744073709551616"], "Content-Length overflow"),
    ],
)
def test_the_message_about_a_framing_header_is_true(lines: list[bytes], message: str) -> None:
    with pytest.raises(ResponseHeadError, match=f"^{message}"):
        read(*lines)


def test_a_first_line_of_another_protocol_is_rejected() -> None:
    with pytest.raises(ResponseHeadError):
        read(first=b"220 smtp ready")


def test_http_1_0_and_close_end_the_connection() -> None:
    assert read(first=b"HTTP/1.0 200 OK").close
    assert read(b"Connection: Close").close
    assert not read(b"Connection: keep-alive").close


def test_an_event_stream_is_recognized_by_its_content_type() -> None:
    assert read(b"content-type: text/event-stream; charset=utf-8").event_stream
    assert not read(b"content-type: application/json").event_stream


def test_headers_named_by_the_upstreams_connection_header_are_not_forwarded() -> None:
    head = read(b"X-a: 1", b"Connection: close, x-A", b"X-b: 2", b"Content-Length: 3", b"Connection: content-length")
    assert head.lines == [b"X-b: 2", b"Content-Length: 3"]
    assert head.close


def test_two_cookies_of_which_one_is_a_prefix_of_the_other_are_both_replaced() -> None:
    head = read(b"Set-Cookie: a=12345678", b"Set-Cookie: a=12345678-and-more")
    assert b"and-more" not in head.logged
    assert b"12345678" not in head.logged


@pytest.mark.parametrize("first", [b"\nHTTP/1.1 200 OK", b"HTTP/1.1 000 OK", b"HTTP/1.1 200 O\x00K", b"ICE/1.0 200 OK"])
def test_an_invalid_status_line_is_rejected(first: bytes) -> None:
    with pytest.raises(ResponseHeadError):
        read(first=first)


def test_a_length_with_too_many_digits_is_rejected() -> None:
    with pytest.raises(ResponseHeadError):
        read(b"Content-Length: " + b"0" * 5000)
