"""Parse query parameters into a filter. Unknown names and invalid values are rejected."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from relaybook.clock import format_timestamp
from relaybook.log.query.filters import CONTAINS, NAMES, NUMBERS, SCORE, SECTIONS, BadFilter, Correction, Filter, Term
from relaybook.log.query.language import parameters_of
from relaybook.log.query.term_values import Parameter, checked_value, parameter_value, parse_parameter
from relaybook.settings.suggestions import suggest

MAX_VALUES: Final = 100
#: The page exports selected requests by their ids.
MAX_IDS: Final = 1_000
#: Error messages show at most this many characters of a name or a value.
_MAX_SHOWN: Final = 80
#: If one of these fields has several values, all values must match. For any other field, one matching value is enough.
ALL_MUST_MATCH: Final = frozenset({*SECTIONS, *NUMBERS, SCORE})


def parse_filter(pairs: Iterable[tuple[str, str]], now_us: int, other_names: Sequence[str] = ()) -> Filter:
    """Parse pairs of name and value into a filter.

    Relative times are relative to ``now_us``. ``other_names`` are parameters that the caller parses. Error messages
    list them as valid names. Valid names are NAMES, ``property.<name>`` and ``q``. All names except ``q``, ``from`` and
    ``to`` can have the prefix ``not.``. Names of fields with free text can have the prefix ``begins.`` or
    ``not.begins.``.

    Raises BadFilter if a name is unknown, a value is invalid, a name has too many values, the time range is empty, or a
    substring search has no start time. Also raises BadFilter if ``from``, ``to`` or ``q`` is repeated.
    """
    queries: list[str] = []
    rest: list[tuple[str, str]] = []
    for name, value in pairs:
        if name == "q":
            queries.append(value)
        else:
            rest.append((name, value))
    if len(queries) > 1:
        raise BadFilter("q", "q is repeated. Combine the queries into one q.")
    terms = _terms(rest, now_us, other_names)
    for query in queries:
        # The query is parsed into separate terms. So if a field is in the query and in a parameter, both must match.
        terms += _terms(parameters_of(query, now_us), now_us, ())
    _reject_unbounded_search(terms)
    _reject_empty_range(terms)
    return Filter(tuple(terms))


def parse_flag(name: str, text: str | None, *, default: bool) -> bool:
    """Parse the value of a parameter that is true or false. Raises BadFilter."""
    if text not in (None, "true", "false"):
        raise BadFilter(name, f"{name} is {text[:_MAX_SHOWN]!r}: expected true or false.")
    return default if text is None else text == "true"


def parameters_of_filter(filter_: Filter) -> list[tuple[str, str | None]]:
    """Return the terms of a filter as query parameters.

    If several terms have the same name, the result does not show which value belongs to which term. For a term without
    values, the value is `None`.
    """
    pairs: list[tuple[str, str | None]] = []
    for term in filter_.terms:
        exact = str(Parameter(term.name, term.negated, is_prefix=False))
        prefix = str(Parameter(term.name, term.negated, is_prefix=True))
        pairs += [(exact, parameter_value(term.name, value)) for value in term.values]
        pairs += [(prefix, value) for value in term.prefixes]
        if not (term.values or term.prefixes):
            pairs.append((exact, None))
    return pairs


def _terms(pairs: Iterable[tuple[str, str]], now_us: int, other_names: Sequence[str]) -> list[Term]:
    """Parse names and values of query parameters into terms, in the order in which the names first occur."""
    groups: dict[tuple[str, bool, int], tuple[list[str], list[str]]] = {}
    counts: Counter[tuple[str, bool]] = Counter()
    for raw_name, value in pairs:
        parameter = parse_parameter(raw_name)
        if parameter is None:
            wanted = raw_name.removeprefix("not.").removeprefix("begins.")
            first, dot, rest = wanted.partition(".")
            suggestion = suggest(wanted, (*NAMES, *other_names))
            prefix = raw_name.removesuffix(wanted)
            property_term = f"{prefix}property.{wanted}={value if len(value) <= _MAX_SHOWN else '…'}"
            is_name = wanted[:1].isalpha() and len(wanted) <= _MAX_SHOWN
            corrections = [Correction(property_term, "To filter by a property")] if is_name else []
            if dot and rest and suggest(first, ("property",)):
                suggestion, corrections = f" Did you mean property.{rest[:_MAX_SHOWN]}?", []
            known = ", ".join((*NAMES, "property.<name>", "q", *other_names))
            reason = f"{raw_name[:_MAX_SHOWN]!r} is not a known parameter.{suggestion or f' Known: {known}.'}"
            raise BadFilter(raw_name, reason, corrections=corrections)
        name, negated, is_prefix = parameter
        if name in ("from", "to") and (negated or counts[name, negated]):
            raise BadFilter(raw_name, f"{raw_name} cannot be repeated or negated.")
        key = (name, negated, len(groups) if name in ALL_MUST_MATCH else 0)
        values = groups.setdefault(key, ([], []))[is_prefix]
        values.append(checked_value(name, value, now_us, raw_name, is_prefix=is_prefix))
        counts[name, negated] += 1
        most = MAX_IDS if name == "id" else MAX_VALUES
        if counts[name, negated] > most:
            raise BadFilter(raw_name, f"{raw_name} has more than {most:,} values. Send fewer values per request.")
    return [
        Term(name, tuple(exact), negated, tuple(prefixes)) for (name, negated, _), (exact, prefixes) in groups.items()
    ]


def _reject_unbounded_search(terms: Iterable[Term]) -> None:
    """Raise BadFilter if a substring search has no start time.

    A substring search reads the text of every request in the time range.
    """
    names = {term.name for term in terms}
    if CONTAINS in names and "from" not in names:
        message = (
            f"{CONTAINS} needs a start time, because it reads every request in the time range. Set from to a "
            "start time, such as -1h."
        )
        raise BadFilter(CONTAINS, message)


def _reject_empty_range(terms: Iterable[Term]) -> None:
    """Raise BadFilter if the time range is empty. An empty result would be misleading."""
    start = max((int(term.values[0]) for term in terms if term.name == "from"), default=None)
    end = min((int(term.values[0]) for term in terms if term.name == "to"), default=None)
    if start is not None and end is not None and start >= end:
        bounds = f"from is {format_timestamp(start)} and to is {format_timestamp(end)}"
        raise BadFilter("from", f"{bounds}: the start (from) must be before the end (to).")
