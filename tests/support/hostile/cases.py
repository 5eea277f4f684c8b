"""Malformed, ambiguous and hostile requests that the relay rejects, each with its response.

docs/reference/malformed-requests.md is generated from these tables and the tables in ``test_bad_input``. RFC 9112
defines which requests are rejected. The relay also rejects every request that the upstream could parse differently.
"""

from dataclasses import dataclass
from typing import Final

from tests.support.raw_http import (
    CHUNKED,
    FIRST,
    HIDDEN,
    LENGTH,
    QUESTION,
    at,
    chunks,
    framed,
    from_line,
    request,
    with_host,
)


@dataclass(frozen=True)
class Case:
    """A request and the expected response. ``kept`` is ``counted``, or ``recorded`` with an outcome."""

    group: str
    what: str
    sent: bytes
    status: int
    code: str
    kept: str = "counted"


def name_of(case: Case) -> str:
    return f"{case.group}: {case.what}"


#: The start of a TLS handshake. The bytes never contain the empty line that ends a request head.
TLS_GREETING: Final = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(128, 160))
#: The value of ``kept`` for requests that are admitted first and rejected later.
REFUSED: Final = "recorded, refused"


def cases(group: str, status: int, code: str, kept: str, table: dict[str, bytes]) -> list[Case]:
    """Return one case for each request of the table. All cases have the same response."""
    return [Case(group, what, sent, status, code, kept) for what, sent in table.items()]


CASES: Final = [
    Case("TLS", "a TLS ClientHello (the base URL begins with https)", TLS_GREETING, 400, "bad_request"),
    *cases(
        "Body length",
        400,
        "bad_request",
        "counted",
        {
            "`Content-Length`, then `Transfer-Encoding`": framed(LENGTH, CHUNKED, body=b"0\r\n\r\n" + HIDDEN),
            "`Transfer-Encoding`, then `Content-Length`": framed(CHUNKED, LENGTH, body=b"0\r\n\r\n" + HIDDEN),
            "two different `Content-Length` headers": framed(LENGTH, b"Content-Length: 0"),
            "two identical `Content-Length` headers": framed(LENGTH, LENGTH),
            "a list in `Content-Length`": framed(LENGTH + b", %d" % len(QUESTION)),
            "an empty `Content-Length`": framed(b"Content-Length:"),
            "`Content-Length: +5`": framed(b"Content-Length: +5"),
            "`Content-Length: -1`": framed(b"Content-Length: -1"),
            "`Content-Length: 0x5`": framed(b"Content-Length: 0x5"),
            "`Content-Length: 5_0`": framed(b"Content-Length: 5_0"),
            "`Content-Length: 5 0`": framed(b"Content-Length: 5 0"),
            "`Content-Length: 1e1`": framed(b"Content-Length: 1e1"),
            "a `Content-Length` in non-ASCII digits": framed("Content-Length: ٥".encode()),
            "a `Content-Length` of 2⁶⁴": framed(b"Content-Length: 18446744073709551616"),
            "`Transfer-Encoding: chunked, identity`": framed(CHUNKED + b", identity", body=FIRST + b"0\r\n\r\n"),
            "`Transfer-Encoding: gzip, chunked`": framed(
                b"Transfer-Encoding: gzip, chunked", body=FIRST + b"0\r\n\r\n"
            ),
            "`Transfer-Encoding: chunked, chunked`": framed(CHUNKED + b", chunked", body=FIRST + b"0\r\n\r\n"),
            "`Transfer-Encoding: chunked` twice": framed(CHUNKED, CHUNKED, body=FIRST + b"0\r\n\r\n" + HIDDEN),
            "`Transfer-Encoding: identity`": framed(b"Transfer-Encoding: identity"),
            "`Transfer-Encoding: xchunked`": framed(b"Transfer-Encoding: xchunked", body=FIRST + b"0\r\n\r\n"),
            '`Transfer-Encoding: "chunked"`': framed(b'Transfer-Encoding: "chunked"', body=FIRST + b"0\r\n\r\n"),
            "a vertical tab before `chunked`": framed(b"Transfer-Encoding: \x0bchunked", body=FIRST + b"0\r\n\r\n"),
            "`Transfer-Encoding: ,chunked`": framed(b"Transfer-Encoding: ,chunked", body=FIRST + b"0\r\n\r\n"),
            "`Transfer-Encoding: chunked;q=1`": framed(CHUNKED + b";q=1", body=FIRST + b"0\r\n\r\n"),
            "a vertical tab after `Content-Length`": framed(LENGTH + b"\x0b"),
            "an empty `Transfer-Encoding`": framed(b"Transfer-Encoding:", body=FIRST + b"0\r\n\r\n"),
            "a chunked HTTP/1.0 request": request(
                CHUNKED, first=b"POST /v1/chat/completions HTTP/1.0", body=FIRST + b"0\r\n\r\n"
            ),
        },
    ),
    *cases(
        "Headers",
        400,
        "bad_request",
        "counted",
        {
            "a header line ending in LF only": framed(b"X-A: 1\nX-B: 2", LENGTH),
            "all lines ending in LF only": framed(LENGTH).partition(b"\r\n\r\n")[0].replace(b"\r\n", b"\n")
            + b"\n\n"
            + QUESTION,
            "a header line ending in CR only": framed(b"X-A: 1\rX-B: 2", LENGTH),
            "CR in a header value": framed(b"X-A: 1\r2", LENGTH),
            "NUL in a header value": framed(b"X-A: 1\x002", LENGTH),
            "NUL in a header name": framed(b"X-\x00A: 1", LENGTH),
            "a header line folded with a space": framed(b"X-A: 1\r\n two", LENGTH),
            "a header line folded with a tab": framed(b"X-A: 1\r\n\ttwo", LENGTH),
            "a folded `Transfer-Encoding`": framed(b"Transfer-Encoding:\r\n chunked", LENGTH),
            "whitespace before the first header": b"POST /v1/chat/completions HTTP/1.1\r\n X-A: 1\r\n"
            + framed(LENGTH).partition(b"\r\n")[2],
            "a space before the colon of a header": framed(b"X-A : 1", LENGTH),
            "a space before the colon of `Content-Length`": framed(b"Content-Length : %d" % len(QUESTION)),
            "a space before the colon of `Transfer-Encoding`": framed(b"Transfer-Encoding : chunked", LENGTH),
            "a header line without a colon": framed(b"X-A", LENGTH),
            "an empty header name": framed(b": 1", LENGTH),
            "a space in a header name": framed(b"X A: 1", LENGTH),
            "parentheses in a header name": framed(b"(X-A): 1", LENGTH),
            "a non-ASCII header name": framed("Größe: 1".encode(), LENGTH),
            "`Connection: authorization`": framed(b"Connection: close, Authorization", LENGTH),
            "`Connection: service-namespace`": framed(
                b"Connection: Service-Namespace", b"Service-Namespace: a", LENGTH
            ),
            "`Connection: content-length`": framed(b"Connection: Content-Length", LENGTH),
        },
    ),
    *cases(
        "Request line",
        400,
        "bad_request",
        "counted",
        {
            "arbitrary bytes": b"\x00\x01\x02\x03nonsense\r\n\r\n",
            "no HTTP version": from_line(b"POST /v1/chat/completions"),
            "two spaces before the target": from_line(b"POST  /v1/chat/completions HTTP/1.1"),
            "two spaces after the target": from_line(b"POST /v1/chat/completions  HTTP/1.1"),
            "a tab instead of a space": from_line(b"POST\t/v1/chat/completions HTTP/1.1"),
            "a space after the version": from_line(b"POST /v1/chat/completions HTTP/1.1 "),
            "a space in the target": from_line(b"POST /v1/chat completions HTTP/1.1"),
            "`http/1.1`": from_line(b"POST /v1/chat/completions http/1.1"),
            "`HTTP/1.1.1`": from_line(b"POST /v1/chat/completions HTTP/1.1.1"),
            "`HTTP/1`": from_line(b"POST /v1/chat/completions HTTP/1"),
            "NUL in the target": from_line(b"POST /v1/chat\x00/completions HTTP/1.1"),
            "a method with invalid characters": from_line(b"PO(ST /v1/chat/completions HTTP/1.1"),
            "a target that is not a path": from_line(b"POST v1/chat/completions HTTP/1.1"),
        },
    ),
    *cases(
        "Request line",
        505,
        "version_not_supported",
        "counted",
        {
            "`HTTP/2.0`": from_line(b"POST /v1/chat/completions HTTP/2.0"),
            "`HTTP/0.9`": from_line(b"POST /v1/chat/completions HTTP/0.9"),
            "the HTTP/2 connection preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        },
    ),
    *cases(
        "Host",
        400,
        "bad_request",
        "counted",
        {
            "no `Host`": with_host(),
            "an empty `Host`": with_host(b"Host:"),
            "two `Host` headers": with_host(b"Host: 127.0.0.1", b"Host: 127.0.0.1"),
            "a slash in `Host`": with_host(b"Host: 127.0.0.1/v1"),
            "a question mark in `Host`": with_host(b"Host: 127.0.0.1?a"),
            "a hash in `Host`": with_host(b"Host: 127.0.0.1#a"),
            "an at sign in `Host`": with_host(b"Host: user@127.0.0.1"),
            "a space in `Host`": with_host(b"Host: 127.0.0.1 evil.example"),
            "a port in `Host` that is not a number": with_host(b"Host: 127.0.0.1:http"),
            "a host name that is not loopback (the relay listens on loopback)": with_host(b"Host: evil.example"),
        },
    ),
    *cases(
        "Methods and targets",
        400,
        "bad_request",
        "counted",
        {
            "an absolute target with a host other than the relay's": at(b"http://evil.example/v1/models"),
            "an absolute target with the relay's host as user name": at(b"http://127.0.0.1@evil.example/v1/models"),
            "an absolute target with the scheme `ftp`": at(b"ftp://127.0.0.1/v1/models"),
            "a target starting with an at sign": at(b"@evil.example/v1/models"),
            "`/v1/../x`": at(b"/v1/../smuggled"),
            "`/v1/..`": at(b"/v1/.."),
            "`/v1/./models`": at(b"/v1/./models"),
            "`/v1/%2e%2e/x`": at(b"/v1/%2e%2e/smuggled"),
            "`/v1/%2E./x`": at(b"/v1/%2E./smuggled"),
            "`/v1/..%2fx`": at(b"/v1/..%2fsmuggled"),
            "`/v1/..%5cx`": at(b"/v1/..%5csmuggled"),
            "`/v1/a%2f..%2f..%2fx`": at(b"/v1/a%2f..%2f..%2fsmuggled"),
            "`/v1/..\\x`": at(b"/v1/..\\smuggled"),
            "`/v1/a\\b`": at(b"/v1/a\\smuggled"),
            "a backslash in the query": at(b"/v1/models?a=\\smuggled"),
            "a non-ASCII byte in the path": at("/v1/modèles".encode()),
            "a control character in the path": at(b"/v1/mod\x7fels"),
            "a fragment": at(b"/v1/models#smuggled"),
            "17 different keys in the query": at(b"/v1/models?" + b"&".join(b"key=secret-%02d" % n for n in range(17))),
        },
    ),
    *cases(
        "Methods and targets",
        404,
        "not_found",
        "counted",
        {
            "`POST /chat/completions` (the base URL lacks `/v1`)": at(b"/chat/completions", b"POST"),
            "`GET *`": at(b"*"),
            "`OPTIONS *`": at(b"*", b"OPTIONS"),
            "`POST /`": at(b"/", b"POST"),
            "`/favicon.ico`": at(b"/favicon.ico"),
            "`/v2/models`": at(b"/v2/models"),
            "`/v10/models`": at(b"/v10/models"),
            "`/V1/models`": at(b"/V1/models"),
            "`/%76%31/models`": at(b"/%76%31/models"),
            "`//v1/models`": at(b"//v1/models"),
            "`//evil.example/v1/models`": at(b"//evil.example/v1/models"),
            "`/x/../v1/models`": at(b"/x/../v1/models"),
            "`/api/requests` (the log is on the dashboard's port)": at(b"/api/requests"),
        },
    ),
    *cases(
        "Methods and targets",
        405,
        "method_not_allowed",
        "counted",
        {
            "`CONNECT evil.example:443`": at(b"evil.example:443", b"CONNECT"),
            "`CONNECT /v1/models`": at(b"/v1/models", b"CONNECT"),
            "`TRACE`": at(b"/v1/models", b"TRACE"),
        },
    ),
    *cases(
        "Methods and targets",
        426,
        "upgrade_required",
        "counted",
        {
            "a WebSocket upgrade": request(
                b"Connection: Upgrade",
                b"Upgrade: websocket",
                b"Sec-WebSocket-Version: 13",
                b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                first=b"GET /v1/realtime HTTP/1.1",
                body=HIDDEN,
            ),
        },
    ),
    *cases(
        "Methods and targets",
        417,
        "expectation_failed",
        "counted",
        {
            "`Expect: 200-maybe`": framed(b"Expect: 200-maybe", LENGTH),
            "`Expect: 100-continue, x`": framed(b"Expect: 100-continue, x", LENGTH),
        },
    ),
    *cases(
        "Size",
        414,
        "uri_too_long",
        "counted",
        {
            "a request line over 8 KiB": at(b"/v1/models?" + b"a" * 8192),
            "a request line of 1 MiB without a line end": b"GET /v1/models?" + b"a" * (1 << 20),
        },
    ),
    *cases(
        "Size",
        431,
        "headers_too_large",
        "counted",
        {
            "a header line over 32 KiB": framed(b"X-A: " + b"a" * 33_000, LENGTH),
            "headers over 64 KiB": framed(
                *[b"X-%d: " % n + b"a" * 1000 for n in range(80)], LENGTH, body=b"\n" + QUESTION
            ),
            "1 MiB of headers without an empty line": b"GET /v1/models HTTP/1.1\r\n" + b"X-A: a\r\n" * (1 << 17),
            "101 headers": request(*[b"X-%d: a" % n for n in range(99)]),
        },
    ),
    *cases(
        "Chunks",
        400,
        "bad_request",
        REFUSED,
        {
            "a chunk size that is not a number": chunks(FIRST + b"zz\r\n" + HIDDEN),
            "an empty chunk size": chunks(FIRST + b"\r\n" + HIDDEN),
            "the chunk size `+5`": chunks(FIRST + b"+5\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "the chunk size `-5`": chunks(FIRST + b"-5\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "the chunk size `0x5`": chunks(FIRST + b"0x5\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "the chunk size `5_0`": chunks(FIRST + b"5_0\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "a space before the chunk size": chunks(FIRST + b" 5\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "a chunk size of 17 digits": chunks(FIRST + b"10000000000000000\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "a chunk size ending in LF only": chunks(FIRST + b"5\nhello\r\n0\r\n\r\n" + HIDDEN),
            "a chunk size ending in CR only": chunks(FIRST + b"5\rhello\r\n0\r\n\r\n" + HIDDEN),
            "a chunk ending in LF only": chunks(FIRST + b"5\r\nhello\n0\r\n\r\n" + HIDDEN),
            "a chunk ending in `XX` instead of CR LF": chunks(FIRST + b"5\r\nhelloXX0\r\n\r\n" + HIDDEN),
            "a chunk longer than its declared size": chunks(FIRST + b"4\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "CR in a chunk extension": chunks(FIRST + b"5;a=\rb\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "LF in a chunk extension": chunks(FIRST + b"5;a=\nb\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "NUL in a chunk extension": chunks(FIRST + b"5;a=\x00\r\nhello\r\n0\r\n\r\n" + HIDDEN),
            "a chunk extension of 1 MiB": chunks(FIRST + b"5;a=" + b"a" * (1 << 20)),
            "many small chunks, each with a chunk extension of 2 KiB": chunks(
                FIRST + (b"1;a=" + b"a" * 2048 + b"\r\nx\r\n") * 64
            ),
            "trailers of 1 MiB": chunks(FIRST + b"0\r\n" + b"X-A: a\r\n" * (1 << 17)),
            "a trailer without a colon": chunks(FIRST + b"0\r\nX-A\r\n\r\n" + HIDDEN),
            "a trailer with a space before its colon": chunks(FIRST + b"0\r\nX-A : 1\r\n\r\n" + HIDDEN),
        },
    ),
]

#: Cases in which the client is too slow. The client sends these bytes and then nothing.
SLOW_CASES: Final = [
    Case("Timeouts", "half of the headers", framed(LENGTH)[:60], 408, "request_timeout"),
    Case("Timeouts", "half of the request line", b"POST /v1/ch", 408, "request_timeout"),
    Case("Timeouts", "half of the body", request(LENGTH, body=QUESTION[:20]), 408, "request_timeout", REFUSED),
    Case("Timeouts", "half of a chunk", chunks(b"40\r\n" + QUESTION[:20]), 408, "request_timeout", REFUSED),
    Case("Timeouts", "no body at all", request(LENGTH), 408, "request_timeout", REFUSED),
]
