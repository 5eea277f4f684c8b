"""What may be asked of a log: the terms of a filter, read from query parameters and refused by name.

Terms of different names must all hold; several values of one name mean any of them; ``not.<name>`` excludes. Stores
translate a Filter into their own language; nothing here knows SQL.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, Literal, NoReturn, get_args

import msgspec

from relaybook import clock
from relaybook.records import Kind, Outcome, Record

#: Names whose values are compared as text with the record's field of the same name.
TEXT_FIELDS: Final = ("namespace", "model", "outcome", "kind", "path", "key", "user", "route", "finish_reason", "id")
NAMES: Final = (*TEXT_FIELDS, "namespace_prefix", "status", "failed", "warning", "advice", "from", "to")
MAX_LIMIT: Final = 500
MAX_VALUES: Final = 100
_RELATIVE = re.compile(r"-(\d{1,6})(s|m|h|d|w)")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_CURSOR = re.compile(r"([on])(\d{1,18})")
_LIMIT = re.compile(r"\d{1,6}", re.ASCII)
_STATUS = re.compile(r"error|[1-5]xx|[1-9]\d\d")


class BadFilter(ValueError):
    """A parameter nobody can understand: ``parameter`` is its name, the text says what is wrong and what is right."""

    def __init__(self, parameter: str, message: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class Term(msgspec.Struct, frozen=True):
    """One condition: the field ``name`` has any of ``values`` (or, negated, none of them).

    ``name`` is one of NAMES or ``property.<name>``. Values are as the record holds them: ``failed`` is "true" or
    "false", ``status`` is "200", "4xx" or "error", moments are decimal microseconds.
    """

    name: str
    values: tuple[str, ...]
    negated: bool = False


class Filter(msgspec.Struct, frozen=True):
    """All terms must hold. No terms: the whole log."""

    terms: tuple[Term, ...] = ()


class Cursor(msgspec.Struct, frozen=True):
    """A place in the log: everything recorded before (older) or after (newer) the record ``seq``."""

    direction: Literal["older", "newer"]
    seq: int

    def __str__(self) -> str:
        return f"{self.direction[0]}{self.seq}"


def parse_cursor(text: str) -> Cursor:
    """Reads what ``str(cursor)`` wrote; anything else raises BadFilter."""
    found = _CURSOR.fullmatch(text)
    if found is None:
        raise BadFilter(
            "cursor", f"cursor is {text[:80]!r}: pass on the next_cursor or newer_cursor of an earlier page."
        )
    return Cursor("older" if found[1] == "o" else "newer", int(found[2]))


def parse_limit(text: str, default: int = 50) -> int:
    """A page's size, 1 to 500; empty text gives the default."""
    if not text:
        return default
    if not (_LIMIT.fullmatch(text) and 1 <= int(text) <= MAX_LIMIT):
        raise BadFilter("limit", f"limit is {text[:80]!r}: it takes a whole number from 1 to {MAX_LIMIT}.")
    return int(text)


def parse_filter(pairs: Iterable[tuple[str, str]], now_us: int) -> Filter:
    """Reads query parameters (name, value) into a Filter; ``now_us`` anchors relative times.

    Raises BadFilter for a name that is not in NAMES, a value its name cannot have, or a repeated ``from``/``to``.
    """
    wanted: dict[tuple[str, bool], list[str]] = {}
    for raw_name, value in pairs:
        negated = raw_name.startswith("not.")
        name = _canonical_name(raw_name.removeprefix("not."), raw_name)
        if name in ("from", "to") and (negated or (name, negated) in wanted):
            raise BadFilter(raw_name, f"{raw_name} can be given once and not be negated.")
        values = wanted.setdefault((name, negated), [])
        values.append(_checked_value(name, value, now_us, raw_name))
        if len(values) > MAX_VALUES:
            raise BadFilter(raw_name, f"{raw_name} has more than {MAX_VALUES} values: ask for fewer at a time.")
    return Filter(tuple(Term(name, tuple(values), negated) for (name, negated), values in wanted.items()))


def matches(wanted: Filter, record: Record) -> bool:
    """Whether a record passes the filter: the meaning every store must give it."""
    return all(any(_has(term.name, value, record) for value in term.values) != term.negated for term in wanted.terms)


def _has(name: str, value: str, record: Record) -> bool:
    match name:
        case "from":
            return record.started_at >= int(value)
        case "to":
            return record.started_at < int(value)
        case "failed":
            return record.failed == (value == "true")
        case "status":
            return _has_status(value, record)
        case "namespace_prefix":
            return record.namespace.startswith(value)
        case "warning":
            return any(note.code == value for note in record.warnings)
        case "advice":
            return any(note.code == value for note in record.advice)
    if name.startswith("property."):
        return record.properties.get(name.removeprefix("property.")) == value
    return bool(getattr(record, name) == value)


def _has_status(value: str, record: Record) -> bool:
    if value == "error":
        return record.failed
    if record.status is None:
        return False
    return record.status // 100 == int(value[0]) if value.endswith("xx") else record.status == int(value)


def _canonical_name(name: str, raw_name: str) -> str:
    if name in NAMES:
        return name
    if name.startswith("property.") and len(name) > len("property."):
        return name.lower().replace("_", "-")
    if name == "q":
        raise BadFilter(raw_name, "q (the query language) is not built yet: use the single parameters meanwhile.")
    raise BadFilter(raw_name, f"{raw_name[:80]!r} is not a parameter here. Known: {', '.join(NAMES)}, property.<name>.")


def _checked_value(name: str, value: str, now_us: int, raw_name: str) -> str:
    def refuse(right: str) -> NoReturn:
        raise BadFilter(raw_name, f"{raw_name} is {value[:80]!r}: it takes {right}.")

    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        refuse("text without NUL and lone surrogates")
    choices = {"outcome": get_args(Outcome), "kind": get_args(Kind), "failed": ("true", "false")}.get(name)
    if choices is not None and value not in choices:
        refuse(f"one of {', '.join(choices)}")
    if name == "status" and not _STATUS.fullmatch(value):
        refuse("a status such as 200, a class such as 4xx, or error")
    if name in ("from", "to"):
        return str(parse_moment(value, now_us, raw_name))
    return value


def parse_moment(text: str, now_us: int, parameter: str = "from") -> int:
    """Microseconds of an RFC 3339 moment or of a relative one (``-15m``, ``-7d``), seen from ``now_us``.

    Raises BadFilter in the name of ``parameter``.
    """
    if relative := _RELATIVE.fullmatch(text):
        return now_us - int(relative[1]) * _SECONDS[relative[2]] * 1_000_000
    try:
        at = datetime.fromisoformat(text)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        since = at - datetime(1970, 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError):
        example = clock.format_moment(now_us)
        message = f"{parameter} is {text[:80]!r}: it takes a moment, write one like {example}, or relative like -15m."
        raise BadFilter(parameter, message) from None
    return (since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds
