"""More requests that the relay rejects: rarer forms of the same attacks, and requests found by fuzzing.

This module is separate from ``cases`` only because of its length.
"""

from typing import Final

from tests.support.hostile.cases import REFUSED, Case, cases
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

_LAST: Final = b"0\r\n\r\n"
_MORE: Final = b"5\r\nhello\r\n" + _LAST + HIDDEN

MORE_CASES: Final[list[Case]] = [
    *cases(
        "Body length",
        400,
        "bad_request",
        "counted",
        {
            "`Transfer-Encoding: chunked` and `Content-Length: 0`": framed(
                CHUNKED, b"Content-Length: 0", body=FIRST + _LAST
            ),
            "`Transfer-Encoding: chunked`, then `identity`": framed(
                CHUNKED, b"Transfer-Encoding: identity", body=FIRST + _LAST
            ),
            "`Transfer-Encoding: identity`, then `chunked`": framed(
                b"Transfer-Encoding: identity", CHUNKED, body=FIRST + _LAST
            ),
            "`Transfer-Encoding: chunked,`": framed(CHUNKED + b",", body=FIRST + _LAST),
            "`Transfer-Encoding: chu nked`": framed(b"Transfer-Encoding: chu nked", body=FIRST + _LAST),
            "a NUL after `chunked`": framed(CHUNKED + b"\0", body=FIRST + _LAST),
            "a folded line after `chunked`": framed(CHUNKED + b"\r\n , identity", body=FIRST + _LAST),
            "a folded `Content-Length`": framed(b"Content-Length: 5\r\n 0"),
            "a `Content-Length` of 5,000 zeros": framed(b"Content-Length: " + b"0" * 5000),
            "`Content-Length: 0, 5`": framed(b"Content-Length: 0, 5"),
            '`Content-Length: "5"`': framed(b'Content-Length: "5"'),
            "`Content-Length: 5;`": framed(b"Content-Length: 5;"),
            "`Content-Length: 5.0`": framed(b"Content-Length: 5.0"),
            "a NUL after `Content-Length`": framed(LENGTH + b"\0"),
            "a tab before the colon of `Transfer-Encoding`": framed(b"Transfer-Encoding\t: chunked", LENGTH),
            "a vertical tab before the colon of `Transfer-Encoding`": framed(b"Transfer-Encoding\x0b: chunked", LENGTH),
        },
    ),
    *cases(
        "Request line",
        400,
        "bad_request",
        "counted",
        {
            "LF before the method": b"\n" + at(b"/v1/models"),
            "CR before the method": b"\r" + at(b"/v1/models"),
            "LF before `TRACE`": b"\n" + at(b"/v1/models", b"TRACE"),
            "LF before `HEAD`": b"\n" + at(b"/v1/models", b"HEAD"),
            "a request line ending in CR CR LF": at(b"/v1/models").replace(b"HTTP/1.1\r\n", b"HTTP/1.1\r\r\n"),
            "`post`": from_line(b"post /v1/chat/completions HTTP/1.1"),
            "an unknown method": from_line(b"BREW /v1/chat/completions HTTP/1.1"),
            "`RTSP/1.0`": from_line(b"POST /v1/chat/completions RTSP/1.0"),
            "`ICE/1.0`": from_line(b"SOURCE /v1/chat/completions ICE/1.0"),
            "`HTTP/1.10`": from_line(b"POST /v1/chat/completions HTTP/1.10"),
            "a tab in the target": from_line(b"POST /v1/chat\t/completions HTTP/1.1"),
            "CR in the target": from_line(b"POST /v1/chat\r/completions HTTP/1.1"),
        },
    ),
    *cases(
        "Request line",
        505,
        "version_not_supported",
        "counted",
        {
            "`HTTP/1.2`": from_line(b"POST /v1/chat/completions HTTP/1.2"),
            "`HTTP/3.0`": from_line(b"POST /v1/chat/completions HTTP/3.0"),
        },
    ),
    *cases(
        "Host",
        400,
        "bad_request",
        "counted",
        {
            "`127.evil.example`": with_host(b"Host: 127.evil.example"),
            "`127.0.0.1.evil.example`": with_host(b"Host: 127.0.0.1.evil.example:4100"),
            "two names in one `Host`": with_host(b"Host: 127.0.0.1, evil.example"),
            "an empty port in `Host`": with_host(b"Host: 127.0.0.1:"),
            "a backslash in `Host`": with_host(b"Host: 127.0.0.1\\evil.example"),
            "NUL in `Host`": with_host(b"Host: 127.0.0.1\0"),
            "a folded `Host`": with_host(b"Host: 127.0.0.1\r\n evil.example"),
        },
    ),
    *cases(
        "Headers",
        400,
        "bad_request",
        "counted",
        {
            "`Connection: sErViCe-NaMeSpAcE`": framed(
                b"Connection: sErViCe-NaMeSpAcE", b"service-namespace: a", LENGTH
            ),
            "`Connection: content-type`": framed(b"Connection: close, content-type", LENGTH),
            "`Connection: host`": framed(b"Connection: Host", LENGTH),
            "a second `Connection` header with `authorization`": framed(
                b"Connection: close", b"Connection: authorization", LENGTH
            ),
        },
    ),
    *cases(
        "Methods and targets",
        400,
        "bad_request",
        "counted",
        {
            "an absolute target without a host": at(b"http:///v1/models"),
            "an absolute target with a port other than the relay's": at(b"http://127.0.0.1:81/v1/models"),
            "an absolute target with a user name": at(b"http://user@127.0.0.1/v1/models"),
            "an absolute target with `..`": at(b"http://127.0.0.1/v1/../smuggled"),
            "`/v1/%2e/x`": at(b"/v1/%2e/smuggled"),
            "`/v1/x%2F%2E%2E`": at(b"/v1/smuggled%2F%2E%2E"),
            "`/v1/..?x`": at(b"/v1/..?smuggled"),
        },
    ),
    *cases(
        "Methods and targets",
        405,
        "method_not_allowed",
        "counted",
        {
            "`CONNECT` with a body": request(
                LENGTH, first=b"CONNECT evil.example:443 HTTP/1.1", body=QUESTION + HIDDEN
            ),
            "`TRACE` with a body": request(LENGTH, first=b"TRACE /v1/models HTTP/1.1", body=QUESTION + HIDDEN),
        },
    ),
    *cases(
        "Methods and targets",
        426,
        "upgrade_required",
        "counted",
        {
            "`Upgrade: WebSocket`, followed by frames": request(
                b"Connection: upgrade", b"Upgrade: WebSocket", first=b"GET /v1/realtime HTTP/1.1", body=HIDDEN
            ),
            "`Upgrade: h2c, websocket`": request(
                b"Connection: upgrade", b"Upgrade: h2c, websocket", first=b"GET /v1/responses HTTP/1.1", body=HIDDEN
            ),
        },
    ),
    *cases(
        "Methods and targets",
        417,
        "expectation_failed",
        "counted",
        {"a second `Expect` with the value `x`": request(b"Expect: 100-continue", b"Expect: x", LENGTH, body=QUESTION)},
    ),
    *cases(
        "Chunks",
        400,
        "bad_request",
        REFUSED,
        {
            "a chunk ending in CR only": chunks(FIRST + b"5\r\nhello\r0\r\n\r\n" + HIDDEN),
            "a chunk ending in LF CR": chunks(FIRST + b"5\r\nhello\n\r0\r\n\r\n" + HIDDEN),
            "a last chunk ending in LF only": chunks(FIRST + b"0\n\r\n" + HIDDEN),
            "an empty line of LF only": chunks(FIRST + b"0\r\n\n" + HIDDEN),
            "a last chunk ending in CR CR LF": chunks(FIRST + b"0\r\r\n\r\n" + HIDDEN),
            "a space after the chunk size": chunks(FIRST + b"5 \r\nhello\r\n" + _LAST + HIDDEN),
            "a tab after the chunk size": chunks(FIRST + b"5\t\r\nhello\r\n" + _LAST + HIDDEN),
            "a chunk extension without a name": chunks(FIRST + b"5;\r\nhello\r\n" + _LAST + HIDDEN),
            "a line end in a quoted chunk extension": chunks(FIRST + b'5;a="\r\nhello\r\n' + _LAST + b'"\r\n' + _MORE),
            "a vertical tab in a chunk extension": chunks(FIRST + b"5;a=\x0b\r\nhello\r\n" + _LAST + HIDDEN),
            "a trailer ending in LF only": chunks(FIRST + b"0\r\nX-A: 1\n\r\n" + HIDDEN),
            "a folded trailer": chunks(FIRST + b"0\r\nX-A: 1\r\n 2\r\n\r\n" + HIDDEN),
            "NUL in a trailer": chunks(FIRST + b"0\r\nX-A: \x00\r\n\r\n" + HIDDEN),
            "CR in a trailer": chunks(FIRST + b"0\r\nX-A: 1\r2\r\n\r\n" + HIDDEN),
            "`Content-Length` as a trailer": chunks(FIRST + b"0\r\nContent-Length: 5\r\n\r\n" + HIDDEN),
            "chunks of a single byte, each with an extension": chunks(b"1;a=bcdefghi\r\nx\r\n" * 8192),
        },
    ),
]
