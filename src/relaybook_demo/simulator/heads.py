"""Write the status line and the header lines of a response."""

from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Final

from relaybook_demo.simulator.replies import Header, Stamp

_ORGANISATION: Final = b"org-simulated"


def status_line(status: int, http: str) -> bytes:
    """Return a status line such as ``HTTP/1.1 200 OK``. Unknown codes have an empty reason."""
    return b"HTTP/%b %d %b" % (http.encode(), status, _reason(status))


def write_head(line: bytes, headers: list[Header]) -> bytes:
    """Return the head with the empty line after it. Names and values are written unchanged."""
    return b"\r\n".join([line, *[b"%b: %b" % header for header in headers], b"", b""])


def interim_head(status: int) -> bytes:
    """Return the head of an interim response. With status 103, it has a ``link`` header."""
    headers = [(b"link", b"</style.css>; rel=preload")] if status == 103 else []
    return write_head(status_line(status, "1.1"), headers)


def few_headers(stamp: Stamp, processing_ms: int, content_type: bytes) -> list[Header]:
    """Return the fewest headers that an LLM API sends."""
    return [
        (b"date", http_date(stamp.created)),
        (b"server", b"simulated-upstream"),
        *([(b"content-type", content_type)] if content_type else []),
        (b"openai-processing-ms", b"%d" % processing_ms),
        (b"x-request-id", b"req_" + stamp.unique.encode()),
    ]


def openai_headers(stamp: Stamp, processing_ms: int, content_type: bytes) -> list[Header]:
    """Return the headers that OpenAI sends through its CDN, with the same case and order."""
    return [
        (b"Date", http_date(stamp.created)),
        *([(b"Content-Type", content_type)] if content_type else []),
        (b"access-control-expose-headers", b"X-Request-ID"),
        (b"openai-organization", _ORGANISATION),
        (b"openai-processing-ms", b"%d" % processing_ms),
        (b"openai-project", b"proj_simulated"),
        (b"openai-version", b"2020-10-01"),
        (b"x-envoy-upstream-service-time", b"%d" % (processing_ms + 2)),
        (b"x-ratelimit-limit-requests", b"10000"),
        (b"x-ratelimit-limit-tokens", b"30000000"),
        (b"x-ratelimit-remaining-requests", b"9999"),
        (b"x-ratelimit-remaining-tokens", b"29999972"),
        (b"x-ratelimit-reset-requests", b"6ms"),
        (b"x-ratelimit-reset-tokens", b"0s"),
        (b"x-request-id", b"req_" + stamp.unique.encode()),
        (b"x-openai-proxy-wasm", b"v0.1"),
        (b"cf-cache-status", b"DYNAMIC"),
        (b"set-cookie", b"__cf_bm=" + stamp.unique.encode() + b"; path=/; HttpOnly; Secure; SameSite=None"),
        (b"Strict-Transport-Security", b"max-age=31536000; includeSubDomains; preload"),
        (b"X-Content-Type-Options", b"nosniff"),
        (b"Server", b"cloudflare"),
        (b"CF-RAY", stamp.unique[-16:].encode() + b"-FRA"),
        (b"alt-svc", b'h3=":443"; ma=86400'),
    ]


@lru_cache(maxsize=8)
def http_date(second: int) -> bytes:
    """Return a Unix time in the date format of HTTP."""
    return formatdate(second, usegmt=True).encode()


@lru_cache(maxsize=64)
def _reason(status: int) -> bytes:
    try:
        return HTTPStatus(status).phrase.encode()
    except ValueError:
        return b""
