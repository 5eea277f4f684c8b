"""Suggest texts for the part of a query at the caret. This module does no I/O.

The texts are field names, values from the log, bounds such as ``>2s``, and the fixed values of some fields. For a word
without a name, filters by the values that contain it are suggested.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from relaybook.log.descriptions import FIELDS
from relaybook.log.numbers import Unit
from relaybook.log.query.filters import NUMBERS, BadFilter
from relaybook.log.query.found_values import FoundValue
from relaybook.log.query.language import QueryPart, parts_of, written_name, written_value
from relaybook.log.query.parameters import parse_filter
from relaybook.log.query.term_values import CHOICES, LISTED_FIELDS, canonical_name

#: Returns the values of a field that start with a prefix, each with its number of requests, most frequent first.
ListValues: TypeAlias = Callable[[str, str], Iterable[tuple[str, int]]]
#: Returns values of all fields that contain a text, best match first.
FindValues: TypeAlias = Callable[[str], Iterable[FoundValue]]


class KnownValues(NamedTuple):
    """The values of the log."""

    list_values: ListValues
    find: FindValues


#: Values are found for a text of at least this length.
_MIN_FOUND: Final = 2
#: Filters for words that people use for them, with their meanings.
_FILTERS: Final = {
    "bad": ("score:<0", "requests with bad feedback"),
    "good": ("score:>0", "requests with good feedback"),
    "failed": ("failed:true", "failed requests"),
    "errors": ("status:error", "all failed requests"),
    "running": ("outcome:open", "requests that are still running"),
}

_BOUND: Final = re.compile(r"(>=|<=|>|<)?(-?\d+(?:\.\d+)?)", re.ASCII)
_UNITS: Final[dict[Unit, tuple[str, ...]]] = {
    "milliseconds": ("s", "ms", "m"),
    "bytes": ("kB", "MB", ""),
    "share": ("%",),
}


class Item(NamedTuple):
    """A suggestion: the text to insert, the text to show, its meaning, and the number of requests with this value."""

    insert: str
    label: str
    hint: str | None = None
    requests: int | None = None
    #: Whether this is a whole filter for a text without a name.
    is_filter: bool = False


class Completion(NamedTuple):
    """Suggestions for the text between two offsets of a query, in code points. Each suggestion replaces this text."""

    start: int
    end: int
    items: list[Item]


def complete(text: str, caret: int, known: KnownValues) -> Completion:
    """Return suggestions for the part of the query at the caret, or for a new part if no part is at the caret."""
    part = _part_before(text, caret)
    if part is None or not part.name:
        items = [] if part is not None and part.is_quoted else list(_names(part, known.list_values))
        if part is not None and not part.has_star:
            items += map(_whole, _filters(part, known.find))
    else:
        items = [_whole(item) for item in _values(part, known.list_values) if _is_valid(item)]
    start, end = (caret, caret) if part is None else (part.start, _end_of_part(text, part, caret))
    # The inserted text ends with a space, so it replaces the spaces after the caret.
    while items and items[0].insert.endswith(" ") and end < len(text) and text[end].isspace():
        end += 1
    return Completion(start, end, items)


def _part_before(text: str, caret: int) -> QueryPart | None:
    """Return the part directly before the caret, cut off at the caret. `None` if there is no such part."""
    before = text[:caret]
    last = next(reversed(parts_of(before)), None)
    return last if last is not None and last.end == caret else None


def _end_of_part(text: str, part: QueryPart, caret: int) -> int:
    """Return the offset in the query ``text`` at which the part at the caret ends.

    ``part`` is the beginning of this part, cut off at the caret. If the whole part is not quoted correctly, for example
    because its closing quote is not typed yet, the part ends at the next white space.
    """
    whole = next(each for each in parts_of(text) if each.start == part.start)
    is_valid = not whole.is_open and (whole.end == len(text) or text[whole.end].isspace())
    if whole.end >= caret and is_valid:
        return whole.end
    while caret < len(text) and not text[caret].isspace():
        caret += 1
    return caret


def _whole(item: Item) -> Item:
    return item._replace(insert=f"{item.insert} ")


def _names(part: QueryPart | None, list_values: ListValues) -> Iterator[Item]:
    typed = part.value if part else ""
    minus = "-" if part and part.negated else ""
    for name, field in FIELDS.items():
        if name.startswith(typed) and not (minus and name in ("from", "to")):
            yield Item(f"{minus}{name}:", f"{minus}{name}:", field.hint)
    for name, requests in list_values("property", ""):
        written = f"{written_name(f'property.{name}')}:"
        if name.startswith(typed) or written.startswith(typed):
            yield Item(minus + written, minus + written, "property", requests)


def _filters(part: QueryPart, find: FindValues) -> Iterator[Item]:
    """Yield filters for a text without a name: by a value that contains the text, or by its meaning."""
    if len(part.value) < _MIN_FOUND:
        return
    minus = "-" if part.negated else ""
    for word, (filter_, meaning) in _FILTERS.items():
        if word.startswith(part.value.lower()):
            yield Item(minus + filter_, minus + filter_, meaning, is_filter=True)
    for field, value, requests in find(part.value):
        label = FIELDS[field].label if field in FIELDS else field.removeprefix("property.")
        written = f"{minus}{written_name(field)}:{written_value(value)}"
        yield Item(written, value, label, requests, is_filter=True)


def _values(part: QueryPart, list_values: ListValues) -> Iterator[Item]:
    name = canonical_name(part.name)
    if name is None:
        return
    before = f"{'-' if part.negated else ''}{written_name(part.name)}:"
    field = FIELDS.get(name)
    if field is not None and field.bounds:
        yield from (Item(before + bound, bound) for bound in _bounds(name, field.bounds, part.value))
    elif field is not None and (field.choices or name in CHOICES):
        for value in field.choices or CHOICES[name]:
            if value.startswith(part.value):
                yield Item(before + value, value, field.choices.get(value))
    elif name in LISTED_FIELDS or name.startswith("property."):
        found = list(list_values(name, part.value))
        for value, requests in found:
            yield Item(before + written_value(value), value, requests=requests)
        if len(found) > 1 and part.value and not part.is_quoted:
            yield Item(f"{before}{part.value}*", f"{part.value}*", "all values with this prefix")


def _is_valid(item: Item) -> bool:
    try:
        parse_filter([("q", item.insert)], 0)
    except BadFilter:
        return False
    return True


def _bounds(name: str, suggested: Iterable[str], typed: str) -> Iterator[str]:
    """Yield bounds, such as ``>2s``, for the text that was typed as the value of the field ``name``.

    A typed number is yielded with each possible unit. If no operator was typed, both ``>`` and ``<`` are put before the
    number. If the text is not a number, the bounds in ``suggested`` that begin with the text are yielded.
    """
    match = _BOUND.fullmatch(typed)
    if match is None:
        yield from (bound for bound in suggested if bound.startswith(typed))
        return
    units = _UNITS.get(NUMBERS[name].unit, ("",)) if name in NUMBERS else ("",)
    operators = (match[1],) if match[1] else (">", "<")
    yield from (f"{operator}{match[2]}{unit}" for operator in operators for unit in units)
