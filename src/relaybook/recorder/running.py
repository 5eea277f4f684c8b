"""Report the requests that have been running for over a second.

Most of the work is parsing bodies. The log shows the current bodies of the newest requests, so these requests are
parsed after each change. Every other request is parsed only at three times: when it is first reported, after the last
byte of the request, and after the head of the response.
"""

from collections.abc import Iterable
from heapq import nlargest
from typing import Final

from relaybook import clock
from relaybook.log.store.port import Running
from relaybook.recorder.crash_guard import CrashGuard
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.fold import JournalExchange

#: Maximum number of open exchanges whose bodies the log shows. These bodies are copied to the store every second.
MAX_SHOWN: Final = 32
#: If the request and response bodies of an exchange together have more bytes than this, the log does not show them.
MAX_SHOWN_BYTES: Final = 512 << 10
_EVERY_NS: Final = 1 * clock.NANOSECONDS
_AFTER_NS: Final = 1 * clock.NANOSECONDS

#: Whether the log shows the bodies of an exchange, and how far the exchange has progressed. If the version has changed
#: since the last report, the exchange's ``Running`` is created again.
_Version = tuple[bool, int]


class RunningRequests:
    """Creates a ``Running``, once a second, for each request that has been running for over a second."""

    def __init__(self, entry_builder: EntryBuilder, crash_guard: CrashGuard) -> None:
        self._entry_builder = entry_builder
        self._crash_guard = crash_guard
        self._reported_ns = 0
        self._states: dict[bytes, tuple[_Version, Running]] = {}
        #: Whether the store may have running requests. At the start, it may have those of an earlier recorder.
        self._had_some = True

    def is_due(self, now_ns: int) -> bool:
        """Return whether the last report is more than a second old."""
        return now_ns - self._reported_ns > _EVERY_NS

    def report(self, open_exchanges: Iterable[JournalExchange], now_ns: int) -> list[Running] | None:
        """Return the states of the exchanges that have been running for over a second.

        `None` if both this call and the previous call found no such exchanges, so the store need not change.
        """
        self._reported_ns = now_ns
        exchanges = [exchange for exchange in open_exchanges if now_ns - exchange.opened_ns > _AFTER_NS]
        had_some, self._had_some = self._had_some, bool(exchanges)
        shown, before, self._states = shown_ids(exchanges), self._states, {}
        for exchange in exchanges:
            is_shown = exchange.id in shown
            progress = (exchange.request_end_ns is not None) + (exchange.response_begin is not None)
            version = (is_shown, exchange.number if is_shown else progress)
            if exchange.id in before and before[exchange.id][0] == version:
                state = before[exchange.id][1]
            else:
                state = self._state(exchange, is_shown=is_shown)
            state.record.chunks = exchange.chunks
            state.record.request_bytes, state.record.response_bytes = exchange.request_bytes, exchange.response_bytes
            self._states[exchange.id] = version, state
        self._crash_guard.clear()
        return [state for _, state in self._states.values()] if exchanges or had_some else None

    def _state(self, exchange: JournalExchange, *, is_shown: bool) -> Running:
        # The beginning of a large response would only cost memory, because it is not parsed again as it grows.
        bodies = self._entry_builder.bodies(exchange, without_response=exchange.response_bytes > MAX_SHOWN_BYTES)
        is_safe = self._crash_guard.begin(exchange.id)
        return self._entry_builder.running(exchange, bodies if is_safe else None, is_shown=is_shown)


def shown_ids(running: Iterable[JournalExchange]) -> set[bytes]:
    """Return the ids of the newest open exchanges whose bodies are shown while they run, at most MAX_SHOWN.

    Exchanges with more than MAX_SHOWN_BYTES, and exchanges logged without bodies, are not included.
    """
    eligible = (
        exchange
        for exchange in running
        if exchange.opened.log == "full" and exchange.request_bytes + exchange.response_bytes <= MAX_SHOWN_BYTES
    )
    return {exchange.id for exchange in nlargest(MAX_SHOWN, eligible, key=lambda exchange: exchange.opened_ns)}
