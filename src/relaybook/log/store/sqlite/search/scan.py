"""Scan the log by ``seq`` in either direction.

The scan ends when enough matches are found, the end is reached or the deadline passes. Each query covers a window of
``seq`` values. So at the deadline, the position that the scan has reached is known, even if nothing was found. The
windows grow while queries are fast.
"""

import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

import apsw

from relaybook import clock
from relaybook.log.store.sqlite.index.block_ranges import SeqRange
from relaybook.log.store.sqlite.search.plan import Plan

_FIRST_WINDOW: Final = 16_384
#: Window sizes for plans that read each record's text. Reading the text takes 0.2 ms per record, and much longer for
#: large bodies. The first window is small enough to finish within any deadline, so every page makes progress. The
#: largest window takes 0.4 s, and a page may take 2 s.
_FIRST_TEXT_WINDOW: Final = 1
_MAX_TEXT_WINDOW: Final = 2048
_GROWTH: Final = 8
_FAST_NS: Final = 20_000_000
#: Time limit for finding out whether there is one more record than the page holds.
_ONE_MORE_NS: Final = 50_000_000
#: Number of SQLite virtual machine instructions between two checks of the clock. This number of instructions takes
#: about 20 µs.
_INSTRUCTIONS_PER_CHECK: Final = 1000
#: Number of instructions between two checks of the clock for plans that read each record's text. Checking one record
#: takes about this number of instructions.
_INSTRUCTIONS_PER_TEXT_CHECK: Final = 20


class Deadline:
    """Interrupts a connection's statement at a time on the monotonic clock."""

    def __init__(self, at_ns: int) -> None:
        self.at_ns = at_ns

    def watch(self, connection: apsw.Connection) -> None:
        connection.set_progress_handler(self.has_passed, _INSTRUCTIONS_PER_CHECK)

    def watch_closely(self, connection: apsw.Connection, plan: Plan) -> None:
        """Check the clock more often if the plan reads texts."""
        if plan.reads_text:
            connection.set_progress_handler(self.has_passed, _INSTRUCTIONS_PER_TEXT_CHECK)

    def limit_lookahead(self) -> None:
        """Limit the remaining time of the search. Call this method when the page is full.

        The search then only needs to find out whether there are more matches.
        """
        self.at_ns = min(self.at_ns, clock.monotonic_ns() + _ONE_MORE_NS)

    def has_passed(self) -> bool:
        return clock.monotonic_ns() >= self.at_ns


class SearchResult(NamedTuple):
    """The result of a search. ``seqs`` has the matches in scan order.

    ``reached`` is the last ``seq`` that was examined. ``has_more`` is True if there may be more matches. ``complete``
    is False if the deadline ended the scan.
    """

    seqs: list[int]
    has_more: bool
    complete: bool
    reached: int


def search(
    connection: apsw.Connection, plan: Plan, limit: int, deadline: Deadline, *, newest_first: bool
) -> SearchResult:
    """Return at most ``limit`` matches.

    With ``newest_first``, the search starts at the end of the plan's ranges. It also searches for one more match, to
    set ``has_more``. Otherwise, the search starts at the beginning of the ranges, and callers ignore ``has_more``.
    """
    seqs: list[int] = []
    target = limit + 1 if newest_first else limit
    windows = _windows(plan, newest_first)
    sql = plan.sql(newest_first)
    if target == 0:
        return SearchResult(seqs, True, True, 0)
    if limit == 0:
        deadline.limit_lookahead()
    deadline.watch_closely(connection, plan)
    for window in windows:
        try:
            if deadline.has_passed():
                raise apsw.InterruptError
            for (seq,) in connection.execute(sql, (*plan.bindings(window), target - len(seqs))):
                seqs.append(seq)
                if len(seqs) == limit:
                    deadline.limit_lookahead()
        except apsw.InterruptError:
            if len(seqs) == limit:
                return SearchResult(seqs, True, True, seqs[-1] if seqs else windows.edge(window))
            return SearchResult(seqs, True, False, windows.furthest(window, seqs))
        if len(seqs) == target:
            return SearchResult(seqs[:limit], True, True, seqs[limit - 1] if limit else 0)
    return SearchResult(seqs, False, True, seqs[-1] if seqs else 0)


def _windows(plan: Plan, newest_first: bool) -> "Windows":
    if plan.reads_text:
        return Windows(plan.ranges, newest_first, _FIRST_TEXT_WINDOW, _MAX_TEXT_WINDOW)
    return Windows(plan.ranges, newest_first)


class Windows:
    """Splits ranges of ``seq`` into windows, in scan order. A window is the range that one query covers.

    The windows become larger while they are scanned fast.
    """

    def __init__(
        self, ranges: list[SeqRange], newest_first: bool, first_size: int = _FIRST_WINDOW, max_size: int = sys.maxsize
    ) -> None:
        self._ranges = ranges[::-1] if newest_first else ranges
        self._newest_first = newest_first
        self._first_size = first_size
        self._max_size = max_size

    def __iter__(self) -> Iterator[SeqRange]:
        size = self._first_size
        for low, high in self._ranges:
            while low < high:
                window = (max(low, high - size), high) if self._newest_first else (low, min(high, low + size))
                started_ns = clock.monotonic_ns()
                yield window
                if clock.monotonic_ns() - started_ns < _FAST_NS:
                    size = min(size * _GROWTH, self._max_size)
                if self._newest_first:
                    high = window[0]
                else:
                    low = window[1]

    def edge(self, window: SeqRange) -> int:
        """Return the ``seq`` just before the window in scan order.

        A scan that continues after this ``seq`` starts with the window.
        """
        return window[1] if self._newest_first else window[0] - 1

    def furthest(self, window: SeqRange, seqs: list[int]) -> int:
        """Return the last ``seq`` that a scan reached before it was stopped within the window."""
        positions = [self.edge(window), *seqs[-1:]]
        return min(positions) if self._newest_first else max(positions)
