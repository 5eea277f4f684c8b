"""Suggest likely corrections for a filter value that no request has.

For a text that no request contains, filters by values that contain the text are suggested, such as a user.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from relaybook.log.descriptions import FIELDS
from relaybook.log.query.filters import MAX_LIMIT, SECTIONS, Filter, Term
from relaybook.log.query.term_values import LISTED_FIELDS
from relaybook.log.store.port import Reader
from relaybook.settings.suggestions import closest

#: A text of at least this length is searched anywhere in the known values. A shorter text is searched only at the start
#: of the values, because too many values contain it.
_MIN_PART: Final = 4
#: Maximum number of filters that are suggested for a text.
_MAX_FILTERS: Final = 3


class LikelyValue(msgspec.Struct, frozen=True, kw_only=True):
    """A filter value that no request has, and the likely correction."""

    param: Annotated[str, Meta(description="Name of the parameter.")]
    value: str
    instead: Annotated[tuple[str, str], Meta(description="The corrected parameter, as name and value.")]
    message: str


def likely_values_of(reader: Reader, filter_: Filter, deadline_ns: int) -> list[LikelyValue]:
    """Return likely corrections for a filter that matches no request. Raises DeadlinePassed."""
    return [
        likely for term in filter_.terms if not term.negated for likely in _likely_values(reader, term, deadline_ns)
    ]


def _likely_values(reader: Reader, term: Term, deadline_ns: int) -> Iterator[LikelyValue]:
    if term.name in SECTIONS:
        for text in term.values:
            yield from _filters_by_value(reader, term.name, text, deadline_ns)
        return
    name = term.name.removeprefix("property.")
    if name != term.name:
        properties = _values(reader, "property", "", deadline_ns)
        if name not in properties:
            meant = likely_value(name, properties)
            for value in term.values if meant else ():
                yield _instead(term, value, f"property.{meant}", value, f"has a property {name}", str(meant))
            return
    elif name not in LISTED_FIELDS:
        return
    for value in term.values:
        # A count would read all matches, which can be millions.
        found = reader.page(Filter((Term(term.name, (value,)),)), 1, None, deadline_ns)
        if found.records or not found.complete:
            continue
        what = f"has the {_label(term.name)} {value}"
        with_prefix = _values(reader, term.name, value, deadline_ns) if value else []
        if len(with_prefix) > 1:
            yield _instead(term, value, f"begins.{term.name}", value, what, f"a value that begins with {value}")
            continue
        meant = likely_value(value, [*with_prefix, *_values(reader, term.name, "", deadline_ns)])
        if meant is not None:
            yield _instead(term, value, term.name, meant, what, meant)


def _filters_by_value(reader: Reader, param: str, text: str, deadline_ns: int) -> Iterator[LikelyValue]:
    for field, value, requests in reader.find_values(text, _MAX_FILTERS, deadline_ns).values:
        have = "1 request has" if requests == 1 else f"{requests:,} requests have"
        message = f"{have} the {_label(field)} {value}."
        yield LikelyValue(param=param, value=text, instead=(field, value), message=message)


def _values(reader: Reader, field: str, prefix: str, deadline_ns: int) -> list[str]:
    return [row.value for row in reader.values(field, prefix, MAX_LIMIT, deadline_ns)]


def _label(name: str) -> str:
    return FIELDS[name].label if name in FIELDS else name.removeprefix("property.")


def _instead(term: Term, value: str, param: str, meant: str, what: str, shown: str) -> LikelyValue:
    message = f"No request {what}. Did you mean {shown}?"
    return LikelyValue(param=term.name, value=value, instead=(param, meant), message=message)


def likely_value(value: str, known: Iterable[str]) -> str | None:
    """Return the value in ``known`` that the user probably meant.

    `None` if no value is likely, or if several are equally likely.

    A likely value begins with or contains the given value, differs from it only in case, or is spelled similarly.
    """
    candidates: Sequence[str] = list(dict.fromkeys(known))
    folded = value.casefold()
    same = [other for other in candidates if other.casefold() == folded]
    longer = [other for other in candidates if value and other.startswith(value)]
    containing = [other for other in candidates if len(value) >= _MIN_PART and folded in other.casefold()]
    for found in (same, longer, containing):
        if len(found) == 1:
            return found[0]
    return closest(value, candidates) if not (same or longer or containing) else None
