"""Translates a filter's terms into conditions on ``requests AS r``.

Column names come from a fixed table, every value is a bound parameter. The meaning is that of ``filters.matches``,
which a test compares term by term.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from relaybook.log.query.filters import NUMBERS, TEXT_FIELDS, WORDS, BadFilter, Filter, Term, comparison
from relaybook.log.query.words import spaced
from relaybook.log.store.sqlite.text_functions import HOLDS, SAYS

Bindings = tuple[str | int | float, ...]

_COLUMNS: Final = {name: f'r."{name}"' for name in TEXT_FIELDS}
_HIGHEST_INTEGER: Final = 2**63 - 1


class Condition(NamedTuple):
    """An expression of SQL and what its placeholders stand for."""

    sql: str
    bindings: Bindings = ()


def conditions(wanted: Filter) -> list[Condition]:
    """One condition per term, in their order; all must hold."""
    return [_condition(term) for term in wanted.terms]


def _condition(term: Term) -> Condition:
    found = _any_of(term)
    if not term.negated:
        return found
    return Condition(f"NOT coalesce({found.sql}, 0)", found.bindings)


def _any_of(term: Term) -> Condition:
    name, values = term.name, term.values
    if name in _COLUMNS:
        return _either(_text_is(_COLUMNS[name], term))
    if name.startswith("property."):
        return _has_property(name.removeprefix("property."), term)
    if name in NUMBERS:
        return _either(_compares(f"r.{NUMBERS[name]}", value) for value in values)
    match name:
        case "words":
            return _either(_says(phrase) for phrase in values)
        case "contains":
            return _either(Condition(f"{HOLDS}(r.seq, ?)", (piece,)) for piece in values)
        case "status":
            return _either(_has_status(value) for value in values)
        case "failed":
            return Condition(f"r.failed IN ({places(values)})", tuple(int(value == "true") for value in values))
        case "warning" | "advice":
            return _has_note(name, values)
        case "from":
            return _either(Condition("r.started_at >= ?", (bounded(value),)) for value in values)
        case "to":
            return _either(Condition("r.started_at < ?", (bounded(value),)) for value in values)
    raise BadFilter(name, f"{name[:80]!r} is not a parameter here.")


def _text_is(column: str, term: Term) -> Iterator[Condition]:
    if term.values:
        yield Condition(f"{column} IN ({places(term.values)})", term.values)
    for prefix in term.prefixes:
        yield starts_with(column, prefix)


def _has_property(name: str, term: Term) -> Condition:
    value = _either(_text_is("p.value", term))
    sql = f"EXISTS (SELECT 1 FROM properties AS p WHERE p.name = ? AND {value.sql} AND p.seq = r.seq)"  # noqa: S608
    return Condition(sql, (name, *value.bindings))


def _compares(column: str, value: str) -> Condition:
    sign, number = comparison(value)
    return Condition(f"{column} {sign} ?", (number,))


def _says(phrase: str) -> Condition:
    """By the index; by the text where only the beginning of a word is known, as the index would merge many words."""
    if phrase.endswith("*"):
        return Condition(f"{SAYS}(r.seq, ?)", (phrase,))
    sql = f"EXISTS (SELECT 1 FROM {WORDS} AS w WHERE w.rowid = r.seq AND {WORDS} MATCH ?)"  # noqa: S608
    return Condition(sql, (match_of(phrase),))


def match_of(phrase: str) -> str:
    """The phrase in the language of FTS5: always one string, so that nothing in it is an operator."""
    return f'"{spaced(phrase).replace(chr(34), " ")}"'


def _has_note(kind: str, codes: tuple[str, ...]) -> Condition:
    sql = "EXISTS (SELECT 1 FROM notes AS n WHERE n.kind = ? AND n.code IN ({}) AND n.seq = r.seq)"
    return Condition(sql.format(places(codes)), (kind, *codes))


def _has_status(value: str) -> Condition:
    if value == "error":
        return Condition("r.failed = 1")
    if value.endswith("xx"):
        lowest = int(value[0]) * 100
        return Condition("r.status BETWEEN ? AND ?", (lowest, lowest + 99))
    return Condition("r.status = ?", (bounded(value),))


def starts_with(column: str, prefix: str) -> Condition:
    """Text in a column that begins with the prefix, as a range an index can serve."""
    after = after_prefix(prefix)
    if after is None:
        return Condition(f"{column} >= ?", (prefix,))
    return Condition(f"({column} >= ? AND {column} < ?)", (prefix, after))


def after_prefix(prefix: str) -> str | None:
    """The least text greater than all text with the prefix, None when there is none.

    SQLite compares the bytes of UTF-8, which is the order of code points; there are no surrogates in it.
    """
    while prefix:
        last = ord(prefix[-1])
        if last < 0x10FFFF:
            return prefix[:-1] + chr(0xE000 if last == 0xD7FF else last + 1)
        prefix = prefix[:-1]
    return None


def _either(options: Iterable[Condition]) -> Condition:
    found = list(options)
    if not found:
        return Condition("0")
    sql = " OR ".join(f"coalesce({option.sql}, 0)" for option in found) if len(found) > 1 else found[0].sql
    return Condition(f"({sql})", tuple(value for option in found for value in option.bindings))


def places(values: Iterable[object]) -> str:
    """As many placeholders as there are values."""
    return ", ".join("?" for _ in values)


def bounded(text: str) -> int:
    """The number, or the nearest one that SQLite can hold."""
    return max(-_HIGHEST_INTEGER, min(_HIGHEST_INTEGER, int(text)))
