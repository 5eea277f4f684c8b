"""Parse and format the value of a setting according to its declared type.

Values are text (from flags and variables) or TOML values. ``BadValue`` describes the expected value. The caller adds
the source of the value to the message.
"""

import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ClassVar, Final, Literal, NewType, Union, get_args, get_origin, get_type_hints

from relaybook.settings.suggestions import suggest

#: A number of days, from 0 to 36,500 (100 years).
Days = NewType("Days", int)
#: A price in US dollars, from 0 to 1,000,000.
Dollars = NewType("Dollars", float)
#: A whole number of things. An ``int`` is a size in bytes.
Count = NewType("Count", int)
_NUMBER: Final = r"(\d{1,18}(?:\.\d{1,9})?)"
_CREDENTIALS: Final = re.compile(r"(?<=://)[^/]*@")
_SIZE = re.compile(_NUMBER + r"\s*([kKMGT]i?B|B)?", re.ASCII)
_DURATION = re.compile(_NUMBER + r"\s*(ms|s|min|h)?", re.ASCII)
_POWERS: Final = {"K": 1, "M": 2, "G": 3, "T": 4}
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}
_MAX_DAYS: Final = 36_500
_MAX_DOLLARS: Final = 1_000_000
_BOOLEANS: Final = {"true": True, "yes": True, "on": True, "1": True}
_BOOLEANS.update({"false": False, "no": False, "off": False, "0": False})


@dataclass(frozen=True, kw_only=True)
class Table:
    """The base class of dataclasses that are tables in the settings file. ``example`` is the head of such a table."""

    example: ClassVar[str]


class BadValue(ValueError):
    """The value has the wrong type or form. ``expected`` completes the message "…: expected …"."""

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected


def parse_value(hint: Any, value: object) -> Any:
    """Convert text or a TOML value to the type ``hint``. Raises BadValue.

    The text ``none`` becomes None if the type allows None. Text is split at commas if the type is a list. Sizes are in
    bytes, and durations are in seconds.
    """
    inner = required_type(hint)
    if inner is not hint and value == "none":
        return None
    if get_origin(inner) in (Union, UnionType):
        return _choice_or_size(get_args(inner), value)
    if get_origin(inner) is dict:
        kind = get_args(inner)[1]
        return _texts(value) if kind is str else _tables(kind, value)
    if get_origin(inner) is Literal:
        return _choice(get_args(inner), value)
    if get_origin(inner) is list:
        return _list(value)
    return _PARSERS[inner](value)


def required_type(hint: Any) -> Any:
    """Return the type without its ``| None``."""
    if get_origin(hint) in (Union, UnionType) and NoneType in get_args(hint):
        (inner,) = (arm for arm in get_args(hint) if arm is not NoneType)
        return inner
    return hint


def describe_type(hint: Any) -> str:
    """Describe the values of the type, for the table of settings."""
    inner = required_type(hint)
    if get_origin(inner) in (Union, UnionType):
        return f"{describe_type(get_args(inner)[0])} or size"
    if get_origin(inner) is Literal:
        return " or ".join(f"`{choice}`" for choice in get_args(inner))
    if get_origin(inner) in (list, dict):
        return "list" if get_origin(inner) is list else "tables"
    return _DESCRIPTIONS[inner]


def format_value(value: object) -> str:
    """Format a value for people, for example ``64 MiB``. `None`, an empty list and an empty table become ``–``."""
    if value is None or value in ([], {}):
        return "–"
    if isinstance(value, dict):
        return ", ".join(
            f"{name}: {each if isinstance(each, str) else _format_table(each)}" for name, each in value.items()
        )
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, float):
        return f"{value:g} s"
    if isinstance(value, int) and value and value % (1 << 20) == 0:
        return f"{value >> 30} GiB" if value % (1 << 30) == 0 else f"{value >> 20} MiB"
    return without_password(str(value))


def without_password(text: str) -> str:
    """Return the text without the user name and the password of a URL in it."""
    return _CREDENTIALS.sub("…@", text)


def _format_table(table: Any) -> str:
    hints = get_type_hints(type(table))
    return " ".join(
        f"{name}={f'{value:g}' if required_type(hints[name]) in _PLAIN_NUMBERS else format_value(value)}"
        for name, value in vars(table).items()
        if value is not None
    )


def _choice_or_size(arms: tuple[Any, ...], value: object) -> Any:
    choices = get_args(arms[0])
    if value in choices:
        return value
    try:
        return _size(value)
    except BadValue:
        raise BadValue(f"{', '.join(choices)} or a size such as 50GiB") from None


def _texts(value: object) -> dict[str, str]:
    """Check a TOML table whose values are all texts."""
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return value
    raise BadValue('a table of texts, such as { team = "search" }')


def _tables(kind: type[Table], value: object) -> dict[str, Any]:
    """Convert named TOML tables to instances of the dataclass ``kind``. The keys of each table are field names."""
    hints = {name: hint for name, hint in get_type_hints(kind).items() if get_origin(hint) is not ClassVar}
    expected = f"tables in relaybook.toml, such as {kind.example}, with the key {' or '.join(hints)}"
    required = [each.name for each in fields(kind) if each.default is MISSING]
    if not isinstance(value, dict) or not all(isinstance(table, dict) for table in value.values()):
        raise BadValue(expected)
    parsed = {}
    for name, table in value.items():
        found = {}
        for key, item in table.items():
            if key not in hints:
                raise BadValue(f"{expected}, not {key[:80]!r}.{suggest(key, hints)}".removesuffix("."))
            try:
                found[key] = parse_value(required_type(hints[key]), item)  # to use the general value, omit the key
            except BadValue as error:
                raise BadValue(f"{error.expected} for {key} of {name[:80]!r}") from None
        if "*" in name.removesuffix("*"):
            raise BadValue(f"a name, or a prefix of names followed by *, not {name[:80]!r}")
        missing = [key for key in required if key not in found]
        if missing:
            raise BadValue(f"the key {missing[0]} in the table of {name[:80]!r}")
        parsed[name] = kind(**found)
    return parsed


def _days(value: object) -> int:
    if isinstance(value, str) and value.isdecimal() and value.isascii() and len(value) < 6:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_DAYS:
        return value
    raise BadValue(f"a number of days from 0 to {_MAX_DAYS}")


def _dollars(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MAX_DOLLARS:
        return float(value)
    raise BadValue(f"a price in US dollars from 0 to {_MAX_DOLLARS}")


def _choice(choices: tuple[str, ...], value: object) -> str:
    if isinstance(value, str) and value in choices:
        return value
    raise BadValue(" or ".join(choices))


def _list(value: object) -> list[str]:
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise BadValue("a list: text with commas, or an array of strings in TOML")
    return [item.strip() for item in items if item.strip()]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise BadValue("text (a quoted string in TOML)")
    return value


def _path(value: object) -> Path:
    text = _text(value)
    if not text or "\0" in text:
        raise BadValue("a path")
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise BadValue("a path, but the user after ~ does not exist") from None


def _count(value: object) -> int:
    if isinstance(value, str) and re.fullmatch(r"\d{1,18}", digits := value.replace("_", "").strip(), re.ASCII):
        value = int(digits)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63:
        return value
    raise BadValue("a whole number")


def _size(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63:
        return value
    match = _SIZE.fullmatch(value.replace("_", "").strip()) if isinstance(value, str) else None
    if match is None or ("." in match[1] and match[2] is None):
        raise BadValue("a number of bytes or a size such as 64MiB")
    unit = match[2] or "B"
    factor: int = (1024 if "i" in unit else 1000) ** _POWERS.get(unit[0].upper(), 0)
    whole, _, fraction = match[1].partition(".")
    size = int(whole) * factor + (int(fraction) * factor // 10 ** len(fraction) if fraction else 0)
    if size >= 1 << 63:
        raise BadValue("a number below 2^63")
    return size


def _duration(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e18:
        return float(value)
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise BadValue("seconds or a duration such as 500ms, 15min or 2h")
    return float(match[1]) * _SECONDS[match[2] or "s"]


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _BOOLEANS:
        return _BOOLEANS[value.lower()]
    raise BadValue("true or false")


#: Numbers that are shown without a unit.
_PLAIN_NUMBERS: Final = (Days, Count, Dollars)
_PARSERS: Final[dict[Any, Callable[[object], Any]]] = {
    Days: _days,
    Dollars: _dollars,
    str: _text,
    Path: _path,
    int: _size,
    Count: _count,
    float: _duration,
    bool: _boolean,
}
_DESCRIPTIONS: Final[dict[Any, str]] = {
    Days: "days",
    Dollars: "dollars",
    str: "text",
    Path: "path",
    int: "size",
    Count: "whole number",
    float: "duration",
    bool: "`true` or `false`",
}
