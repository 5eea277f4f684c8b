"""Translate a filter's terms into SQL conditions on ``requests AS r``.

Column names are constants in this program, and every value is a bound parameter. The conditions have the same semantics
as ``filters.matches``, and a test compares both for every term.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from relaybook.log.numbers import UNKNOWN
from relaybook.log.query.filters import (
    ANY,
    FEEDBACK,
    LABEL,
    NUMBERS,
    SCORE,
    SECTIONS,
    TEXT_FIELDS,
    WITH_ANY,
    WORDS,
    BadFilter,
    Filter,
    Term,
    comparison,
)
from relaybook.log.query.words import words_of
from relaybook.log.record import NOTE_FIELDS
from relaybook.log.store.number_sql import NUMBER_SQL
from relaybook.log.store.result_sql import RESULT
from relaybook.log.store.sqlite.index.text_functions import CONTAINS_TEXT, MATCHES_PREFIX
from relaybook.log.store.sqlite.rows import id_bytes

Bindings = tuple[str | int | float | bytes, ...]

_COLUMNS: Final = {name: f'r."{name}"' for name in TEXT_FIELDS}
_MAX_INTEGER: Final = 2**63 - 1
_ID: Final = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LOWEST_ID: Final = "00000000-0000-0000-0000-000000000000"
_HIGHEST_ID: Final = "ffffffff-ffff-ffff-ffff-ffffffffffff"


class Condition(NamedTuple):
    """An SQL expression and the values of its placeholders."""

    sql: str
    bindings: Bindings = ()


def conditions(filter_: Filter) -> list[Condition]:
    """Return one condition per term, in the order of the terms. A record matches if all conditions hold."""
    return [_condition(term) for term in filter_.terms]


def _condition(term: Term) -> Condition:
    condition = _without_negation(term)
    if not term.negated:
        return condition
    return Condition(f"NOT coalesce({condition.sql}, 0)", condition.bindings)


def _without_negation(term: Term) -> Condition:
    name, values = term.name, term.values
    if name in WITH_ANY and ANY in values:
        return Condition(f'r."{NOTE_FIELDS.get(name, name)}" IS NOT NULL')
    if name == "id":
        return any_of([*map(_id_is, values), *map(_id_starts_with, term.prefixes)])
    if name in _COLUMNS:
        return any_of(_text_is(_COLUMNS[name], term))
    if name.startswith("property."):
        return _has_property(name.removeprefix("property."), term)
    if name in (SCORE, LABEL, FEEDBACK):
        return _has_feedback(name, term)
    if name in NUMBERS:
        return any_of(_comparison(NUMBER_SQL[NUMBERS[name].field], value) for value in values)
    if name in SECTIONS:
        phrases = (_phrase(name, phrase) for phrase in values)
        return any_of([*phrases, *(_phrase_prefix(name, phrase) for phrase in term.prefixes)])
    match name:
        case "contains":
            return any_of(Condition(f"{CONTAINS_TEXT}(r.seq, ?)", (substring,)) for substring in values)
        case "status":
            return any_of(_has_status(value) for value in values)
        case "result":
            return Condition(f"{RESULT} IN ({placeholders(values)})", values)
        case "failed":
            return Condition(f"r.failed IN ({placeholders(values)})", tuple(int(value == "true") for value in values))
        case "warning" | "note" | "advice":
            return _has_code(name, values)
        case "from":
            return any_of(Condition("r.started_at >= ?", (clamped_int(value),)) for value in values)
        case "to":
            return any_of(Condition("r.started_at < ?", (clamped_int(value),)) for value in values)
    raise BadFilter(name, f"{name[:80]!r} is not a filter.")


def _text_is(column: str, term: Term) -> Iterator[Condition]:
    if term.values:
        yield Condition(f"{column} IN ({placeholders(term.values)})", term.values)
    for prefix in term.prefixes:
        yield starts_with(column, prefix)


def _id_is(value: str) -> Condition:
    return Condition("r.id = ?", (id_bytes(value),))


def _id_starts_with(prefix: str) -> Condition:
    lowest, highest = (prefix + digits[len(prefix) :] for digits in (_LOWEST_ID, _HIGHEST_ID))
    if not _ID.fullmatch(lowest):
        return Condition("0")
    low, high = (bytes.fromhex(text.replace("-", "")) for text in (lowest, highest))
    return Condition("r.id BETWEEN ? AND ?", (low, high))


def _has_property(name: str, term: Term) -> Condition:
    value = any_of(_text_is("p.value", term))
    sql = f"EXISTS (SELECT 1 FROM properties AS p WHERE p.name = ? AND {value.sql} AND p.seq = r.seq)"  # noqa: S608
    return Condition(sql, (name, *value.bindings))


def _has_feedback(name: str, term: Term) -> Condition:
    if name == FEEDBACK:
        found = "EXISTS (SELECT 1 FROM feedback AS f WHERE f.seq = r.seq)"
        return any_of(Condition(found if value == "any" else f"NOT {found}") for value in term.values)
    condition = any_of(_text_is("f.label", term) if name == LABEL else score_is("f.score", term))
    sql = f"EXISTS (SELECT 1 FROM feedback AS f WHERE f.seq = r.seq AND {condition.sql})"  # noqa: S608 - our own parts
    return Condition(sql, condition.bindings)


def score_is(column: str, term: Term) -> Iterator[Condition]:
    """Yield a comparison of the score with each value of the term. A score matches if one of the comparisons holds."""
    return (_comparison(column, value) for value in term.values)


def _comparison(column: str, value: str) -> Condition:
    if value == UNKNOWN:
        return Condition(f"{column} IS NULL")
    operator, number = comparison(value)
    return Condition(f"{column} {operator} ?", (number,))


def _phrase(name: str, phrase: str) -> Condition:
    sql = f"EXISTS (SELECT 1 FROM {WORDS} AS w WHERE w.rowid = r.seq AND {WORDS} MATCH ?)"  # noqa: S608
    return Condition(sql, (fts_in_sections(name, fts_phrase(phrase)),))


def _phrase_prefix(name: str, phrase: str) -> Condition:
    """Return the condition for a phrase whose last word is a prefix.

    The condition searches the text itself. The index would be slower, because it would merge the positions of all
    words with this prefix.
    """
    return Condition(f"{MATCHES_PREFIX}(r.seq, ?, ?)", (name, phrase))


def fts_phrase(phrase: str) -> str:
    """Return the FTS5 query for a phrase.

    The query is always one quoted string, so that it contains no operators.
    """
    return f'"{" ".join(words_of(phrase))}"'


def fts_in_sections(name: str, query: str) -> str:
    """Return the FTS5 query limited to the sections that the term ``name`` searches."""
    return query if name == WORDS else f"{{{' '.join(SECTIONS[name])}}} : ({query})"


def _has_code(kind: str, codes: tuple[str, ...]) -> Condition:
    sql = "EXISTS (SELECT 1 FROM record_codes AS c WHERE c.kind = ? AND c.code IN ({}) AND c.seq = r.seq)"
    return Condition(sql.format(placeholders(codes)), (kind, *codes))


def _has_status(value: str) -> Condition:
    if value == "error":
        return Condition("r.failed = 1")
    if value.endswith("xx"):
        lowest = int(value[0]) * 100
        return Condition("r.status BETWEEN ? AND ?", (lowest, lowest + 99))
    return Condition("r.status = ?", (clamped_int(value),))


def starts_with(column: str, prefix: str) -> Condition:
    """Return the condition that the column starts with the prefix.

    The condition is a range, which an index can serve.
    """
    after = after_prefix(prefix)
    if after is None:
        return Condition(f"{column} >= ?", (prefix,))
    return Condition(f"({column} >= ? AND {column} < ?)", (prefix, after))


def after_prefix(prefix: str) -> str | None:
    """Return the first string, in sort order, that comes after all strings with the prefix.

    `None` if there is no such string. SQLite compares UTF-8 bytes, so strings sort by code point. Surrogates are
    skipped, because UTF-8 cannot encode them.
    """
    while prefix:
        last = ord(prefix[-1])
        if last < 0x10FFFF:
            return prefix[:-1] + chr(0xE000 if last == 0xD7FF else last + 1)
        prefix = prefix[:-1]
    return None


def any_of(options: Iterable[Condition]) -> Condition:
    """Return the condition that at least one of the options holds."""
    found = list(options)
    if not found:
        return Condition("0")
    sql = " OR ".join(f"coalesce({option.sql}, 0)" for option in found) if len(found) > 1 else found[0].sql
    return Condition(f"({sql})", tuple(value for option in found for value in option.bindings))


def placeholders(values: Iterable[object]) -> str:
    """Return one SQL placeholder (``?``) per value, separated by commas."""
    return ", ".join("?" for _ in values)


def clamped_int(text: str) -> int:
    """Parse an integer and clamp the value to the 64-bit range of integers in SQLite."""
    return max(-_MAX_INTEGER, min(_MAX_INTEGER, int(text)))
