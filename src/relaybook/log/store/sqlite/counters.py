"""Adds up what a batch changes in the counters: namespaces, values of fields, spans of time.

Readers never count the log. The sums of a batch are made here, in memory, so that the database sees one update per
namespace or value and batch, not one per record.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Final

from relaybook.log.aggregate.aggregates import MOST_TOKENS
from relaybook.log.record import Record
from relaybook.log.store.sqlite.schema import BLOCK

#: Fields whose values are counted: for pickers, and to know which condition of a filter is the rarest.
COUNTED_FIELDS: Final = ("model", "key", "finish_reason", "kind", "outcome", "status", "failed")
_facets: Final = attrgetter(*COUNTED_FIELDS)

ADD_NAMESPACES: Final = """
INSERT INTO namespaces (namespace, requests, failed, input_tokens, output_tokens, cost_usd, costed, first_at, last_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
  first_at = CASE requests WHEN 0 THEN excluded.first_at ELSE min(first_at, excluded.first_at) END,
  last_at = max(last_at, excluded.last_at),
  requests = requests + excluded.requests, failed = failed + excluded.failed,
  input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
  cost_usd = cost_usd + excluded.cost_usd, costed = costed + excluded.costed
"""
ADD_VALUES: Final = """
INSERT INTO value_counts (field, value, requests) VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET requests = requests + excluded.requests
"""
ADD_SPANS: Final = """
INSERT INTO spans (block, first_at, last_at, requests, failed) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
  first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at),
  requests = requests + excluded.requests, failed = failed + excluded.failed
"""


class _NamespaceAggregate:
    """What one batch adds to one namespace."""

    __slots__ = ("cost_usd", "costed", "failed", "first_at", "input_tokens", "last_at", "output_tokens", "requests")

    def __init__(self, started_at: int) -> None:
        self.requests = self.failed = self.input_tokens = self.output_tokens = self.costed = 0
        self.cost_usd = 0.0
        self.first_at = self.last_at = started_at


def namespace_sums(records: Iterable[Record]) -> list[tuple[object, ...]]:
    """Parameters of ADD_NAMESPACES, sorted by name."""
    sums: dict[str, _NamespaceAggregate] = {}
    for record in records:
        total = sums.get(record.namespace)
        if total is None:
            total = sums[record.namespace] = _NamespaceAggregate(record.started_at)
        total.requests += 1
        total.failed += record.failed
        total.input_tokens += min(record.input_tokens or 0, MOST_TOKENS)
        total.output_tokens += min(record.output_tokens or 0, MOST_TOKENS)
        if record.cost_usd is not None:
            total.cost_usd += record.cost_usd
            total.costed += 1
        if record.started_at < total.first_at:
            total.first_at = record.started_at
        elif record.started_at > total.last_at:
            total.last_at = record.started_at
    return [
        (name, s.requests, s.failed, s.input_tokens, s.output_tokens, s.cost_usd, s.costed, s.first_at, s.last_at)
        for name, s in sorted(sums.items())
    ]


def value_sums(records: Sequence[Record]) -> list[tuple[str, str, int]]:
    """Parameters of ADD_VALUES, sorted. A record's fields are counted together first: few combinations occur."""
    sums: Counter[tuple[str, str]] = Counter()
    for values, requests in Counter(map(_facets, records)).items():
        for field, value in zip(COUNTED_FIELDS, values, strict=True):
            if value is not None and value is not False:
                sums[field, counted_text(value)] += requests
    sums.update(("user", record.user) for record in records if record.user is not None)
    pairs = Counter(pair for record in records for pair in record.properties.items())
    for (name, value), requests in pairs.items():
        sums["property", name] += requests
        sums[f"property.{name}", value] += requests
    sums.update(("warning", code) for record in records for code in {note.code for note in record.warnings})
    sums.update(("advice", code) for record in records for code in {note.code for note in record.advice})
    return sorted((field, value, requests) for (field, value), requests in sums.items())


def counted_text(value: object) -> str:
    """The text under which a value is counted: what a filter's term would say."""
    return "true" if value is True else str(value)


def spans(records: Sequence[Record], first_seq: int) -> list[tuple[int, int, int, int, int]]:
    """Parameters of ADD_SPANS for records with rising ``seq`` from ``first_seq`` on."""
    rows = []
    start = 0
    while start < len(records):
        block = (first_seq + start) // BLOCK
        end = (block + 1) * BLOCK - first_seq
        part = records[start:end]
        starts = [record.started_at for record in part]
        rows.append((block, min(starts), max(starts), len(part), sum([record.failed for record in part])))
        start = end
    return rows
