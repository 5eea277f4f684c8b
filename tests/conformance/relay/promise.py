"""What the relay promises of heads, written from the promise alone: which lines cross, in which order, and to what.

The promise: method, path, query, status, reason phrase, headers with their order, case and
repeats, the kind of framing and every body byte cross unchanged. Not across: what belongs to one connection (RFC 9110
§7.6.1); towards the provider also tags, cookies and what proxies say of a caller; towards the caller also headers of
our names. ``Host`` becomes the provider's. Answers get our two headers at their end.
"""

from urllib.parse import unquote

from tests.conformance.relay.wire import Pair

PREFIXES = (b"service-", b"relaybook-")
HOP_BY_HOP = {
    *(b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"upgrade", b"http2-settings"),
}
OURS_IN_ANSWERS = {prefix + name for prefix in PREFIXES for name in (b"request-id", b"namespace", b"warning", b"error")}


def is_tag(name: bytes) -> bool:
    """Whether a header is the relay's to read and not the provider's to see."""
    lower = name.lower()
    return lower.startswith(PREFIXES) and not lower.partition(b"-")[2].startswith(b"worker")


def reaches_provider(name: bytes) -> bool:
    """Whether a caller's header crosses."""
    lower = name.lower()
    dropped = lower in HOP_BY_HOP or lower in (b"cookie", b"forwarded", b"expect")
    return not (dropped or lower.startswith((b"proxy-", b"x-forwarded-")) or is_tag(name))


def reaches_caller(name: bytes, named_by_connection: set[bytes]) -> bool:
    """Whether a provider's header crosses."""
    lower = name.lower()
    return lower not in HOP_BY_HOP | OURS_IN_ANSWERS | named_by_connection


def trimmed(pairs: list[Pair]) -> list[Pair]:
    """Headers without the white space around their values, which is not part of them."""
    return [(name, value.strip(b" \t")) for name, value in pairs]


def request_line(method: bytes, target: bytes, base_path: bytes) -> bytes:
    """The provider's request line: its base path stands in for /v1, all else is the caller's."""
    return b"%b %b HTTP/1.1" % (method, base_path + target.removeprefix(b"/v1"))


def request_pairs(sent: list[Pair], authority: bytes) -> list[Pair]:
    """The headers the provider gets."""
    crossing = [(name, value) for name, value in trimmed(sent) if reaches_provider(name)]
    return [(b"Host", authority) if name.lower() == b"host" else (name, value) for name, value in crossing]


def answer_pairs(sent: list[Pair], *, prefix: bytes, request_id: bytes, namespace: str, ends: bool) -> list[Pair]:
    """The headers the caller gets; ours are spelled with the prefix the request used, and read by ``readable``."""
    options = {option.strip() for name, value in sent if name.lower() == b"connection" for option in value.split(b",")}
    named = {option.lower() for option in options}
    crossing = [(name, value) for name, value in trimmed(sent) if reaches_caller(name, named)]
    crossing += [(prefix + b"-Request-Id", request_id), (prefix + b"-Namespace", namespace.encode())]
    return crossing + ([(b"Connection", b"close")] if ends else [])


def readable(pairs: tuple[Pair, ...]) -> list[Pair]:
    """Headers of an answer with the percent-encoding of our own taken off; nothing of ours is more than ASCII."""
    read = []
    for name, value in pairs:
        if name.lower() in OURS_IN_ANSWERS:
            assert value.isascii(), f"{name!r} is not ASCII: {value!r}"
            value = unquote(value.decode()).encode()
        read.append((name, value))
    return read


def stored(crossed: bytes, key: bytes | None, kept: bytes, *, certain: bool) -> bool:
    """Whether ``kept`` is the stored copy of a body: itself, but for the caller's key, which is starred out.

    Keys under 8 characters are not secrets. A key that arrived in two parts stays, so unless all came at once
    (``certain``) each occurrence may be starred out or not.
    """
    if key is None or len(key) < 8 or key not in crossed:
        return kept == crossed
    stars = b"*" * len(key)
    if certain:
        return kept == crossed.replace(key, stars)
    parts = crossed.split(key)
    at = 0
    for index, part in enumerate(parts):
        if index and kept[at : at + len(key)] not in (key, stars):
            return False
        at += len(key) if index else 0
        if kept[at : at + len(part)] != part:
            return False
        at += len(part)
    return at == len(kept)
