"""What the reference store's questions come to: pages, lists of namespaces and values, statistics, all made anew."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from relaybook.log.aggregate.aggregates import MOST_TOKENS, Aggregates, Share, share
from relaybook.log.aggregate.stats import Points, Question, Stats, build, grouped, span_of
from relaybook.log.namespaces import Label, parse_place, place_of
from relaybook.log.query.filters import BadFilter, Cursor
from relaybook.log.record import Record
from relaybook.log.store.port import NamespaceRow, NamespaceSort, Page, ValueCount

#: Fields whose values are counted; ``property`` and ``property.<name>`` are counted as well.
_COUNTED: Final = ("namespace", "model", "user", "key", "finish_reason")


def namespace_rows(records: Iterable[Record], labels: Mapping[str, Label]) -> list[NamespaceRow]:
    """Every namespace that has a request or was decided on."""
    by_name: dict[str, list[Record]] = {name: [] for name in labels}
    for record in records:
        by_name.setdefault(record.namespace, []).append(record)
    return [_row(name, found, labels.get(name) or Label()) for name, found in by_name.items()]


def _row(name: str, records: list[Record], label: Label) -> NamespaceRow:
    return NamespaceRow(
        namespace=name,
        requests=len(records),
        failed=sum(record.failed for record in records),
        input_tokens=sum(min(record.input_tokens or 0, MOST_TOKENS) for record in records),
        output_tokens=sum(min(record.output_tokens or 0, MOST_TOKENS) for record in records),
        cost_usd=sum(costs) if (costs := [one.cost_usd for one in records if one.cost_usd is not None]) else None,
        first_at=min((record.started_at for record in records), default=0),
        last_at=max((record.started_at for record in records), default=0),
        pinned=label.pinned,
        color=label.color,
        group=label.group,
        position=label.position,
    )


def namespaces(
    rows: Iterable[NamespaceRow], prefix: str, sort: NamespaceSort, limit: int, after: str | None, pinned: bool | None
) -> tuple[list[NamespaceRow], str | None]:
    """A page of them, see ``Reader.namespaces``."""
    place = parse_place(after, sort) if after is not None else None
    shown = [
        row
        for row in rows
        if row.namespace.startswith(prefix)
        and (row.requests or row.pinned)
        and (pinned is None or row.pinned == pinned)
    ]
    shown.sort(key=lambda row: (-(getattr(row, sort) or 0), row.namespace))
    if place is not None:
        shown = [row for row in shown if (-(getattr(row, sort) or 0), row.namespace) > (-place.figure, place.namespace)]
    more = len(shown) > limit
    return shown[:limit], str(place_of(shown[limit - 1], sort)) if more else None


def values(records: Iterable[Record], field: str, prefix: str, limit: int) -> list[ValueCount]:
    """Values of one field, see ``Reader.values``."""
    if field not in _COUNTED and field != "property" and not field.startswith("property."):
        known = ", ".join(_COUNTED)
        raise BadFilter("field", f"{field[:80]!r} has no list of values. Known: {known}, property.<name>.")
    found = (value for record in records for value in _values_of(record, field) if value.startswith(prefix))
    ranked = sorted(Counter(found).items(), key=lambda item: (-item[1], item[0]))
    return [ValueCount(value=value, requests=requests) for value, requests in ranked[:limit]]


def _values_of(record: Record, field: str) -> Iterator[str]:
    if field == "property":
        yield from record.properties
        return
    if field.startswith("property."):
        value = record.properties.get(field.removeprefix("property."))
    else:
        value = getattr(record, field)
    if value is not None:
        yield value


def stats(records: Sequence[Record], found: Sequence[Record], question: Question) -> Stats:
    """See ``Reader.stats``; ``records`` are all there are, ``found`` those that the question wants."""
    span = span_of(question, min((record.started_at for record in records), default=None))
    shares: defaultdict[tuple[str | None, int], list[Share]] = defaultdict(list)
    for record in found:
        if span.from_us <= record.started_at < span.to_us:
            value = None if question.by is None else next(_values_of(record, question.by), None)
            shares[value, record.started_at // span.bucket_us * span.bucket_us].append(share(record))
    parts: defaultdict[str | None, Points] = defaultdict(dict)
    for (value, at), some in shares.items():
        parts[value][at] = Aggregates.of(some)
    return build(span, grouped(parts), "log")


def page(records: list[Record], found: list[Record]) -> Page:
    """``records`` latest first, out of all that are ``found``."""
    if not records:
        return Page(records=[], next_cursor=None, newer_cursor=None)
    oldest = seq_of(records[-1])
    return Page(
        records=records,
        next_cursor=Cursor("older", oldest) if any(seq_of(record) < oldest for record in found) else None,
        newer_cursor=Cursor("newer", seq_of(records[0])),
    )


def seq_of(record: Record) -> int:
    """Of a stored record."""
    assert record.seq is not None
    return record.seq
