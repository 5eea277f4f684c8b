"""Find the requests that contain a substring, by reading their bodies."""

import sys
from typing import Final, NamedTuple

from relaybook import clock
from relaybook.log.query import words
from relaybook.log.query.filters import CONTAINS, Filter
from relaybook.log.request_view import MAX_BODY_BYTES
from relaybook.log.search_text import text_of
from relaybook.log.store.clickhouse.connection import Database, Parameters
from relaybook.log.store.clickhouse.entries import read_entries
from relaybook.log.store.clickhouse.filter_sql import condition
from relaybook.log.store.entry import Entry
from relaybook.log.store.errors import DeadlinePassed

#: Number of requests that one query reads.
_FEW: Final = 100


class Containing(NamedTuple):
    """The ``seq`` of each request that a search found, in the order in which the requests were searched.

    ``reached`` is the last examined ``seq`` if the deadline ended the search, otherwise `None`.
    """

    seqs: list[int]
    reached: int | None


def containing(
    database: Database, filter_: Filter, bounds: tuple[int, int], limit: int, deadline_ns: int, *, newest_first: bool
) -> Containing:
    """Find at most ``limit`` requests that match the whole filter and whose ``seq`` is within the inclusive bounds."""
    low, high = bounds
    seqs: list[int] = []
    while low <= high and len(seqs) < limit:
        parameters = Parameters()
        sql = condition(filter_, parameters, f"r.seq BETWEEN {low} AND {high}")
        order = f"r.seq {'DESC' if newest_first else ''}"
        try:
            entries = read_entries(database, sql, parameters, order, _FEW, MAX_BODY_BYTES, deadline_ns)
        except DeadlinePassed:
            return Containing(seqs, high + 1 if newest_first else low - 1)
        if not entries:
            break
        seqs += [entry.record.seq for entry in entries if entry.record.seq is not None and _matches(filter_, entry)]
        last = entries[-1].record.seq or 0
        low, high = (low, last - 1) if newest_first else (last + 1, high)
    return Containing(seqs[:limit], None)


def _matches(filter_: Filter, entry: Entry) -> bool:
    text = text_of(entry, sys.maxsize).whole
    return all(
        any(words.has_substring(text, substring) for substring in term.values) != term.negated
        for term in filter_.terms
        if term.name == CONTAINS
    )


def extended(deadline_ns: int) -> int:
    """Return the search's deadline, or a second from now if that is later.

    This is the deadline for reading the records that a search has found. If the search ended at its deadline, the extra
    second is enough to read these records. So no match is lost.
    """
    return max(deadline_ns, clock.monotonic_ns() + clock.NANOSECONDS)
