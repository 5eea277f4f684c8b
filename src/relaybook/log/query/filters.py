"""Define the filters, cursors and page sizes of the log, and decide whether a record matches a filter.

A record matches if it satisfies all terms. This module does not use SQL, because each store translates a Filter into
its own statements. ``query.parameters`` parses query parameters into a Filter, and ``query.language`` parses the query
language.
"""

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NamedTuple, get_args

import msgspec

from relaybook.log.numbers import RETRIES, SORTED_NUMBERS, UNKNOWN, number_of
from relaybook.log.query import words
from relaybook.log.record import NOTE_FIELDS, Record
from relaybook.log.row import result_of

#: Names of terms that compare text with the record's field of the same name.
TEXT_FIELDS: Final = (
    *("namespace", "model", "outcome", "kind", "path", "key", "user", "session", "route", "finish_reason"),
    *("stream_ended", "cost_reason", "id"),
)
#: The name of a term that searches prompt and response for a substring.
CONTAINS: Final = "contains"
#: The name of a term that searches prompt and response for words or a phrase.
WORDS: Final = "words"
#: The name of a term that searches only what is new in a request: the response, and the messages after the last
#: response that the request contains.
SAID_HERE: Final = "said_here"
#: The names of the terms that search for words or a phrase, and the sections of ``SearchText`` that they search.
SECTIONS: Final[dict[str, tuple[str, ...]]] = {
    WORDS: words.SearchText._fields,
    "prompt": ("new", "earlier"),
    "response": ("response",),
    SAID_HERE: ("response", "new"),
}
#: Terms that compare a number, as in ``>2000.0``, with the number that each of them compares.
NUMBERS: Final = {number.term: number for number in (*SORTED_NUMBERS, RETRIES) if number.term is not None}
#: The name of a term that compares the scores of a request's feedback with a number. At least one score must match.
SCORE: Final = "score"
#: The name of a term that compares the labels of a request's feedback with text. At least one label must be equal to
#: the text.
LABEL: Final = "label"
#: The name of a term that selects requests with feedback ("any") or without feedback ("none").
FEEDBACK: Final = "feedback"
#: The value of a term that selects requests with any code, and the names of the terms that accept it.
ANY: Final = "any"
WITH_ANY: Final = ("cost_reason", *NOTE_FIELDS)
NAMES: Final = (
    *TEXT_FIELDS,
    "namespace_prefix",
    "status",
    "failed",
    "result",
    *NOTE_FIELDS,
    "from",
    "to",
    *SECTIONS,
    CONTAINS,
    *NUMBERS,
    SCORE,
    LABEL,
    FEEDBACK,
)
MAX_LIMIT: Final = 500
#: The numbers by which requests can be sorted, by the names of their fields.
SORT_FIELDS: Final = {number.field: number for number in SORTED_NUMBERS}
#: Directions of a sort: highest values first, or lowest values first.
Direction = Literal["desc", "asc"]
_CURSOR = re.compile(r"([on])(\d{1,18})")
_LIMIT = re.compile(r"\d{1,6}", re.ASCII)


class Correction(NamedTuple):
    """Text to write instead of an invalid term.

    ``purpose`` says what the correction is for, such as "To search for this text".
    """

    text: str
    purpose: str = ""


#: Codes by which programs identify an error in a term of the query language.
BadTermCode = Literal[
    "unknown_name",
    "missing_colon",
    "missing_value",
    "bad_value",
    "misplaced_star",
    "unsupported_operator",
    "open_quote",
    "repeated",
    "too_long",
]


class BadFilter(ValueError):
    """A query parameter is invalid. ``str`` returns a message with the invalid term and its position.

    ``reason`` says what is wrong and what is expected. If the parameter is a query, ``term`` is the invalid term as
    written. ``at`` is the offset of this term in the query, in UTF-16 code units. ``code`` identifies the error for
    programs. ``replacement`` is a valid term that the user probably meant, or `None`. If the name of the term is
    invalid and no valid name is similar, ``known_names`` are the valid names.
    """

    def __init__(
        self,
        parameter: str,
        reason: str,
        *,
        term: str = "",
        at: int = 0,
        code: BadTermCode = "bad_value",
        replacement: str | None = None,
        corrections: Sequence[Correction] = (),
        known_names: Sequence[str] = (),
    ) -> None:
        super().__init__(parameter, reason)
        self.parameter = parameter
        self.reason = reason
        self.term = term
        self.at = at
        self.code: BadTermCode = code
        self.replacement = replacement
        self.corrections = corrections
        self.known_names = known_names

    def __str__(self) -> str:
        place = f"{self.parameter}, {self.term[:80]!r} at character {self.at + 1}: " if self.term else ""
        return place + self.advice()

    def advice(self, quote: Callable[[str], str] = str) -> str:
        """Return the error message without the term and its position.

        The message has the reason, the corrections and the known names. ``quote`` formats the text of each correction.
        """
        corrections = (
            f" {purpose}, write {quote(text)}." if purpose else f" Write {quote(text)}."
            for text, purpose in self.corrections
        )
        known_names = f" Known names: {', '.join(self.known_names)}." if self.known_names else ""
        return self.reason + "".join(corrections) + known_names


class Term(msgspec.Struct, frozen=True):
    """A condition that the field ``name`` equals one of ``values`` or starts with one of ``prefixes``.

    If ``negated``, records that satisfy the condition are excluded. ``name`` is one of NAMES (except
    ``namespace_prefix``) or ``property.<name>``. Values are written as in the record. For example, timestamps are in
    microseconds. A ``failed`` value is "true" or "false". A ``status`` value is a status such as "200", a class such as
    "4xx", or "error". A value of a number field is a comparison operator and a number, such as ``>2000.0``, or UNKNOWN.
    Only fields that ``term_values.allows_prefix`` accepts have ``prefixes``. In a prefix of a term in SECTIONS, all
    words except the last must match as whole words.
    """

    name: str
    values: tuple[str, ...]
    negated: bool = False
    prefixes: tuple[str, ...] = ()


class Filter(msgspec.Struct, frozen=True):
    """A list of terms that must all match. A filter without terms matches the whole log."""

    terms: tuple[Term, ...] = ()


class Cursor(msgspec.Struct, frozen=True):
    """The position from which a page is read.

    If ``direction`` is "older", the page has only records whose ``seq`` is lower than the cursor's ``seq``. If it is
    "newer", the page has only records whose ``seq`` is higher.
    """

    direction: Literal["older", "newer"]
    seq: int

    def __str__(self) -> str:
        return f"{self.direction[0]}{self.seq}"


_NO_TEXT: Final = words.SearchText()


def parse_cursor(text: str, *, only_older: bool = False) -> Cursor:
    """Parse a cursor written by ``str(cursor)``. Raises BadFilter if the cursor is invalid.

    With ``only_older``, a cursor with the direction "newer" is also invalid.
    """
    found = _CURSOR.fullmatch(text)
    if found is None or (only_older and found[1] != "o"):
        expected = "next_cursor" if only_older else "next_cursor or newer_cursor"
        raise BadFilter("cursor", f"cursor is {text[:80]!r}: expected the {expected} of an earlier response.")
    return Cursor("older" if found[1] == "o" else "newer", int(found[2]))


def parse_limit(text: str, default: int = 50) -> int:
    """Parse a page size from 1 to 500, or return ``default`` if the text is empty.

    Raises BadFilter if the text is invalid.
    """
    if not text:
        return default
    if not (_LIMIT.fullmatch(text) and 1 <= int(text) <= MAX_LIMIT):
        raise BadFilter("limit", f"limit is {text[:80]!r}: expected an integer from 1 to {MAX_LIMIT}.")
    return int(text)


class Sort(NamedTuple):
    """An order of requests by a number: the name of its field, and whether the lowest value comes first."""

    field: str
    is_ascending: bool = False


def parse_sort(field: str, direction: str = "desc") -> Sort:
    """Parse the name of a sort field and a direction, ``desc`` or ``asc``. Raises BadFilter."""
    if field not in SORT_FIELDS:
        raise BadFilter("sort", f"sort is {field[:80]!r}: expected one of {', '.join(SORT_FIELDS)}.")
    if direction not in get_args(Direction):
        raise BadFilter("order", f"order is {direction[:80]!r}: expected one of {', '.join(get_args(Direction))}.")
    return Sort(field, direction == "asc")


def matches(filter_: Filter, record: Record, indexed_text: words.SearchText = _NO_TEXT, full_text: str = "") -> bool:
    """Return whether a record matches the filter. This function defines the semantics that every store must implement.

    Words are searched in ``indexed_text``, which is the indexed part of prompt and response. Substrings are searched in
    ``full_text``, which is the whole text of prompt and response.
    """
    return all(_satisfies(term, record, indexed_text, full_text) != term.negated for term in filter_.terms)


def needs_text(filter_: Filter) -> bool:
    """Return whether the filter searches prompt and response, which are not part of the record."""
    return any(term.name in SECTIONS or term.name == CONTAINS for term in filter_.terms)


def comparison(value: str) -> tuple[str, float]:
    """Split a numeric value such as ``>=2000.0`` into the operator (``> >= < <= =``) and the number."""
    sign = value[: 2 if value[1:2] == "=" else 1]
    return sign, float(value[len(sign) :])


def section_text(name: str, text: words.SearchText) -> str:
    """Return the text that the term ``name`` searches for words."""
    return words.SEPARATOR.join(getattr(text, section) for section in SECTIONS[name])


def _satisfies(term: Term, record: Record, indexed_text: words.SearchText, full_text: str) -> bool:
    if term.name in SECTIONS:
        text = section_text(term.name, indexed_text)
        return any(words.contains(text, phrase) for phrase in term.values) or any(
            words.contains(text, phrase, is_prefix=True) for phrase in term.prefixes
        )
    if term.name == CONTAINS:
        return any(words.has_substring(full_text, substring) for substring in term.values)
    if any(_has(term.name, value, record) for value in term.values):
        return True
    return bool(term.prefixes) and any(text.startswith(term.prefixes) for text in _texts(term.name, record))


def _texts(name: str, record: Record) -> list[str]:
    """Return the values of a text field. The list is empty if the value is unknown."""
    if name == LABEL:
        return [each.label for each in record.feedback if each.label is not None]
    if name.startswith("property."):
        text = record.properties.get(name.removeprefix("property."))
    else:
        text = getattr(record, name)
    return [] if text is None else [text]


def _has(name: str, value: str, record: Record) -> bool:
    if name in NUMBERS:
        return _compares(value, number_of(NUMBERS[name].field)(record))
    if name in WITH_ANY and value == ANY:
        return bool(getattr(record, NOTE_FIELDS.get(name, name)))
    if name in NOTE_FIELDS:
        return (name, value) in record.codes
    match name:
        case "score":
            return any(_compares(value, each.score) for each in record.feedback)
        case "feedback":
            return bool(record.feedback) == (value == "any")
        case "from":
            return record.started_at >= int(value)
        case "to":
            return record.started_at < int(value)
        case "failed":
            return record.failed == (value == "true")
        case "status":
            return _has_status(value, record)
        case "result":
            return result_of(record).code == value
    return value in _texts(name, record)


_SIGNS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
}


def _compares(value: str, number: float | None) -> bool:
    """Return whether the number satisfies the comparison. An unknown number satisfies only the value UNKNOWN."""
    if value == UNKNOWN:
        return number is None
    sign, other = comparison(value)
    return number is not None and _SIGNS[sign](number, other)


def _has_status(value: str, record: Record) -> bool:
    if value == "error":
        return record.failed
    if record.status is None:
        return False
    return record.status // 100 == int(value[0]) if value.endswith("xx") else record.status == int(value)
