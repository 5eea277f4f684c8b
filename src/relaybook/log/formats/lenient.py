"""Parse JSON that a strict decoder rejects, and convert the JSON value to a struct, one field at a time.

Bodies are logged even if they are invalid. If a body has a lone surrogate, a byte order mark, NaN, a 5,000-digit
integer or a field of the wrong type, all other facts must still be found. The strict typed decoder is tried first,
because it is ten times faster than lenient parsing. If the strict decoder fails, the body is parsed leniently. The
functions never raise, and returned texts never contain a lone surrogate.
"""

import json
import math
import re
import sys
from functools import cache
from itertools import islice
from typing import Any, Final, Generic, TypeVar

import msgspec
from msgspec import inspect

_T = TypeVar("_T")
_ESCAPE: Final = re.compile(
    r"\\(?:[^u]|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2}))"
)
#: Integers with at least this many digits are returned as text. Stores have 64-bit integers, and int() rejects more
#: than 4,300 digits.
_LONG_INTEGER: Final = 19
_MAX_DEPTH: Final = 100
#: Maximum number of elements of one list or object that ``fit`` converts, to bound the time per body.
_MAX_ITEMS: Final = 10_000
#: Maximum number of objects and lists in one document. A document of 16 MiB can hold five million of them, which would
#: take 10 s and 3 GB of memory to parse.
_MAX_VALUES: Final = 1_000_000
#: Objects and lists are counted only in longer data. An object or list takes at least two bytes, so shorter data cannot
#: have more than ``_MAX_VALUES``.
UNCHECKED_BYTES: Final = 2 * _MAX_VALUES
_MAX_FAILURES: Final = 100
#: Maximum number of documents per body that are parsed leniently.
_MAX_LENIENT: Final = 10_000
_MISSING: Final = object()
ANY: Final["msgspec.json.Decoder[Any]"] = msgspec.json.Decoder()
_SIMPLE: Final[dict[type, type]] = {
    inspect.StrType: str,
    inspect.BoolType: bool,
    inspect.NoneType: type(None),
}


def read(decoder: "msgspec.json.Decoder[_T]", data: bytes) -> _T | None:
    """Decode JSON into the decoder's type, without fields that do not fit the type.

    `None` if nothing can be decoded.
    """
    try:
        return None if _is_too_much(data) else decoder.decode(data)
    except (ValueError, RecursionError):
        result = fit(load(data), decoder.type)
        return None if result is _MISSING else result  # type: ignore[return-value]  # fit() returns that type


class LenientDecoder(Generic[_T]):
    """Decodes many JSON documents of one body: strictly first, and leniently if this fails.

    After lenient decoding failed for 100 documents or succeeded for 10,000 documents, only strict decoding is tried.
    Without these limits, a body could take too long: 16 MiB can hold two million malformed events, and each event takes
    20 µs.
    """

    def __init__(self, decoder: "msgspec.json.Decoder[_T]") -> None:
        self._decoder = decoder
        self._failures_left = _MAX_FAILURES
        self._lenient_left = _MAX_LENIENT

    def read(self, data: bytes) -> _T | None:
        """Decode one document like the function ``read``."""
        try:
            return None if _is_too_much(data) else self._decoder.decode(data)
        except (ValueError, RecursionError):
            if not self._failures_left or not self._lenient_left:
                return None
            result = read(self._decoder, data)
            if result is None:
                self._failures_left -= 1
            else:
                self._lenient_left -= 1
            return result


def load(data: bytes) -> object:
    """Return the JSON value. `None` if the data cannot be parsed as JSON, even leniently."""
    if _is_too_much(data):
        return None
    try:
        return ANY.decode(data)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(
            _repair(data), strict=False, parse_constant=_none, parse_int=_integer, parse_float=_finite_or_none
        )
    except (ValueError, RecursionError, LookupError):
        return None


def _is_too_much(data: bytes) -> bool:
    """Return whether there are too many objects and lists to parse. Brackets in strings are counted, too."""
    return len(data) > UNCHECKED_BYTES and data.count(b"{") + data.count(b"[") > _MAX_VALUES


def _repair(data: bytes) -> str:
    """Decode UTF-8, UTF-16 or UTF-32, with or without a byte order mark, and replace escapes of lone surrogates."""
    text = data.decode(json.detect_encoding(data), "replace")
    return _ESCAPE.sub(lambda match: "\\ufffd" if match[1] else match[0], text)


def _none(_: str) -> None:
    return None


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits.lstrip("-")) < _LONG_INTEGER else digits


def _finite_or_none(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def sanitize(value: object, depth: int = _MAX_DEPTH) -> object:
    """Make a value acceptable to any JSON encoder and browser.

    Long integers become text, and objects and lists below level 100 are replaced by a text that says so.
    """
    if isinstance(value, dict | list):
        if not depth:
            return "[nested deeper than 100 levels]"
        if isinstance(value, list):
            return [sanitize(item, depth - 1) for item in value]
        return {str(key): sanitize(item, depth - 1) for key, item in value.items()}
    if isinstance(value, int) and abs(value) >= 10 ** (_LONG_INTEGER - 1):
        return str(value)
    return value


@cache
def _shape(struct: type) -> inspect.Type:
    return inspect.type_info(struct)


def fit(value: object, target: object) -> object:
    """Convert the value to the type ``target`` (a struct or an inspected type), without parts that do not fit.

    Returns ``_MISSING`` if the whole value does not fit.
    """
    shape = target if isinstance(target, inspect.Type) else _shape(target)
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
            return msgspec.Raw(msgspec.json.encode(sanitize(value)))
        case inspect.AnyType():
            return value
    return value if isinstance(value, _SIMPLE[type(shape)]) else _MISSING


def _fit_union(value: object, shape: inspect.UnionType) -> object:
    # If the union has an integer type, an integer must fit this type. Otherwise, an integer out of range would be
    # returned as a float.
    types = shape.types
    if type(value) is int and any(isinstance(member, inspect.IntType) for member in types):
        types = tuple(member for member in types if isinstance(member, inspect.IntType))
    elif type(value) is float and any(isinstance(member, inspect.FloatType) for member in types):
        types = tuple(member for member in types if isinstance(member, inspect.FloatType))
    for member in types:
        result = fit(value, member)
        if result is not _MISSING:
            return result
    return _MISSING


def _fit_struct(value: dict[object, object], shape: inspect.StructType) -> object:
    fields = {}
    for field in shape.fields:
        if field.encode_name in value:
            result = fit(value[field.encode_name], field.type)
            if result is not _MISSING:
                fields[field.name] = result
    return shape.cls(**fields)


def _fit_items(items: list[object], shape: inspect.Type) -> list[object]:
    if len(items) > _MAX_ITEMS:
        items = items[: _MAX_ITEMS // 2] + items[-_MAX_ITEMS // 2 :]
    return [result for item in items if (result := fit(item, shape)) is not _MISSING]


def _fit_values(values: dict[object, object], shape: inspect.Type) -> dict[object, object]:
    return {
        key: result for key, item in islice(values.items(), _MAX_ITEMS) if (result := fit(item, shape)) is not _MISSING
    }


def _fit_number(value: object, shape: inspect.IntType | inspect.FloatType) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _MISSING
    if isinstance(shape, inspect.FloatType):
        return float(value) if abs(value) <= sys.float_info.max else _MISSING
    if isinstance(value, float):
        if not value.is_integer():
            return _MISSING
        value = int(value)
    fits = (shape.ge is None or value >= shape.ge) and (shape.le is None or value <= shape.le)
    return value if fits else _MISSING
