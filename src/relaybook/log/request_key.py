"""Compare requests by hashes: which logged requests have the same body, and which are similar.

A body has up to two hashes. ``exact`` covers the bytes of the body without its content encoding. ``value`` covers what
the bytes mean: the JSON value, whatever the order of keys, the white space and the escapes, or the fields of a form,
whatever its boundary. A body that is neither JSON nor a form has no ``value``.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Final
from zlib import crc32

import msgspec
from msgspec import Meta

from relaybook.log.request_view import decode_body

#: Number of features in the sketch of a body.
SKETCH_SIZE: Final = 24
_DIGEST_CHARACTERS: Final = 32
#: The first line of a form. Clients choose a random boundary for each request.
_BOUNDARY: Final = re.compile(rb"--([^\r\n]{1,70})\r\n")
_FINGERPRINT: Final = re.compile(r"(?<==)key:[0-9a-f]{12}(?=&|$)")


class RequestKey(msgspec.Struct, frozen=True):
    """Hashes of a request body. Bodies with equal hashes are equal."""

    exact: Annotated[str, Meta(description="Hash of the bytes without content encoding.")]
    value: Annotated[
        str | None, Meta(description="Hash of the JSON value or of the form. `null` if the body is neither of them.")
    ]
    sketch: Annotated[
        list[int], Meta(description="Hashes of some parts of the body. Similar bodies have many of them in common.")
    ]


def _number(text: str) -> float | int:
    """Return a number of JSON. 1 and 1.0 are equal."""
    number = float(text)
    return int(number) if number.is_integer() else number


_decode: Final = msgspec.json.Decoder(float_hook=_number).decode
_encode: Final = msgspec.json.Encoder(order="sorted").encode


def json_value(body: bytes, ignored: Sequence[Sequence[str]] = ()) -> Any:
    """Return the JSON value of a body without the ignored fields. Raises ValueError if the body is not JSON."""
    try:
        value = _decode(body)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from None
    for path in ignored:
        _remove(value, path)
    return value


def _remove(value: Any, path: Sequence[str]) -> None:
    """Remove a field. A list stands for each of its items."""
    if isinstance(value, list):
        for item in value:
            _remove(item, path)
    elif isinstance(value, dict) and path[0] in value:
        if len(path) == 1:
            del value[path[0]]
        else:
            _remove(value[path[0]], path[1:])


def key_of(body: bytes, ignored: Sequence[Sequence[str]] = ()) -> RequestKey:
    """Return the key of a body without content encoding. ``value`` does not cover the JSON fields in ``ignored``."""
    exact = digest(body)
    if found := _BOUNDARY.match(body):
        return RequestKey(exact, digest(body.replace(found[1], b"boundary")), [])
    try:
        value = json_value(body, ignored)
    except ValueError:
        return RequestKey(exact, None, [])
    hashes = {crc32(feature) for feature in _features(value)}
    return RequestKey(exact, digest(_encode(value)), sorted(hashes)[:SKETCH_SIZE])


def decoded(body: bytes, content_encoding: str | None) -> bytes:
    """Return a body without its content encoding; unchanged if it cannot be decoded."""
    found = decode_body(body, content_encoding)
    return found.data if found.is_readable else body


def digest(data: bytes) -> str:
    """Return the hash of some bytes, in hex."""
    return shortened_digest(hashlib.sha256(data).hexdigest())


def shortened_digest(sha256: str) -> str:
    """Return the hash of bytes whose SHA-256 is known."""
    return sha256[:_DIGEST_CHARACTERS]


def target_key(path: str, query: str) -> str:
    """Return the path and query of a logged request for comparing. All secret query parameters are equal."""
    return f"{path}?{_FINGERPRINT.sub('key', query)}" if query else path


def _features(value: Any) -> Iterator[bytes]:
    """Yield the parts of a body: its fields, the items of its lists, and the words of the last item of each list."""
    if not isinstance(value, dict):
        yield _encode(value)
        return
    for name, field in value.items():
        if not isinstance(field, list):
            yield _encode([name, field])
            continue
        for item in field:
            yield _encode([name, item])
        if field:
            yield from (f"{name} {word}".encode("utf-8", "replace") for word in _words(field[-1]))


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from value[-2000:].split()
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _words(item)
