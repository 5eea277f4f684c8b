"""A span of time becomes spans of ``seq``: only blocks of records that overlap it are searched.

``spans`` has the earliest and latest start of each block of 1,024 records. An index over ``started_at`` would cost
0.6 µs per record and could not tell where to stop: a request that ran long is recorded late, so order by start and
order by ``seq`` differ.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import apsw

from relaybook.log.query.filters import Filter, Term
from relaybook.log.store.sqlite.filter_sql import bounded
from relaybook.log.store.sqlite.schema import BLOCK

#: Half-open: from the first ``seq`` to below the second.
Span = tuple[int, int]


class Part(NamedTuple):
    """A span, and whether all its records started in the time asked for."""

    span: Span
    is_inside: bool


def parts_in_time(connection: apsw.Connection, wanted: Filter, within: Span) -> list[Part]:
    """The spans in which a record may have started in the time asked for, told apart by whether all have; in order."""
    blocks = _blocks(connection, wanted, within)
    return [Part(within, True)] if blocks is None else _runs(blocks, within)


def without_time(wanted: Filter) -> Filter:
    """The terms that are left to check in a part in which all records started in time."""
    return Filter(tuple(term for term in wanted.terms if not any(term is time for time in _times(wanted))))


def spans_in_time(connection: apsw.Connection, wanted: Filter, within: Span) -> list[Span]:
    """Runs of blocks in which a record may have started in the time asked for, oldest first."""
    blocks = _blocks(connection, wanted, within)
    return [within] if blocks is None else [part.span for part in _runs(((block, True) for block, _ in blocks), within)]


def _blocks(connection: apsw.Connection, wanted: Filter, within: Span) -> list[tuple[int, bool]] | None:
    """Blocks that overlap the time asked for, and whether they lie in it wholly; None when no time is asked for."""
    if not any(_times(wanted)):
        return None
    earliest = max((min(map(bounded, term.values)) for term in _times(wanted, "from")), default=None)
    latest = min((max(map(bounded, term.values)) for term in _times(wanted, "to")), default=None)
    rows = connection.execute(
        "SELECT block, first_at >= coalesce(:earliest, first_at) AND last_at < coalesce(:latest, last_at + 1)"
        " FROM spans WHERE block BETWEEN :low AND :high"
        " AND last_at >= coalesce(:earliest, last_at) AND first_at < coalesce(:latest, first_at + 1) ORDER BY block",
        {"earliest": earliest, "latest": latest, "low": within[0] // BLOCK, "high": within[1] // BLOCK},
    )
    return [(block, bool(is_inside)) for block, is_inside in rows]


def _runs(blocks: Iterable[tuple[int, bool]], within: Span) -> list[Part]:
    """One part for each run of neighbouring blocks that are alike."""
    parts: list[Part] = []
    for block, is_inside in blocks:
        (start, end), was_inside = parts[-1] if parts else ((0, -1), False)
        if end == block * BLOCK and was_inside == is_inside:
            parts[-1] = Part((start, end + BLOCK), is_inside)
        else:
            parts.append(Part((block * BLOCK, block * BLOCK + BLOCK), is_inside))
    return [Part(_cut(span, within), is_inside) for span, is_inside in parts]


def _times(wanted: Filter, *names: str) -> Iterator[Term]:
    names = names or ("from", "to")
    return (term for term in wanted.terms if term.name in names and term.values and not term.negated)


def _cut(span: Span, within: Span) -> Span:
    return max(span[0], within[0]), min(span[1], within[1])
