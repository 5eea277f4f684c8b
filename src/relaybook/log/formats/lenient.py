"""Reads JSON that a strict decoder refuses, and fits it to a struct field by field.

Bodies are logged whatever they hold, so their facts must survive a lone surrogate, a byte order mark, NaN, a
5,000-digit integer or one field of the wrong type. The strict typed decoder comes first (it is ten times faster);
this is what happens when it refuses. Nothing here raises on any input, and no text it gives holds a lone surrogate.
"""

import json
import math
import re
from functools import cache
from itertools import islice
from typing import Any, Final, Generic, TypeVar

import msgspec
from msgspec import inspect

_T = TypeVar("_T")
_ESCAPE: Final = re.compile(
    r"\\(?:[^u]|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2}))"
)
#: Integers of this many digits or more are kept as text: stores hold 64 bits, and int() refuses 4,300 digits.
_LONG_INTEGER: Final = 19
_MAX_DEPTH: Final = 100
#: What is looked at of one list or object, so that no body takes more than a moment.
_MOST_ITEMS: Final = 10_000
#: Objects and lists of one document; 16 MiB hold five million, which take ten seconds and three gigabytes.
_MOST_VALUES: Final = 1_000_000
_PATIENCE: Final = 100
_MISSING: Final = object()
ANY: Final["msgspec.json.Decoder[Any]"] = msgspec.json.Decoder()
_SIMPLE: Final[dict[type, type]] = {
    inspect.StrType: str,
    inspect.BoolType: bool,
    inspect.NoneType: type(None),
}


def read(decoder: "msgspec.json.Decoder[_T]", data: bytes) -> _T | None:
    """What the typed decoder makes of the JSON; where it refuses, a struct of the fields that fit; else None."""
    try:
        return None if _is_too_much(data) else decoder.decode(data)
    except (ValueError, RecursionError):
        found = fit(load(data), decoder.type)
        return None if found is _MISSING else found  # type: ignore[return-value]  # fit() made it of that type


class LenientDecoder(Generic[_T]):
    """Reads many pieces; after 100 that could not be read at all, only the strict decoder is asked.

    Sixteen mebibytes hold two million events of nonsense, at 20 µs each.
    """

    def __init__(self, decoder: "msgspec.json.Decoder[_T]") -> None:
        self._decoder = decoder
        self._left = _PATIENCE

    def read(self, data: bytes) -> _T | None:
        """Like ``read``."""
        try:
            return None if _is_too_much(data) else self._decoder.decode(data)
        except (ValueError, RecursionError):
            if not self._left:
                return None
            found = read(self._decoder, data)
            if found is None:
                self._left -= 1
            return found


def load(data: bytes) -> object:
    """The JSON value, or None for what cannot be read as JSON at all."""
    if _is_too_much(data):
        return None
    try:
        return ANY.decode(data)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(
            _mend(data), strict=False, parse_constant=_nothing, parse_int=_integer, parse_float=_finite_or_none
        )
    except (ValueError, RecursionError, LookupError):
        return None


def _is_too_much(data: bytes) -> bool:
    """More objects and lists than are read, of two bytes at least; brackets in texts count, too."""
    return len(data) > 2 * _MOST_VALUES and data.count(b"{") + data.count(b"[") > _MOST_VALUES


def _mend(data: bytes) -> str:
    """UTF-8, UTF-16 or UTF-32 with or without a mark, as text in which every surrogate has its partner."""
    text = data.decode(json.detect_encoding(data), "replace")
    return _ESCAPE.sub(lambda match: "\\ufffd" if match[1] else match[0], text)


def _nothing(_: str) -> None:
    return None


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits.lstrip("-")) < _LONG_INTEGER else digits


def _finite_or_none(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def tidy(value: object, depth: int = _MAX_DEPTH) -> object:
    """The value in a form every JSON encoder and every browser takes: long integers as text, at most 100 levels."""
    if isinstance(value, dict | list):
        if not depth:
            return "[nested deeper than 100 levels]"
        if isinstance(value, list):
            return [tidy(item, depth - 1) for item in value]
        return {str(key): tidy(item, depth - 1) for key, item in value.items()}
    if isinstance(value, int) and abs(value) >= 10 ** (_LONG_INTEGER - 1):
        return str(value)
    return value


@cache
def _shape(struct: type) -> inspect.Type:
    return inspect.type_info(struct)


def fit(value: object, wanted: object) -> object:
    """The value as the wanted type (a struct or an inspected shape), leaving out parts that do not fit."""
    shape = wanted if isinstance(wanted, inspect.Type) else _shape(wanted)
    match shape:
        case inspect.UnionType():
            return _fit_union(value, shape)
        case inspect.StructType():
            return _fit_struct(value, shape) if isinstance(value, dict) else _MISSING
        case inspect.ListType():
            return _fit_items(value, shape.item_type) if isinstance(value, list) else _MISSING
        case inspect.DictType():
            return _fit_values(value, shape.value_type) if isinstance(value, dict) else _MISSING
        case inspect.IntType() | inspect.FloatType():
            return _fit_number(value, shape)
        case inspect.RawType():
            return msgspec.Raw(msgspec.json.encode(tidy(value)))
        case inspect.AnyType():
            return value
    return value if isinstance(value, _SIMPLE[type(shape)]) else _MISSING


def _fit_union(value: object, shape: inspect.UnionType) -> object:
    # A whole number is tried as an integer only, so that one out of range does not come back as a float.
    types = shape.types
    if type(value) is int and any(isinstance(one, inspect.IntType) for one in types):
        types = tuple(one for one in types if isinstance(one, inspect.IntType))
    elif type(value) is float and any(isinstance(one, inspect.FloatType) for one in types):
        types = tuple(one for one in types if isinstance(one, inspect.FloatType))
    for one in types:
        found = fit(value, one)
        if found is not _MISSING:
            return found
    return _MISSING


def _fit_struct(value: dict[object, object], shape: inspect.StructType) -> object:
    fields = {}
    for field in shape.fields:
        if field.encode_name in value:
            found = fit(value[field.encode_name], field.type)
            if found is not _MISSING:
                fields[field.name] = found
    return shape.cls(**fields)


def _fit_items(items: list[object], shape: inspect.Type) -> list[object]:
    if len(items) > _MOST_ITEMS:
        items = items[: _MOST_ITEMS // 2] + items[-_MOST_ITEMS // 2 :]
    return [found for item in items if (found := fit(item, shape)) is not _MISSING]


def _fit_values(values: dict[object, object], shape: inspect.Type) -> dict[object, object]:
    return {
        key: found for key, item in islice(values.items(), _MOST_ITEMS) if (found := fit(item, shape)) is not _MISSING
    }


def _fit_number(value: object, shape: inspect.IntType | inspect.FloatType) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _MISSING
    if isinstance(shape, inspect.FloatType):
        return float(value) if -1e300 < value < 1e300 else _MISSING
    if isinstance(value, float):
        if not value.is_integer():
            return _MISSING
        value = int(value)
    fits = (shape.ge is None or value >= shape.ge) and (shape.le is None or value <= shape.le)
    return value if fits else _MISSING
