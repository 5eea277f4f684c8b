"""Walks the log by ``seq`` in either direction until enough is found, everything was seen, or the deadline passes.

It goes in windows of ``seq`` that grow while they are quick, so that at the deadline it is known how far the search has
come, also when it found nothing.
"""

import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

import apsw

from relaybook import clock
from relaybook.log.store.sqlite.block_ranges import Span
from relaybook.log.store.sqlite.plan import Plan

_FIRST_WINDOW: Final = 16_384
#: The same where each record's text is read, 0.2 ms and for large bodies much more: the first window ends within any
#: deadline, so that every page comes further, and the largest takes 0.4 s of the two that a page has.
_FIRST_OF_TEXTS: Final = 1
_MOST_TEXTS: Final = 2048
_GROWTH: Final = 8
_QUICK_NS: Final = 20_000_000
#: Looking for one record more than the page holds, only to know whether there is one, may take this long.
_ONE_MORE_NS: Final = 50_000_000
#: Steps of SQLite's machine between two looks at the clock: about 20 µs.
_STEPS: Final = 1000
#: The same where each record's text is read: about one record.
_STEPS_BETWEEN_TEXTS: Final = 20


class Deadline:
    """Stops what a connection does once a moment of the monotonic clock has passed."""

    def __init__(self, at_ns: int) -> None:
        self.at_ns = at_ns

    def watch(self, connection: apsw.Connection) -> None:
        connection.set_progress_handler(self.has_passed, _STEPS)

    def watch_closely(self, connection: apsw.Connection, plan: Plan) -> None:
        """Looks at the clock more often where the plan needs it."""
        if plan.reads_texts:
            connection.set_progress_handler(self.has_passed, _STEPS_BETWEEN_TEXTS)

    def look_ahead(self) -> None:
        """The page is full: what is still to be found out may take a moment, not all the time there is."""
        self.at_ns = min(self.at_ns, clock.monotonic_ns() + _ONE_MORE_NS)

    def has_passed(self) -> bool:
        return clock.monotonic_ns() >= self.at_ns


class Found(NamedTuple):
    """``seqs`` in the order of the walk. ``reached`` is the last ``seq`` that was looked at.

    ``has_more`` says that there is more to find, or may be; ``complete`` is False when the deadline ended the walk.
    """

    seqs: list[int]
    has_more: bool
    complete: bool
    reached: int


def search(connection: apsw.Connection, plan: Plan, limit: int, deadline: Deadline, *, newest_first: bool) -> Found:
    """At most ``limit`` matches, from the end of the plan's spans at which the direction starts.

    Newest first it looks for one more, to know ``has_more``; nobody asks that in the other direction.
    """
    seqs: list[int] = []
    enough = limit + 1 if newest_first else limit
    windows = _windows(plan, newest_first)
    sql = plan.sql(newest_first)
    if enough == 0:
        return Found(seqs, True, True, 0)
    if limit == 0:
        deadline.look_ahead()
    deadline.watch_closely(connection, plan)
    for window in windows:
        try:
            if deadline.has_passed():
                raise apsw.InterruptError
            for (seq,) in connection.execute(sql, (*plan.bindings(window), enough - len(seqs))):
                seqs.append(seq)
                if len(seqs) == limit:
                    deadline.look_ahead()
        except apsw.InterruptError:
            if len(seqs) == limit:
                return Found(seqs, True, True, seqs[-1] if seqs else windows.edge(window))
            return Found(seqs, True, False, windows.furthest(window, seqs))
        if len(seqs) == enough:
            return Found(seqs[:limit], True, True, seqs[limit - 1] if limit else 0)
    return Found(seqs, False, True, seqs[-1] if seqs else 0)


def _windows(plan: Plan, newest_first: bool) -> "Windows":
    if plan.reads_texts:
        return Windows(plan.spans, newest_first, _FIRST_OF_TEXTS, _MOST_TEXTS)
    return Windows(plan.spans, newest_first)


class Windows:
    """Cuts spans into windows, in the order of the walk; each is larger than the one before while those are quick."""

    def __init__(
        self, spans: list[Span], newest_first: bool, first: int = _FIRST_WINDOW, most: int = sys.maxsize
    ) -> None:
        self._spans = spans[::-1] if newest_first else spans
        self._newest_first = newest_first
        self._first = first
        self._most = most

    def __iter__(self) -> Iterator[Span]:
        size = self._first
        for low, high in self._spans:
            while low < high:
                window = (max(low, high - size), high) if self._newest_first else (low, min(high, low + size))
                began_ns = clock.monotonic_ns()
                yield window
                if clock.monotonic_ns() - began_ns < _QUICK_NS:
                    size = min(size * _GROWTH, self._most)
                if self._newest_first:
                    high = window[0]
                else:
                    low = window[1]

    def edge(self, window: Span) -> int:
        """The cursor's ``seq`` at which a walk would begin with this window."""
        return window[1] if self._newest_first else window[0] - 1

    def furthest(self, window: Span, seqs: list[int]) -> int:
        """How far a walk came that was stopped within the window."""
        places = [self.edge(window), *seqs[-1:]]
        return min(places) if self._newest_first else max(places)
