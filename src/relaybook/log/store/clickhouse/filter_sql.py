"""Translate a filter's terms into SQL conditions on ``requests AS r``.

Column names come from a fixed mapping, and every value is passed as a parameter. The semantics are the same as in
``filters.matches``. Substrings are not searched with SQL. ``substrings.py`` finds the requests that contain a
substring.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from relaybook.log.numbers import UNKNOWN
from relaybook.log.query.filters import (
    ANY,
    CONTAINS,
    FEEDBACK,
    LABEL,
    NUMBERS,
    SAID_HERE,
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
from relaybook.log.query.words import SEPARATOR, SearchText, words_of
from relaybook.log.record import NOTE_FIELDS
from relaybook.log.store.clickhouse.connection import Parameters
from relaybook.log.store.number_sql import NUMBER_SQL
from relaybook.log.store.result_sql import RESULT

_MAX_INTEGER: Final = 2**63 - 1


def condition(filter_: Filter, parameters: Parameters, *extra: str, with_removed: bool = False) -> str:
    """Return the condition for requests that meet all ``extra`` conditions and all terms of the filter.

    Removed requests, which keep a row for charts, meet the condition only with ``with_removed``. CONTAINS terms are
    ignored, because ``substrings.py`` evaluates them.
    """
    terms = (_term(term, parameters) for term in filter_.terms if term.name != CONTAINS)
    return " AND ".join(("1" if with_removed else "NOT r.removed", *extra, *terms))


def namespace_condition(filter_: Filter, parameters: Parameters) -> str | None:
    """Return the condition of the filter's ``namespace`` terms that are not negated. `None` if there are no such terms.

    With this condition, ClickHouse can use the projection ``requests_by_namespace``.
    """
    terms = [term for term in filter_.terms if term.name == "namespace" and not term.negated]
    if not terms:
        return None
    options = (" OR ".join(_text_is("r.`namespace`", term, parameters)) or "0" for term in terms)
    return " AND ".join(f"({each})" for each in options)


def _term(term: Term, parameters: Parameters) -> str:
    sql = " OR ".join(f"ifNull({option}, 0)" for option in _options(term, parameters)) or "0"
    return f"NOT ({sql})" if term.negated else f"({sql})"


def _options(term: Term, parameters: Parameters) -> Iterable[str]:
    """Return the conditions of a term.

    A request matches the term if at least one condition holds. If the term is negated, a request matches if no
    condition holds.
    """
    name, values = term.name, term.values
    if name in WITH_ANY and ANY in values:
        return (f"notEmpty(r.{NOTE_FIELDS[name]})" if name in NOTE_FIELDS else f"r.`{name}` IS NOT NULL",)
    if name in TEXT_FIELDS:
        return _text_is(f"r.`{name}`", term, parameters)
    if name.startswith("property."):
        key = parameters.add(name.removeprefix("property."))
        has_key = f"mapContains(r.properties, {key})"
        return (f"({has_key} AND {each})" for each in _text_is(f"r.properties[{key}]", term, parameters))
    if name in (SCORE, LABEL, FEEDBACK):
        return _has_feedback(term, parameters)
    if name in NUMBERS:
        return (_comparison(NUMBER_SQL[NUMBERS[name].field], value, parameters) for value in values)
    if name in SECTIONS:
        phrases = [*((phrase, False) for phrase in values), *((phrase, True) for phrase in term.prefixes)]
        return (_contains_phrase(name, phrase, is_prefix, parameters) for phrase, is_prefix in phrases)
    match name:
        case "status":
            return (_has_status(value, parameters) for value in values)
        case "result":
            return (f"{RESULT} = {parameters.add(value)}" for value in values)
        case "failed":
            return (f"r.failed = {value == 'true'}" for value in values)
        case "warning" | "note" | "advice":
            column = NOTE_FIELDS[name]
            return (f"arrayExists(note -> note.1 = {parameters.add(code)}, r.{column})" for code in values)
        case "from":
            return (f"r.started_at >= {_integer(value, parameters)}" for value in values)
        case "to":
            return (f"r.started_at < {_integer(value, parameters)}" for value in values)
    raise BadFilter(name, f"{name[:80]!r} is not a filter.")


def _text_is(column: str, term: Term, parameters: Parameters) -> Iterator[str]:
    for value in term.values:
        yield f"{column} = {parameters.add(value)}"
    for prefix in term.prefixes:
        yield f"startsWith({column}, {parameters.add(prefix)})"


def _comparison(column: str, value: str, parameters: Parameters) -> str:
    if value == UNKNOWN:
        return f"({column}) IS NULL"
    operator, number = comparison(value)
    return f"{column} {operator} {parameters.add(number, 'Float64')}"


def _has_feedback(term: Term, parameters: Parameters) -> Iterator[str]:
    if term.name == FEEDBACK:
        for value in term.values:
            yield f"r.id {'IN' if value == 'any' else 'NOT IN'} (SELECT id FROM feedback FINAL)"
        return
    if term.name == LABEL:
        options = list(_text_is("label", term, parameters))
    else:
        options = [_comparison("score", value, parameters) for value in term.values]
    if options:
        yield f"r.id IN (SELECT id FROM feedback FINAL WHERE {' OR '.join(options)})"


def _contains_phrase(name: str, phrase: str, is_prefix: bool, parameters: Parameters) -> str:
    """Return the condition that the sections which the term ``name`` searches contain the phrase.

    With ``is_prefix``, the last word of the phrase is only the beginning of a word. The text index finds the texts that
    contain all whole words of the phrase. Only these texts are searched for the phrase.
    """
    words = words_of(phrase)
    if not words:
        return "0"
    whole = words[:-1] if is_prefix else words
    text = parameters.add(f" {' '.join(words)}{'' if is_prefix else ' '}")
    tokens = f"hasAllTokens(r.words, {parameters.add(whole, 'Array(String)')}) AND " if whole else ""
    return f"({tokens}position({_SECTION_SQL[name]}, {text}) > 0)"


#: These control characters separate the sections in the column ``words``. They occur in no word, and have one byte
#: each, as substringIndex requires.
_NEW: Final = "\x1e"
_EARLIER: Final = "\x1f"
#: The part of the column ``words`` that each term searches.
_SECTION_SQL: Final = {
    WORDS: "r.words",
    "response": f"substringIndex(r.words, '{_NEW}', 1)",
    SAID_HERE: f"substringIndex(r.words, '{_EARLIER}', 1)",
    "prompt": f"substring(r.words, position(r.words, '{_NEW}') + 1)",
}


def spaced_words(search_text: SearchText) -> str:
    """Return a search text as it is stored in the column ``words``, with each word between two spaces.

    Between two texts, ``SEPARATOR`` is a word. ``_NEW`` and ``_EARLIER`` are before the second and the third section.
    """
    response, new, earlier = map(_spaced, search_text)
    return f" {response} {_NEW} {new} {_EARLIER} {earlier} "


def _spaced(section: str) -> str:
    return f" {SEPARATOR} ".join(" ".join(words_of(text)) for text in section.split(SEPARATOR))


def _has_status(value: str, parameters: Parameters) -> str:
    if value == "error":
        return "r.failed"
    if value.endswith("xx"):
        lowest = int(value[0]) * 100
        return f"r.status BETWEEN {lowest} AND {lowest + 99}"
    return f"r.status = {_integer(value, parameters)}"


def _integer(text: str, parameters: Parameters) -> str:
    """Return the placeholder of an integer, clamped to 64 bits."""
    return parameters.add(max(-_MAX_INTEGER, min(_MAX_INTEGER, int(text))), "Int64")
