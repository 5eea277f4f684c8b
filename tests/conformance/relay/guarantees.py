"""The relay's guarantees for request and response heads, written independently of the relay's code.

The guarantees define which headers are forwarded, how, and in which order.
"""

import re
from urllib.parse import unquote

from tests.conformance.relay.wire import Pair

_SECRET = rb"(?s)(?=.*[A-Za-z\x80-\xff])(?=.*[0-9]).{16,}"
PREFIXES = (b"service-", b"relaybook-")
HOP_BY_HOP = {
    *(b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"upgrade", b"http2-settings"),
}
RELAY_HEADERS = {prefix + name for prefix in PREFIXES for name in (b"request-id", b"namespace", b"warning", b"error")}


def is_tag(name: bytes) -> bool:
    """Return whether a header is meant for the relay and must not reach the upstream."""
    lower = name.lower()
    return lower.startswith(PREFIXES) and not lower.partition(b"-")[2].startswith(b"worker")


def is_forwarded_upstream(name: bytes) -> bool:
    """Return whether the relay forwards this header from the client to the upstream."""
    lower = name.lower()
    dropped = lower in HOP_BY_HOP or lower in (b"cookie", b"forwarded", b"expect")
    return not (dropped or lower.startswith((b"proxy-", b"x-forwarded-")) or is_tag(name))


def is_forwarded_to_client(name: bytes, named_by_connection: set[bytes]) -> bool:
    """Return whether the relay forwards this header from the upstream to the client."""
    lower = name.lower()
    return lower not in HOP_BY_HOP | RELAY_HEADERS | named_by_connection


def trimmed(pairs: list[Pair]) -> list[Pair]:
    """Return headers without the white space around their values. In HTTP, that white space is not part of a value."""
    return [(name, value.strip(b" \t")) for name, value in pairs]


def request_line(method: bytes, target: bytes, base_path: bytes) -> bytes:
    """Return the request line that the upstream receives.

    This is the client's request line with the upstream's base path in place of /v1.
    """
    return b"%b %b HTTP/1.1" % (method, base_path + target.removeprefix(b"/v1"))


def request_pairs(sent: list[Pair], authority: bytes) -> list[Pair]:
    """Return the headers that the upstream receives."""
    forwarded = [(name, value) for name, value in trimmed(sent) if is_forwarded_upstream(name)]
    return [(b"Host", authority) if name.lower() == b"host" else (name, value) for name, value in forwarded]


def response_pairs(sent: list[Pair], *, prefix: bytes, request_id: bytes, namespace: str, ends: bool) -> list[Pair]:
    """Return the headers that the client receives.

    The headers that the relay adds have the prefix of the request. Their values are decoded, as in ``readable``.
    """
    options = {option.strip() for name, value in sent if name.lower() == b"connection" for option in value.split(b",")}
    named = {option.lower() for option in options}
    forwarded = [(name, value) for name, value in trimmed(sent) if is_forwarded_to_client(name, named)]
    forwarded += [(prefix + b"-Request-Id", request_id), (prefix + b"-Namespace", namespace.encode())]
    forwarded.append((prefix + b"-Route", b"default"))
    return forwarded + ([(b"Connection", b"close")] if ends else [])


def readable(pairs: tuple[Pair, ...]) -> list[Pair]:
    """Return response headers. The headers that the relay adds must be ASCII, and are percent-decoded."""
    read = []
    for name, value in pairs:
        if name.lower() in RELAY_HEADERS:
            assert value.isascii(), f"{name!r} is not ASCII: {value!r}"
            value = unquote(value.decode()).encode()
        read.append((name, value))
    return read


def stored(transferred: bytes, key: bytes | None, kept: bytes, *, certain: bool) -> bool:
    """Return whether ``kept`` is the correct stored copy of a body: the body with the client's key masked.

    A secret has at least 16 characters, with letters and digits. A key that arrives in two reads is not masked.
    ``certain`` means that the whole body arrived in one read, so each occurrence must be masked. Otherwise, an
    occurrence may be masked or not.
    """
    if key is None or len(key) < 16 or not (re.search(rb"[A-Za-z]", key) and re.search(rb"\d", key)):
        return kept == transferred
    if key not in transferred:
        return kept == transferred
    stars = b"*" * len(key)
    if certain:
        return kept == transferred.replace(key, stars)
    parts = transferred.split(key)
    at = 0
    for index, part in enumerate(parts):
        if index and kept[at : at + len(key)] not in (key, stars):
            return False
        at += len(key) if index else 0
        if kept[at : at + len(part)] != part:
            return False
        at += len(part)
    return at == len(kept)
