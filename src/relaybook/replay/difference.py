"""Find where two request bodies differ, and show both values in a few words."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec

from relaybook.log.request_key import json_value

#: Differences beyond this number are not counted.
_MAX_COUNTED: Final = 50
_SHOWN_BEFORE: Final = 20
_SHOWN_AFTER: Final = 50
_MISSING: Final = object()
_NAME: Final = re.compile(r"[A-Za-z_]\w*")


class Difference(NamedTuple):
    """The first difference of two bodies, in the order of the first body.

    ``where`` is a JSON path such as ``messages[1].content``, or the offset in bodies that are not JSON. ``total`` is
    the number of differences, and ``same`` the number of equal characters at the beginning of both values.
    """

    where: str
    sent: str
    logged: str
    total: int
    same: int


def difference(sent: bytes, logged: bytes, ignored: Sequence[Sequence[str]] = ()) -> Difference | None:
    """Compare two bodies without content encoding. `None` if they are equal."""
    try:
        pairs = list(islice(_differences(json_value(sent, ignored), json_value(logged, ignored), ""), _MAX_COUNTED))
    except ValueError:
        return _byte_difference(sent, logged)
    if not pairs:
        return None
    where, first, second = pairs[0]
    return Difference(where or "the body", *_shown(first, second), len(pairs), _common(first, second))


def _differences(sent: Any, logged: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(sent, dict) and isinstance(logged, dict):
        for name in dict.fromkeys([*sent, *logged]):
            field = f".{name}" if _NAME.fullmatch(name) else f"[{_json(name)}]"
            place = path + (field if path else field.removeprefix("."))
            yield from _differences(sent.get(name, _MISSING), logged.get(name, _MISSING), place)
    elif isinstance(sent, list) and isinstance(logged, list):
        for at in range(max(len(sent), len(logged))):
            first, second = (value[at] if at < len(value) else _MISSING for value in (sent, logged))
            yield from _differences(first, second, f"{path}[{at}]")
    elif sent is _MISSING or logged is _MISSING or type(sent) is not type(logged) or sent != logged:
        yield path, sent, logged


def _shown(sent: Any, logged: Any) -> tuple[str, str]:
    """Return both values in short. Of long texts, the part around the first difference is shown."""
    start = _common(sent, logged)
    return _short(sent, start), _short(logged, start)


def _common(sent: Any, logged: Any) -> int:
    """Return the number of equal characters at the beginning of two texts, or 0 if one is not a text."""
    if not (isinstance(sent, str) and isinstance(logged, str)):
        return 0
    return next(
        (at for at, (a, b) in enumerate(zip(sent, logged, strict=False)) if a != b), min(len(sent), len(logged))
    )


def _short(value: Any, start: int) -> str:
    if value is _MISSING:
        return "nothing"
    if not isinstance(value, str):
        text = _json(value)
        return text if len(text) <= _SHOWN_AFTER else text[:_SHOWN_AFTER] + "…"
    if len(value) <= _SHOWN_BEFORE + _SHOWN_AFTER:
        return _json(value)
    begin = max(0, start - _SHOWN_BEFORE)
    end = start + _SHOWN_AFTER
    return f"{'…' if begin else ''}{_json(value[begin:end])}{'…' if end < len(value) else ''}"


def _byte_difference(sent: bytes, logged: bytes) -> Difference | None:
    if sent == logged:
        return None
    at = _first_difference(sent, logged)
    first, second = (data[at : at + _SHOWN_AFTER].decode("utf-8", "backslashreplace") for data in (sent, logged))
    return Difference(f"byte {at:,} of the body", _json(first), _json(second), _MAX_COUNTED, at)


def _first_difference(sent: Sequence[Any], logged: Sequence[Any]) -> int:
    pairs = enumerate(zip(sent, logged, strict=False))
    return next((at for at, (first, second) in pairs if first != second), min(len(sent), len(logged)))


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
