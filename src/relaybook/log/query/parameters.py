"""Reads query parameters into a filter: every name known, every value possible, or refused by name. Pure."""

from collections.abc import Iterable, Sequence
from typing import Final

from relaybook.clock import format_timestamp
from relaybook.log.query.filters import CONTAINS, NAMES, NUMBERS, BadFilter, Filter, Term
from relaybook.log.query.language import parse_query
from relaybook.log.query.values import canonical_name, checked_value
from relaybook.settings.suggestions import suggest

MAX_VALUES: Final = 100


def parse_filter(pairs: Iterable[tuple[str, str]], now_us: int, also: Sequence[str] = ()) -> Filter:
    """Reads pairs of name and value; ``now_us`` anchors relative times, ``also`` are names that others read.

    Names are those of NAMES, ``property.<name>``, both with ``not.`` before them, and ``q``. Raises BadFilter for any
    other, for a value its name cannot have, and for ``from``, ``to`` or ``q`` given twice.
    """
    wanted: dict[tuple[str, bool], list[str]] = {}
    query: str | None = None
    for raw_name, value in pairs:
        if raw_name == "q":
            if query is not None:
                raise BadFilter("q", "q can be given once: write all of it in one.")
            query = value
            continue
        negated = raw_name.startswith("not.")
        name = canonical_name(raw_name.removeprefix("not."))
        if name is None:
            near = suggest(raw_name.removeprefix("not."), (*NAMES, *also))
            meant = near or f" Known: {', '.join((*NAMES, 'property.<name>', 'q', *also))}."
            raise BadFilter(raw_name, f"{raw_name[:80]!r} is not a parameter here.{meant}")
        if name in ("from", "to") and (negated or (name, negated) in wanted):
            raise BadFilter(raw_name, f"{raw_name} can be given once and not be negated.")
        values = wanted.setdefault((name, negated), [])
        values.append(checked_value(name, value, now_us, raw_name))
        if len(values) > MAX_VALUES:
            raise BadFilter(raw_name, f"{raw_name} has more than {MAX_VALUES} values: ask for fewer at a time.")
    terms = [term for (name, negated), values in wanted.items() for term in terms_of(name, values, negated)]
    terms += parse_query(query, now_us) if query is not None else ()
    _refuse_boundless(terms)
    _refuse_empty_span(terms)
    return Filter(tuple(terms))


def _refuse_boundless(terms: Iterable[Term]) -> None:
    """A piece of text is looked for in request after request."""
    names = {term.name for term in terms}
    if CONTAINS in names and "from" not in names:
        message = f"{CONTAINS} reads every request since a moment, and there is none: add from, such as from=-1h."
        raise BadFilter(CONTAINS, message)


def _refuse_empty_span(terms: Iterable[Term]) -> None:
    """Nothing can have started in it, so an empty answer would only look like one."""
    start = max((int(term.values[0]) for term in terms if term.name == "from"), default=None)
    end = min((int(term.values[0]) for term in terms if term.name == "to"), default=None)
    if start is not None and end is not None and start >= end:
        shown = f"from is {format_timestamp(start)} and to is {format_timestamp(end)}"
        raise BadFilter("from", f"{shown}: there is no time between them, give a from that is before to.")


def terms_of(name: str, values: list[str], negated: bool) -> Iterable[Term]:
    """Several values of one name mean any of them; several bounds of a number must all hold."""
    if name == "namespace_prefix":
        return (Term("namespace", (), negated, tuple(values)),)
    if name in NUMBERS:
        return (Term(name, (value,), negated) for value in values)
    return (Term(name, tuple(values), negated),)
