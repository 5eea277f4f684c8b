"""Hypothesis strategies for exchanges that are legal HTTP/1.1 on both sides and that the relay does not reject.

The strategies omit some cases, because the relay rejects these cases or other tests cover them: a Connection header
that names an end-to-end header, two lengths, Expect, websockets, framing headers in trailers, and secret query
parameters.
"""

import re
from dataclasses import replace

from hypothesis import strategies as st
from tests.conformance.relay import guarantees
from tests.conformance.relay.exchanges import LARGE, Content, Exchange, Kind, Message, Style
from tests.conformance.relay.wire import Framing, Pair

_TOKEN = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_VALUE = "\t" + "".join(map(chr, [*range(0x20, 0x7F), *range(0x80, 0x100)]))
#: Names that have a meaning for the relay. The code below uses these names on purpose. Random names never match them.
_MEANT = {
    *(b"authorization", b"api-key", b"x-api-key", b"host", b"content-length", b"transfer-encoding", b"expect"),
    *(b"cookie", b"forwarded", b"x-exchange", b"content-encoding"),
    *guarantees.HOP_BY_HOP,
}
_NAMES = (
    *(b"Accept", b"User-Agent", b"OpenAI-Organization", b"x-request-id", b"X-Stainless-Retry-Count", b"Set-Cookie"),
    *(b"x-ratelimit-remaining-tokens", b"Service-Worker", b"Relaybook-Worker-Allowed", b"Service", b"Via", b"Date"),
    *(b"Service_Namespace", b"X-Service-Namespace", b"X-Cookie", b"Idempotency-Key", b"Location", b"Age"),
)
_TYPES = (b"application/json", b"text/plain; charset=utf-8", b"text/event-stream", b"application/octet-stream", b"")


def _is_free(name: bytes) -> bool:
    lower = name.lower()
    return lower not in _MEANT and not lower.startswith((*guarantees.PREFIXES, b"proxy-", b"x-forwarded-"))


_names = st.sampled_from(_NAMES) | st.text(_TOKEN, min_size=1, max_size=9).map(str.encode).filter(_is_free)
_values = (
    st.text(_VALUE, max_size=12).map(lambda text: text.encode("latin-1").strip(b" \t"))
    | st.sampled_from((b"", b"gzip, br", b"1", b"v" * 1200))
    | st.sampled_from((b"text/html", b"a,b"))
)
_pairs = st.lists(st.tuples(_names, _values), max_size=3).map(tuple)
#: Hop-by-hop headers that are allowed in requests and in responses.
_HOPS: tuple[tuple[Pair, ...], ...] = (
    ((b"Connection", b"keep-alive"),),
    ((b"Connection", b"Keep-Alive"), (b"Keep-Alive", b"timeout=5, max=100")),
    ((b"Trailer", b"X-Sum"),),
    ((b"Proxy-Connection", b"keep-alive"),),
    ((b"Upgrade", b"h2c"), (b"Connection", b"Upgrade")),
)
_REQUEST_ONLY: tuple[tuple[Pair, ...], ...] = (
    ((b"TE", b"trailers"), (b"Connection", b"TE")),
    ((b"Connection", b"Upgrade, HTTP2-Settings"), (b"Upgrade", b"h2c"), (b"HTTP2-Settings", b"AAMAAABkAAQAAP__")),
    ((b"Cookie", b"a=b; c=d"), (b"Cookie", b"e=f")),
    ((b"Forwarded", b"for=192.0.2.60;proto=http"),),
    ((b"X-Forwarded-For", b"192.0.2.1"), (b"X-Forwarded-Proto", b"https"), (b"X-Forwarded-Any", b"1")),
    ((b"Proxy-Authorization", b"Basic YTpi"), (b"Proxy-Any", b"1")),
)
_ANSWER_ONLY: tuple[tuple[Pair, ...], ...] = (
    ((b"Service-Request-Id", b"forged"), (b"Service-Namespace", b"forged")),
    ((b"Relaybook-Error", b"forged"), (b"Relaybook-Warning", b"forged"), (b"Service-Error", b"forged")),
    ((b"Connection", b"close"),),
    ((b"Set-Cookie", b"a=b"), (b"Set-Cookie", b"c=d")),
)


# -- strategies ------------------------------------------------------------------------------------------------------

_seeds = st.integers(0, 0xFFFF)
#: These weights exceed the required shares (one fifth large, one fifth in tiny chunks, one third compressed), because
#: some bodies are empty.
_sizes = st.sampled_from(("plain",) * 4 + ("tiny",) * 3 + ("large",) * 3)
_codings = st.sampled_from(("",) * 5 + ("gzip", "deflate", "br", "zstd"))


@st.composite
def _messages(
    draw: st.DrawFn, framings: tuple[Framing, ...], groups: tuple[tuple[Pair, ...], ...], response: bool
) -> Message:
    how = draw(_sizes)
    kind: Kind = "noise"
    drawn, size = b"", 0
    if how == "large":
        size = LARGE + 1 + draw(_seeds) // 2
    else:
        kind = draw(st.sampled_from(("drawn", "noise", "json", "events" if response else "json")))
        if kind == "drawn":
            drawn = draw(st.binary(min_size=1 if how == "tiny" else 0, max_size=24))
        else:
            size = draw(st.integers(1, 150 if how == "tiny" else 3000))
    content = Content(kind, drawn, size, draw(_seeds), draw(_codings), draw(st.booleans()))
    pairs = [*draw(_pairs)]
    if content.coding:
        pairs.append((b"Content-Encoding", content.coding.encode()))
    if content.kind == "events":
        pairs.append((b"Content-Type", b"text/event-stream; charset=utf-8"))
    elif kind_of_type := draw(st.sampled_from(_TYPES)):
        pairs.append((b"Content-Type", kind_of_type))
    chosen = draw(st.lists(st.sampled_from(groups), max_size=2, unique=True))
    style: Style = "tiny" if how == "tiny" else draw(st.sampled_from(("whole", "some")))
    return Message(tuple(pairs), tuple(chosen), draw(st.sampled_from(framings)), content, style, draw(_seeds))


_PATHS = (
    *("/v1/chat/completions", "/v1/chat/completions", "/v1/responses", "/v1/embeddings", "/v1/models"),
    *("/v1/models/org%2Fmodel", "/v1/models/a%2fb%2F", "/v1/", "/v1", "/v1//x//", "/v1/files/f-1/content"),
    *("/v1/a%20b;c=d:@!$&'()*+,=~", "/v1/%zz%", "/v1/...", "/v1/.a/b..", "/v1/%C3%A9", '/v1/"<>^`{|}', "/v1/v1/x"),
)
_IN_PATH = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in "\\#?")
#: The log masks the values of these parameters. test_requests.py tests the masking.
_SECRET_PARAMETER = re.compile(r"(?i)[?&](key|api_key|api-key|token|access_token|sig)=")
_DOTS = re.compile(r"(?i)(?:^|[/\\])(?:\.|%2e){1,2}(?:$|[/\\])")


def _is_legal(path: str) -> bool:
    decoded = re.sub("(?i)%2f", "/", re.sub("(?i)%5c", r"\\", path))
    return not _DOTS.search(decoded)


_paths = st.sampled_from(_PATHS) | st.text(_IN_PATH, max_size=12).map("/v1/".__add__).filter(_is_legal)
_queries = st.sampled_from(("", "", "?", "?a=1&b=%2F..%2F&c", "?limit=20&after=x+y")) | st.text(
    _IN_PATH + "?", max_size=10
).map("?".__add__).filter(lambda query: not _SECRET_PARAMETER.search(query))
_targets = st.tuples(_paths, _queries).map("".join).map(str.encode)

_KEYS: tuple[Pair | None, ...] = (
    None,
    (b"Authorization", b"Bearer sk-proj-0f1e2d3c4b5a69788796a5b4c3d2e1f0"),
    (b"Authorization", b"Bearer ollama"),
    (b"x-api-key", b"sk-no-key-required"),
    (b"api-key", b"0f1e2d3c4b5a6978"),
    (b"X-Api-Key", b"12345678"),
)
_namespaces = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=10)
_informational = st.just(()) | st.lists(st.sampled_from((100, 102, 103, 199)), max_size=3).map(tuple)
_reasons = st.sampled_from((b"OK", b"", b"Not Found", b"I'm a teapot", b"d\xe9j\xe0 \t vu", b" odd ")) | st.text(
    _VALUE, max_size=8
).map(lambda text: text.encode("latin-1"))


@st.composite
def exchanges(draw: st.DrawFn) -> Exchange:
    """Draw any exchange that is legal HTTP/1.1 on both sides."""
    status = draw(st.sampled_from((200, 200, 200, 204, 304, 400, 429, 500)) | st.integers(200, 599))
    method = draw(st.sampled_from((b"POST",) * 4 + (b"GET", b"PUT", b"PATCH", b"DELETE", b"OPTIONS", b"HEAD")))
    prefix = draw(st.sampled_from((b"Service", b"Service", b"Relaybook")))
    properties = ((prefix + b"-Property-User_Id", b"42"), (prefix + b"-Property-Plan", b"%e2%82%ac%205"))
    request = draw(_messages(("length", "length", "chunked", "chunked", "none"), (*_HOPS, *_REQUEST_ONLY), False))
    tagged = draw(st.booleans())
    if tagged:
        request = replace(request, groups=(*request.groups, properties))
    version = draw(st.sampled_from((b"1.1",) * 9 + (b"1.0",)))
    framings: tuple[Framing, ...] = ("length", "length", "chunked", "chunked", "close")
    if status == 204:
        framings = ("close",)  # a 204 response has no body and no framing header
    elif version == b"1.0":
        framings = ("length", "close")
    namespace = draw(st.none() | _namespaces)
    return Exchange(
        method=method,
        target=draw(_targets),
        request=request,
        key=draw(st.sampled_from(_KEYS)),
        prefix=prefix,
        tagged=tagged,
        namespace=namespace,
        raw_namespace="%" not in (namespace or "") and draw(st.booleans()),
        closes=draw(st.sampled_from((False,) * 9 + (True,))),
        status=status,
        reason=draw(_reasons),
        version=version,
        informational=draw(_informational) if version == b"1.1" else (),
        response=draw(_messages(framings, (*_HOPS, *_ANSWER_ONLY), True)),
    )
