"""Compute the amounts that new records add to the counters, and subtract the amounts of removed records.

Namespaces, field values and block ranges have counters, so readers do not need to count records. This module aggregates
a batch in memory. So a batch makes one update per namespace or value instead of one update per record.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, Final

import apsw

from relaybook.log.aggregate.aggregates import MAX_TOKENS
from relaybook.log.numbers import DERIVED
from relaybook.log.record import Record
from relaybook.log.store.number_sql import NUMBER_SQL
from relaybook.log.store.sqlite.schema import BLOCK, BLOCK_EXTREMES

#: Fields whose values are counted. The counts are used in selection lists, and to find the condition of a filter that
#: matches the fewest records.
COUNTED_FIELDS: Final = (
    *("model", "key", "route", "finish_reason", "stream_ended", "kind", "outcome", "status", "failed", "cost_reason"),
)
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
_EXTREME_COLUMNS: Final = ", ".join(column for extremes in BLOCK_EXTREMES.values() for column in extremes)
#: ``coalesce`` is needed because SQLite's ``min`` and ``max`` return NULL if one of its arguments is NULL.
ADD_BLOCK_RANGES: Final = """
INSERT INTO block_ranges (block, first_at, last_at, requests, failed, first_content_at, {columns})
VALUES (?, ?, ?, ?, ?, ?{places})
ON CONFLICT DO UPDATE SET
  first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at),
  requests = requests + excluded.requests, failed = failed + excluded.failed,
  first_content_at = min(coalesce(first_content_at, excluded.first_content_at), excluded.first_content_at), {extremes}
""".format(
    columns=_EXTREME_COLUMNS,
    places=", ?" * 2 * len(BLOCK_EXTREMES),
    extremes=", ".join(
        f"{column} = coalesce({function}({column}, excluded.{column}), {column}, excluded.{column})"
        for extremes in BLOCK_EXTREMES.values()
        for function, column in zip(("min", "max"), extremes, strict=True)
    ),
)
_STORED_NUMBERS: Final = tuple(field for field in BLOCK_EXTREMES if field not in DERIVED)
_stored_numbers: Final = attrgetter(*_STORED_NUMBERS)
_SUBTRACT_FROM_NAMESPACE: Final = """
UPDATE namespaces SET requests = requests - ?2, failed = failed - ?3,
  input_tokens = input_tokens - ?4, output_tokens = output_tokens - ?5,
  cost_usd = CASE costed WHEN ?7 THEN 0.0 ELSE round(max(cost_usd - ?6, 0.0), 10) END, costed = costed - ?7
WHERE namespace = ?1
"""
_SUBTRACT_FROM_VALUE: Final = "UPDATE value_counts SET requests = requests - ? WHERE field = ? AND value = ?"
_RECOUNT_BLOCK: Final = """
INSERT OR REPLACE INTO block_ranges (block, first_at, last_at, requests, failed, first_content_at, {columns})
SELECT :block, min(started_at), max(started_at), count(*), sum(failed),
  min(started_at) FILTER (WHERE bodies IS NOT NULL), {extremes}
FROM requests AS r WHERE seq BETWEEN :block * {size} AND :block * {size} + {size} - 1 HAVING count(*) > 0
""".format(
    columns=_EXTREME_COLUMNS,
    extremes=", ".join(f"min({NUMBER_SQL[field]}), max({NUMBER_SQL[field]})" for field in BLOCK_EXTREMES),
    size=BLOCK,
)
_REMOVE_BLOCK: Final = "DELETE FROM block_ranges WHERE block = ?"
_REMOVE_UNUSED_VALUE: Final = "DELETE FROM value_counts WHERE field = ? AND value = ? AND requests <= 0"


class _NamespaceAggregate:
    """The amounts that one batch adds to the counters of one namespace."""

    __slots__ = ("cost_usd", "costed", "failed", "first_at", "input_tokens", "last_at", "output_tokens", "requests")

    def __init__(self, started_at: int) -> None:
        self.requests = self.failed = self.input_tokens = self.output_tokens = self.costed = 0
        self.cost_usd = 0.0
        self.first_at = self.last_at = started_at


def namespace_counters(records: Iterable[Record]) -> list[tuple[Any, ...]]:
    """Return the parameters of ADD_NAMESPACES: one tuple per namespace, sorted by name."""
    totals: dict[str, _NamespaceAggregate] = {}
    for record in records:
        total = totals.get(record.namespace)
        if total is None:
            total = totals[record.namespace] = _NamespaceAggregate(record.started_at)
        total.requests += 1
        total.failed += record.failed
        total.input_tokens += min(record.input_tokens or 0, MAX_TOKENS)
        total.output_tokens += min(record.output_tokens or 0, MAX_TOKENS)
        if record.cost_usd is not None:
            total.cost_usd += record.cost_usd
            total.costed += 1
        if record.started_at < total.first_at:
            total.first_at = record.started_at
        elif record.started_at > total.last_at:
            total.last_at = record.started_at
    return [
        (
            name,
            total.requests,
            total.failed,
            total.input_tokens,
            total.output_tokens,
            total.cost_usd,
            total.costed,
            total.first_at,
            total.last_at,
        )
        for name, total in sorted(totals.items())
    ]


def value_counters(records: Sequence[Record]) -> list[tuple[str, str, int]]:
    """Return the parameters of ADD_VALUES: field, value and number of requests, sorted.

    For speed, combinations of values are counted first, because only a few different combinations occur.
    """
    totals: Counter[tuple[str, str]] = Counter()
    for values, requests in Counter(map(_facets, records)).items():
        for field, value in zip(COUNTED_FIELDS, values, strict=True):
            if value is not None and value is not False:
                totals[field, value_text(value)] += requests
    totals.update(("user", record.user) for record in records if record.user is not None)
    totals.update(("session", record.session) for record in records if record.session is not None)
    pairs = Counter(pair for record in records for pair in record.properties.items())
    for (name, value), requests in pairs.items():
        totals["property", name] += requests
        totals[f"property.{name}", value] += requests
    totals.update(pair for record in records for pair in record.codes)
    return sorted((field, value, requests) for (field, value), requests in totals.items())


def value_text(value: object) -> str:
    """Return the text under which a value is counted. Terms of filters use the same text for the value."""
    return "true" if value is True else str(value)


def block_ranges(records: Sequence[Record], first_seq: int) -> list[tuple[int | float | None, ...]]:
    """Return the parameters of ADD_BLOCK_RANGES: one tuple per block of records.

    The records are new, so all of them have content. The ``seq`` of the records are consecutive from ``first_seq``.
    """
    rows = []
    start = 0
    while start < len(records):
        block = (first_seq + start) // BLOCK
        end = (block + 1) * BLOCK - first_seq
        block_records = records[start:end]
        starts = [record.started_at for record in block_records]
        failed = sum([record.failed for record in block_records])
        first_at = min(starts)
        rows.append((block, first_at, max(starts), len(block_records), failed, first_at, *_extremes(block_records)))
        start = end
    return rows


def _extremes(records: Sequence[Record]) -> list[int | float | None]:
    """Return the minimum and the maximum of each number, in the order of BLOCK_EXTREMES. `None` if all are unknown."""
    numbers: dict[str, Iterable[int | float | None]] = dict(
        zip(_STORED_NUMBERS, zip(*map(_stored_numbers, records), strict=True), strict=True)
    )
    extremes: list[int | float | None] = []
    for field in BLOCK_EXTREMES:
        values = numbers[field] if field in numbers else map(DERIVED[field], records)
        known = [value for value in values if value is not None]
        extremes += (min(known), max(known)) if known else (None, None)
    return extremes


def subtract(connection: apsw.Connection, records: Sequence[Record]) -> None:
    """Subtract removed records from the counters of namespaces and field values, within the caller's transaction.

    The counters of block ranges stay unchanged. ``recount_blocks`` computes them again.
    """
    connection.executemany(_SUBTRACT_FROM_NAMESPACE, (row[:7] for row in namespace_counters(records)))
    values = value_counters(records)
    connection.executemany(_SUBTRACT_FROM_VALUE, ((requests, field, value) for field, value, requests in values))
    connection.executemany(_REMOVE_UNUSED_VALUE, ((field, value) for field, value, _ in values))


def recount_blocks(connection: apsw.Connection, seqs: Iterable[int]) -> None:
    """Compute the ranges of the blocks with these ``seq`` again, after their records were removed or changed."""
    for block in sorted({seq // BLOCK for seq in seqs}):
        connection.execute(_REMOVE_BLOCK, (block,))
        connection.execute(_RECOUNT_BLOCK, {"block": block})
