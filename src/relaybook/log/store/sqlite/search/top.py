"""Find the requests with the highest or lowest values of a number.

No index contains the values of sort fields. The table ``block_ranges`` has the minimum and the maximum of each sort
field in each block of 1,024 records, and blocks are searched in the order of their extreme. The search ends when no
remaining block can contain one of the highest (or lowest) values. If an index yields few records for the filter, these
records are read instead, newest first (docs/decisions/0017).
"""

import heapq
import math
from collections.abc import Iterable, Iterator
from typing import Final

import apsw

from relaybook.log.query.filters import Filter, Sort
from relaybook.log.store.number_sql import NUMBER_SQL
from relaybook.log.store.port import Page
from relaybook.log.store.sqlite.index.block_ranges import SeqRange
from relaybook.log.store.sqlite.schema import BLOCK, EXTREMES
from relaybook.log.store.sqlite.search.filter_sql import Condition
from relaybook.log.store.sqlite.search.pages import last_seq, load
from relaybook.log.store.sqlite.search.plan import Plan, make_plan
from relaybook.log.store.sqlite.search.scan import Deadline, Windows

#: If an index yields at most this number of records, all of them are read instead of blocks. Reading 10,000 records
#: takes about as long as one statement for each of 2,000 blocks.
_FEW: Final = 10_000


def top(connection: apsw.Connection, filter_: Filter, sort: Sort, limit: int, deadline: Deadline) -> Page:
    """Return the matching requests with the highest or lowest values of a number; see ``Reader.top``."""
    ranking = _Ranking(limit)
    complete = True
    deadline.watch(connection)
    try:
        plan = make_plan(connection, filter_, (1, last_seq(connection) + 1))
        deadline.watch_closely(connection, plan)
        if plan.estimate is not None and plan.estimate <= _FEW:
            windows: Iterable[SeqRange] = Windows(plan.ranges, newest_first=True)
        else:
            windows = _promising_blocks(connection, plan, sort, ranking)
        for window in windows:
            if deadline.has_passed():
                raise apsw.InterruptError
            _search(connection, plan, sort, window, ranking)
    except apsw.InterruptError:
        complete = False
    connection.set_progress_handler(None)
    return Page(records=load(connection, ranking.seqs()), next_cursor=None, newer_cursor=None, complete=complete)


class _Ranking:
    """The highest scores found so far, with the ``seq`` of their records.

    The score of a record is its value, or its negated value if the lowest values come first. If two records have the
    same score, the newer record ranks higher.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._heap: list[tuple[float, int]] = []

    def add(self, score: float, seq: int) -> None:
        if len(self._heap) < self._limit:
            heapq.heappush(self._heap, (score, seq))
        else:
            heapq.heappushpop(self._heap, (score, seq))

    @property
    def lowest(self) -> tuple[float, int]:
        """The score and ``seq`` that a record must exceed to be added."""
        return self._heap[0] if len(self._heap) == self._limit else (-math.inf, 0)

    def seqs(self) -> list[int]:
        return [seq for _, seq in sorted(self._heap, reverse=True)]


def _promising_blocks(connection: apsw.Connection, plan: Plan, sort: Sort, ranking: _Ranking) -> Iterator[SeqRange]:
    """Yield the ``seq`` ranges of blocks, until no remaining block can contribute to the ranking.

    The block with the highest maximum (or lowest minimum) is first. The caller must add the records of each block to
    the ranking before it takes the next block.
    """
    extremes = EXTREMES[sort.field]
    best = f"-{extremes.minimum}" if sort.is_ascending else extremes.maximum
    sql = f"SELECT {best}, block FROM block_ranges WHERE block BETWEEN ? AND ? AND {best} IS NOT NULL"  # noqa: S608
    blocks = [
        block for start, end in plan.ranges for block in connection.execute(sql, (start // BLOCK, (end - 1) // BLOCK))
    ]
    for score, block in sorted(blocks, reverse=True):
        start, end = block * BLOCK, (block + 1) * BLOCK
        if (score, end - 1) < ranking.lowest:
            return
        yield start, end


def _search(connection: apsw.Connection, plan: Plan, sort: Sort, window: SeqRange, ranking: _Ranking) -> None:
    """Add the matching records within the window, a range of ``seq``, to the ranking.

    The SQL first compares the score with the lowest score of the ranking, because this comparison excludes most
    records.
    """
    score = f"{'-' if sort.is_ascending else ''}({NUMBER_SQL[sort.field]})"
    lowest, _ = ranking.lowest
    residual = Condition(f"{score} >= ? AND {plan.residual.sql}", (lowest, *plan.residual.bindings))
    bounded = plan._replace(residual=residual)
    for seq, value in connection.execute(bounded.rows_sql(f", {score}"), bounded.bindings(window)):
        ranking.add(value, seq)
