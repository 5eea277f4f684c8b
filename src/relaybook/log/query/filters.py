"""What may be asked of a log: a filter and its terms, a place in the log, a page's size. Pure.

All terms of a filter must hold. Stores translate a Filter into their own language; nothing here knows SQL. Query
parameters and the query language are read in ``filter_parameters`` and ``query_language``.
"""

import operator
import re
from collections.abc import Callable
from typing import Any, Final, Literal

import msgspec

from relaybook.log.query import words
from relaybook.log.record import Record

#: Names whose values are compared as text with the record's field of the same name.
TEXT_FIELDS: Final = ("namespace", "model", "outcome", "kind", "path", "key", "user", "route", "finish_reason", "id")
#: The name of a term that looks for a piece of text anywhere in prompt and answer.
CONTAINS: Final = "contains"
#: Names whose values compare a number with the record's field: ``>2000.0``.
NUMBERS: Final = {
    "duration": "duration_ms",
    "first_token": "first_token_ms",
    "cost": "cost_usd",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "retry_count": "retry_count",
}
NAMES: Final = (
    *TEXT_FIELDS,
    "namespace_prefix",
    "status",
    "failed",
    "warning",
    "advice",
    "from",
    "to",
    CONTAINS,
    *NUMBERS,
)
#: The name of a term that looks for words in prompt and answer. No parameter: such terms come from ``q``.
WORDS: Final = "words"
MAX_LIMIT: Final = 500
_CURSOR = re.compile(r"([on])(\d{1,18})")
_LIMIT = re.compile(r"\d{1,6}", re.ASCII)


class BadFilter(ValueError):
    """A parameter nobody can understand: ``parameter`` is its name, the text says what is wrong and what is right."""

    def __init__(self, parameter: str, message: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class Term(msgspec.Struct, frozen=True):
    """One condition: the field ``name`` has any of ``values`` or begins with any of ``prefixes`` (negated: neither).

    ``name`` is one of NAMES (but for ``namespace_prefix``), ``property.<name>`` or WORDS. Values are as the record
    holds them: ``failed`` is "true" or "false", ``status`` is "200", "4xx" or "error", moments are microseconds,
    numbers have their comparison before them: ``>2000.0``. Only text has ``prefixes``.
    """

    name: str
    values: tuple[str, ...]
    negated: bool = False
    prefixes: tuple[str, ...] = ()


class Filter(msgspec.Struct, frozen=True):
    """All terms must hold. No terms: the whole log."""

    terms: tuple[Term, ...] = ()


class Cursor(msgspec.Struct, frozen=True):
    """A place in the log: everything recorded before (older) or after (newer) the record ``seq``."""

    direction: Literal["older", "newer"]
    seq: int

    def __str__(self) -> str:
        return f"{self.direction[0]}{self.seq}"


def parse_cursor(text: str, *, only_older: bool = False) -> Cursor:
    """Reads what ``str(cursor)`` wrote; anything else raises BadFilter."""
    found = _CURSOR.fullmatch(text)
    if found is None or (only_older and found[1] != "o"):
        right = "next_cursor" if only_older else "next_cursor or newer_cursor"
        raise BadFilter("cursor", f"cursor is {text[:80]!r}: pass on the {right} of an earlier page.")
    return Cursor("older" if found[1] == "o" else "newer", int(found[2]))


def parse_limit(text: str, default: int = 50) -> int:
    """A page's size, 1 to 500; empty text gives the default."""
    if not text:
        return default
    if not (_LIMIT.fullmatch(text) and 1 <= int(text) <= MAX_LIMIT):
        raise BadFilter("limit", f"limit is {text[:80]!r}: it takes a whole number from 1 to {MAX_LIMIT}.")
    return int(text)


def matches(wanted: Filter, record: Record, indexed: str = "", said: str = "") -> bool:
    """Whether a record passes the filter: the meaning every store must give it.

    Words are looked for in what is ``indexed`` of prompt and answer, pieces of text in all that was ``said``.
    """
    return all(_holds(term, record, indexed, said) != term.negated for term in wanted.terms)


def asks_texts(wanted: Filter) -> bool:
    """Whether the record alone does not tell if it passes: what was said has to be known."""
    return any(term.name in (WORDS, CONTAINS) for term in wanted.terms)


def comparison(value: str) -> tuple[str, float]:
    """The two parts of a number's value, ``>=2000.0``: one of ``> >= < <= =``, and the number."""
    sign = value[: 2 if value[1:2] == "=" else 1]
    return sign, float(value[len(sign) :])


def _holds(term: Term, record: Record, indexed: str, said: str) -> bool:
    if term.name == WORDS:
        return any(words.contains(indexed, phrase) for phrase in term.values)
    if term.name == CONTAINS:
        return any(words.holds(said, piece) for piece in term.values)
    if any(_has(term.name, value, record) for value in term.values):
        return True
    found = _text(term.name, record) if term.prefixes else None
    return found is not None and found.startswith(term.prefixes)


def _text(name: str, record: Record) -> str | None:
    if name.startswith("property."):
        return record.properties.get(name.removeprefix("property."))
    found: str | None = getattr(record, name)
    return found


def _has(name: str, value: str, record: Record) -> bool:
    if name in NUMBERS:
        return _compares(value, getattr(record, NUMBERS[name]))
    match name:
        case "from":
            return record.started_at >= int(value)
        case "to":
            return record.started_at < int(value)
        case "failed":
            return record.failed == (value == "true")
        case "status":
            return _has_status(value, record)
        case "warning":
            return any(note.code == value for note in record.warnings)
        case "advice":
            return any(note.code == value for note in record.advice)
    return _text(name, record) == value


_SIGNS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
}


def _compares(value: str, number: float | None) -> bool:
    """Unknown compares with nothing."""
    sign, other = comparison(value)
    return number is not None and _SIGNS[sign](number, other)


def _has_status(value: str, record: Record) -> bool:
    if value == "error":
        return record.failed
    if record.status is None:
        return False
    return record.status // 100 == int(value[0]) if value.endswith("xx") else record.status == int(value)
