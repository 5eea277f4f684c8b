"""Reads one setting's value from text or TOML, by the type its declaration gives it.

Nothing here knows where a value came from. ``BadValue`` carries what the type takes; the caller names the place.
"""

import re
from collections.abc import Callable
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

_NUMBER: Final = r"(\d{1,18}(?:\.\d{1,9})?)"
_SIZE = re.compile(_NUMBER + r"\s*([kKMGT]i?B|B)?", re.ASCII)
_DURATION = re.compile(_NUMBER + r"\s*(ms|s|min|h)?", re.ASCII)
_POWERS: Final = {"K": 1, "M": 2, "G": 3, "T": 4}
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}
_YES_AND_NO: Final = {"true": True, "yes": True, "on": True, "1": True}
_YES_AND_NO.update({"false": False, "no": False, "off": False, "0": False})


class BadValue(ValueError):
    """A value its setting cannot take; ``takes`` completes the sentence "it takes …"."""

    def __init__(self, takes: str) -> None:
        super().__init__(takes)
        self.takes = takes


def parse_value(hint: Any, value: object) -> Any:
    """The value as the type ``hint`` wants it, from text (flag, variable) or from what TOML gave. Raises BadValue.

    Text ``none`` is None where the type allows it. Lists are split at commas. Sizes are bytes, durations seconds.
    """
    inner = required_type(hint)
    if inner is not hint and value == "none":
        return None
    if get_origin(inner) is Literal:
        return _choice(get_args(inner), value)
    if get_origin(inner) is list:
        return _list(value)
    return _PARSERS[inner](value)


def required_type(hint: Any) -> Any:
    """The type without its ``| None``."""
    if get_origin(hint) in (Union, UnionType):
        (inner,) = (arm for arm in get_args(hint) if arm is not NoneType)
        return inner
    return hint


def describe_type(hint: Any) -> str:
    """What to write, for the table of settings."""
    inner = required_type(hint)
    if get_origin(inner) is Literal:
        return " or ".join(f"`{choice}`" for choice in get_args(inner))
    if get_origin(inner) is list:
        return "list"
    return _DESCRIPTIONS[inner]


def format_value(value: object) -> str:
    """A setting's value as a person would write it; nothing is ``–``."""
    if value is None or value == []:
        return "–"
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, float):
        return f"{value:g} s"
    if isinstance(value, int) and value and value % (1 << 20) == 0:
        return f"{value >> 30} GiB" if value % (1 << 30) == 0 else f"{value >> 20} MiB"
    return str(value)


def _choice(choices: tuple[str, ...], value: object) -> str:
    if isinstance(value, str) and value in choices:
        return value
    raise BadValue(" or ".join(choices))


def _list(value: object) -> list[str]:
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise BadValue("a list: text with commas, or an array of texts in TOML")
    return [item.strip() for item in items if item.strip()]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise BadValue("text (in quotes, in TOML)")
    return value


def _path(value: object) -> Path:
    text = _text(value)
    if not text or "\0" in text:
        raise BadValue("a path")
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise BadValue("a path; there is no such user for its ~") from None


def _whole(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63:
        return value
    found = _SIZE.fullmatch(value.replace("_", "").strip()) if isinstance(value, str) else None
    if found is None or ("." in found[1] and found[2] is None):
        raise BadValue("a whole number; a size may be written like 64MiB")
    unit = found[2] or "B"
    factor: int = (1024 if "i" in unit else 1000) ** _POWERS.get(unit[0].upper(), 0)
    whole, _, fraction = found[1].partition(".")
    size = int(whole) * factor + (int(fraction) * factor // 10 ** len(fraction) if fraction else 0)
    if size >= 1 << 63:
        raise BadValue("a number below 2^63")
    return size


def _duration(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e18:
        return float(value)
    found = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise BadValue("seconds, or a duration like 500ms, 15min or 2h")
    return float(found[1]) * _SECONDS[found[2] or "s"]


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _YES_AND_NO:
        return _YES_AND_NO[value.lower()]
    raise BadValue("true or false")


_PARSERS: Final[dict[type, Callable[[object], Any]]] = {
    str: _text,
    Path: _path,
    int: _whole,
    float: _duration,
    bool: _flag,
}
_DESCRIPTIONS: Final[dict[type, str]] = {
    str: "text",
    Path: "path",
    int: "whole number",
    float: "duration",
    bool: "`true` or `false`",
}
