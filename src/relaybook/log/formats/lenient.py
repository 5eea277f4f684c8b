"""Parse JSON, also JSON that a strict decoder rejects.

Bodies are logged even if they are invalid. If a body has a lone surrogate, a byte order mark, NaN or a 5,000-digit
integer, everything else in it must still be found. The strict decoder is tried first, because it is several times
faster. The functions never raise.
"""

import json
import math
import re
from typing import Any, Final, TypeGuard

import msgspec

_LONE_SURROGATE: Final = re.compile(
    r"\\(?:[^u]|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2}))"
)
_SURROGATES: Final = re.compile(r"[\ud800-\udfff]")
#: Integers with at least this many digits are returned as text. Stores have 64-bit integers, and int() rejects more
#: than 4,300 digits.
_LONG_INTEGER: Final = 19
_MAX_INTEGER: Final = 10 ** (_LONG_INTEGER - 1)
_MAX_DEPTH: Final = 100
#: Maximum number of objects and lists in one document. A document of 64 MiB can hold 30 million of them, which would
#: take a minute and gigabytes of memory to parse.
_MAX_VALUES: Final = 1_000_000
#: Objects and lists are counted only in longer data. An object or list takes at least two bytes, so shorter data cannot
#: have more than ``_MAX_VALUES``.
_UNCHECKED_BYTES: Final = 2 * _MAX_VALUES
#: Maximum number of events of one stream that only the lenient parser can read.
MAX_ODD_EVENTS: Final = 20_000
_strict: Final = msgspec.json.Decoder().decode
_encode: Final = msgspec.json.Encoder().encode
_encode_sorted: Final = msgspec.json.Encoder(order="sorted").encode


def load(data: bytes) -> Any:
    """Return the JSON value. `None` if the data cannot be parsed as JSON, even leniently. Texts are clean."""
    if is_too_much(data):
        return None
    try:
        return _strict(data)
    except (ValueError, RecursionError):
        return _load_leniently(data, keep_halves=False)


class EventDecoder:
    """Decodes the JSON objects of one stream.

    An escaped character outside the basic plane may be split between two events. Its halves are kept as lone
    surrogates, so that ``join`` can put them together. After ``MAX_ODD_EVENTS`` events that are not strict JSON, such
    events are skipped and ``gave_up`` is set, because each takes several microseconds.
    """

    __slots__ = ("_odd_left", "gave_up")

    def __init__(self) -> None:
        self._odd_left = MAX_ODD_EVENTS
        self.gave_up = False

    def load(self, data: bytes) -> Any:
        """Return the value of one event, or `None` if it cannot be parsed."""
        try:
            return None if is_too_much(data) else _strict(data)
        except (ValueError, RecursionError):
            if not self._odd_left:
                self.gave_up = True
                return None
            # a long event that cannot be parsed takes as long as many short ones
            self._odd_left = max(0, self._odd_left - 1 - len(data) // 1000)
            return _load_leniently(data, keep_halves=True)


def is_too_much(data: bytes) -> bool:
    """Return whether there are too many objects and lists to parse. Brackets in strings are counted, too."""
    return len(data) > _UNCHECKED_BYTES and data.count(b"{") + data.count(b"[") > _MAX_VALUES


def _load_leniently(data: bytes, *, keep_halves: bool) -> Any:
    """Parse UTF-8, UTF-16 or UTF-32, with or without a byte order mark."""
    try:
        text = data.decode(json.detect_encoding(data), "replace")
        if not keep_halves:
            text = _LONE_SURROGATE.sub(lambda match: "\\ufffd" if match[1] else match[0], text)
        return _decoder.decode(text)
    except (ValueError, RecursionError, LookupError):
        return None


def _none(_: str) -> None:
    return None


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits.lstrip("-")) < _LONG_INTEGER else digits


def _finite_or_none(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


_decoder: Final = json.JSONDecoder(strict=False, parse_constant=_none, parse_int=_integer, parse_float=_finite_or_none)


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Return whether a JSON value is an object."""
    return isinstance(value, dict)


def text_or_none(value: object) -> str | None:
    """Return a JSON value if it is a text that is not empty."""
    return value if isinstance(value, str) and value else None


def join(fragments: list[str]) -> str:
    """Join the fragments of a text. Halves of a character are put together; lone halves become U+FFFD."""
    text = "".join(fragments)
    if text.isascii() or _SURROGATES.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def sanitize(value: object, depth: int = _MAX_DEPTH) -> Any:
    """Make a JSON value acceptable to any JSON encoder and browser.

    Long integers become text, lone surrogates become U+FFFD, and objects and lists below level 100 are replaced by a
    text that says so.
    """
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATES.sub("\ufffd", value)
    if isinstance(value, dict | list):
        if not depth:
            return "[nested deeper than 100 levels]"
        if isinstance(value, list):
            return [sanitize(item, depth - 1) for item in value]
        return {sanitize(str(key)): sanitize(item, depth - 1) for key, item in value.items()}
    if isinstance(value, int) and abs(value) >= _MAX_INTEGER:
        return str(value)
    return value


def as_json(value: object) -> str:
    """Return any JSON value as JSON text without white space."""
    return _encode(sanitize(value)).decode()


def canonical_json(value: object) -> bytes:
    """Return JSON that is equal for equal values: with sorted keys, and 1 instead of 1.0, as JavaScript writes it."""
    return _encode_sorted(_with_integers(sanitize(value)))


def _with_integers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, list):
        return [_with_integers(item) for item in value]
    if isinstance(value, dict):
        return {name: _with_integers(item) for name, item in value.items()}
    return value
