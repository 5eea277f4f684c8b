"""Parse query parameters into a filter. Unknown names and invalid values are rejected. Pure: no I/O."""

from collections.abc import Iterable, Sequence
from typing import Final

from relaybook.clock import format_timestamp
from relaybook.log.query.filters import CONTAINS, NAMES, NUMBERS, BadFilter, Filter, Term
from relaybook.log.query.language import parse_query
from relaybook.log.query.values import canonical_name, checked_value
from relaybook.settings.suggestions import suggest

MAX_VALUES: Final = 100


def parse_filter(pairs: Iterable[tuple[str, str]], now_us: int, other_names: Sequence[str] = ()) -> Filter:
    """Parse pairs of name and value into a filter.

    Relative times are relative to ``now_us``. ``other_names`` are parameters that the caller parses itself; error
    messages list them. Names are those of NAMES and ``property.<name>``, optionally preceded by ``not.``, and ``q``.
    Raises BadFilter if a name is unknown, a value is invalid, or ``from``, ``to`` or ``q`` is repeated.
    """
    values_by_name: dict[tuple[str, bool], list[str]] = {}
    query: str | None = None
    for raw_name, value in pairs:
        if raw_name == "q":
            if query is not None:
                raise BadFilter("q", "q is repeated. Combine the queries into one q.")
            query = value
            continue
        negated = raw_name.startswith("not.")
        name = canonical_name(raw_name.removeprefix("not."))
        if name is None:
            suggestion = suggest(raw_name.removeprefix("not."), (*NAMES, *other_names))
            hint = suggestion or f" Known: {', '.join((*NAMES, 'property.<name>', 'q', *other_names))}."
            raise BadFilter(raw_name, f"{raw_name[:80]!r} is not a known parameter.{hint}")
        if name in ("from", "to") and (negated or (name, negated) in values_by_name):
            raise BadFilter(raw_name, f"{raw_name} cannot be repeated or negated.")
        values = values_by_name.setdefault((name, negated), [])
        values.append(checked_value(name, value, now_us, raw_name))
        if len(values) > MAX_VALUES:
            raise BadFilter(raw_name, f"{raw_name} has more than {MAX_VALUES} values. Send fewer per request.")
    terms = [term for (name, negated), values in values_by_name.items() for term in terms_of(name, values, negated)]
    terms += parse_query(query, now_us) if query is not None else ()
    _reject_unbounded_search(terms)
    _reject_empty_range(terms)
    return Filter(tuple(terms))


def _reject_unbounded_search(terms: Iterable[Term]) -> None:
    """Raise BadFilter if a substring search has no start time: it reads the text of every request in the range."""
    names = {term.name for term in terms}
    if CONTAINS in names and "from" not in names:
        message = (
            f"{CONTAINS} needs a start time because it reads every request in the range. Add from, such as from=-1h."
        )
        raise BadFilter(CONTAINS, message)


def _reject_empty_range(terms: Iterable[Term]) -> None:
    """Raise BadFilter if the time range is empty. An empty result would be misleading."""
    start = max((int(term.values[0]) for term in terms if term.name == "from"), default=None)
    end = min((int(term.values[0]) for term in terms if term.name == "to"), default=None)
    if start is not None and end is not None and start >= end:
        bounds = f"from is {format_timestamp(start)} and to is {format_timestamp(end)}"
        raise BadFilter("from", f"{bounds}: the time in from must be before the time in to.")


def terms_of(name: str, values: list[str], negated: bool) -> Iterable[Term]:
    """Return the terms of a parameter. A text term matches any of its values; bounds of a number must all hold."""
    if name == "namespace_prefix":
        return (Term("namespace", (), negated, tuple(values)),)
    if name in NUMBERS:
        return (Term(name, (value,), negated) for value in values)
    return (Term(name, tuple(values), negated),)
