"""Compute the in-memory store's query results: pages, namespaces, values and statistics.

Each call computes its result from all records.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from relaybook.log.aggregate.aggregates import MAX_TOKENS, Aggregates, Contribution, contribution_of
from relaybook.log.aggregate.stats import Points, Stats, StatsQuery, build, groups_of, span_of
from relaybook.log.feedback import latest_label
from relaybook.log.namespaces import Label, NamespaceQuery, NamespaceRow, cursor_after, order_after, order_of
from relaybook.log.numbers import number_of
from relaybook.log.query.filters import Cursor, Sort
from relaybook.log.query.found_values import FoundValue, FoundValues, best, lower_ascii, values_with
from relaybook.log.query.term_values import check_listed, values_of
from relaybook.log.record import Record
from relaybook.log.store.port import Page, ValueCount


def namespace_rows(records: Iterable[Record], labels: Mapping[str, Label]) -> list[NamespaceRow]:
    """Return a row for every namespace that has a request in ``records`` or a label in ``labels``."""
    by_name: dict[str, list[Record]] = {name: [] for name in labels}
    for record in records:
        by_name.setdefault(record.namespace, []).append(record)
    return [_row(name, matched, labels.get(name) or Label()) for name, matched in by_name.items()]


def _row(name: str, records: list[Record], label: Label) -> NamespaceRow:
    return NamespaceRow(
        namespace=name,
        requests=len(records),
        failed=sum(record.failed for record in records),
        input_tokens=sum(min(record.input_tokens or 0, MAX_TOKENS) for record in records),
        output_tokens=sum(min(record.output_tokens or 0, MAX_TOKENS) for record in records),
        cost_usd=sum(costs)
        if (costs := [record.cost_usd for record in records if record.cost_usd is not None])
        else None,
        first_at=min((record.started_at for record in records), default=0),
        last_at=max((record.started_at for record in records), default=0),
        pinned=label.pinned,
        color=label.color,
        group=label.group,
        position=label.position,
    )


def namespaces(
    rows: Iterable[NamespaceRow], query: NamespaceQuery, limit: int, after: str | None
) -> tuple[list[NamespaceRow], str | None]:
    """Return a page of namespaces; see ``Reader.namespaces``."""
    visible = [
        row
        for row in rows
        if lower_ascii(query.text) in lower_ascii(row.namespace)
        and row.namespace.startswith(query.prefix)
        and (row.requests or row.pinned)
        and (query.pinned is None or row.pinned == query.pinned)
    ]
    if after is not None:
        place = order_after(after, query.sort)
        visible = [row for row in visible if order_of(getattr(row, query.sort), row.namespace) > place]
    visible.sort(key=lambda row: order_of(getattr(row, query.sort), row.namespace))
    more = len(visible) > limit
    return visible[:limit], str(cursor_after(visible[limit - 1], query.sort)) if more else None


def values(records: Iterable[Record], field: str, prefix: str, limit: int) -> list[ValueCount]:
    """Return the values of one field; see ``Reader.values``."""
    check_listed(field)
    matched = (value for record in records for value in values_of(record, field) if value.startswith(prefix))
    ranked = sorted(Counter(matched).items(), key=lambda item: (-item[1], item[0]))
    return [ValueCount(value=value, requests=requests) for value, requests in ranked[:limit]]


def find_values(records: Iterable[Record], text: str, limit: int) -> FoundValues:
    """Return the values that contain the text; see ``Reader.find_values``."""
    counts = Counter(pair for record in records for pair in set(values_with(text, record)))
    return FoundValues(best(text, (FoundValue(*pair, requests) for pair, requests in counts.items()), limit))


def stats(records: Sequence[Record], matched: Sequence[Record], question: StatsQuery) -> Stats:
    """Return statistics; see ``Reader.stats``.

    ``records`` is the whole log. ``matched`` has the records that match the filter of ``question``.
    """
    span = span_of(question, min((record.started_at for record in records), default=None))
    contributions: defaultdict[tuple[str | None, int], list[Contribution]] = defaultdict(list)
    for record in matched:
        if span.from_us <= record.started_at < span.to_us:
            value = None if question.by is None else _group_of(record, question.by)
            contributions[value, record.started_at // span.bucket_us * span.bucket_us].append(contribution_of(record))
    parts: defaultdict[str | None, Points] = defaultdict(dict)
    for (value, at), bucket_shares in contributions.items():
        parts[value][at] = Aggregates.of(bucket_shares)
    return build(span, groups_of(parts), "log")


def _group_of(record: Record, by: str) -> str | None:
    """Return the value by which the record is grouped. A record with several labels is grouped by its latest label."""
    return latest_label(record.feedback) if by == "label" else next(values_of(record, by), None)


def page(records: list[Record], matched: list[Record]) -> Page:
    """Build a page from ``records``, which must be sorted newest first.

    ``matched`` contains all records of the log that match the filter. The page has a ``next_cursor`` if a matching
    record is older than all of ``records``.
    """
    if not records:
        return Page(records=[], next_cursor=None, newer_cursor=None)
    oldest = seq_of(records[-1])
    return Page(
        records=records,
        next_cursor=Cursor("older", oldest) if any(seq_of(record) < oldest for record in matched) else None,
        newer_cursor=Cursor("newer", seq_of(records[0])),
    )


def top(matched: Iterable[Record], sort: Sort, limit: int) -> Page:
    """Return the records with the highest or lowest values; see ``Reader.top``."""
    sign, number = -1 if sort.is_ascending else 1, number_of(sort.field)
    scores = [(sign * value, record) for record in matched if (value := number(record)) is not None]
    scores.sort(key=lambda scored: (scored[0], seq_of(scored[1])), reverse=True)
    return Page(records=[record for _, record in scores[:limit]], next_cursor=None, newer_cursor=None)


def seq_of(record: Record) -> int:
    """Return the ``seq`` of a stored record."""
    assert record.seq is not None
    return record.seq
