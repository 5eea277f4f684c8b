"""Fill the full-text index from the log in the recorder's background work. Requests are indexed in recording order.

Records are committed before their text is indexed. Writes that fail, for example because of a full disk or a locked
file, are retried later. A lost index is rebuilt from the log.
"""

import logging
from collections import deque
from collections.abc import Iterable
from typing import Final, Protocol

from relaybook import clock
from relaybook.log.request_view import MAX_BODY_BYTES
from relaybook.log.search_text import text_of
from relaybook.log.store.errors import DeadlinePassed, StoreUnavailable
from relaybook.log.store.port import Entry, TextIndex, body_size

log = logging.getLogger("relaybook.recorder")

_BATCH_ENTRIES: Final = 200
#: Maximum number of committed entries that stay in memory until they are indexed.
_MAX_FRESH: Final = 2000
#: Maximum number of body bytes of the entries in memory.
_MAX_FRESH_BYTES: Final = 16 << 20
_RETRY_NS: Final = 5 * clock.NANOSECONDS


class Entries(Protocol):
    """The part of ``Reader`` that ``TextPass`` uses."""

    def entries(self, after: int, limit: int, most_bytes: int) -> list[Entry]:
        """See ``Reader.entries``."""


class TextPass:
    """Indexes the log's text and continues where the index ends. If there is no index, the pass does nothing."""

    def __init__(self, reader: Entries, index: TextIndex | None) -> None:
        self._reader = reader
        self._index = index
        self._not_before_ns = 0
        #: Recently committed entries by ascending ``seq``, each with the size of its bodies in bytes.
        self._fresh: deque[tuple[Entry, int]] = deque()
        self._fresh_bytes = 0

    def committed(self, entries: Iterable[Entry]) -> None:
        """Keep entries in memory, up to a limit, so that indexing need not read the store.

        Reading entries is a large part of the work of indexing. An entry is not kept if it does not contain all of its
        body bytes, because some were moved to the store before the commit.
        """
        for entry in entries if self._index else ():
            size = (body_size(entry.request) or 0) + (body_size(entry.response) or 0)
            is_whole = not any(body and body.refs for body in (entry.request, entry.response))
            is_new = not self._fresh or _seq(self._fresh[-1][0]) < _seq(entry)
            has_room = len(self._fresh) < _MAX_FRESH and self._fresh_bytes + size <= _MAX_FRESH_BYTES
            if is_whole and is_new and has_room:
                self._fresh.append((entry, size))
                self._fresh_bytes += size

    def forget(self) -> None:
        """Forget the entries in memory. Call this method if requests may have been removed from the log."""
        self._fresh.clear()
        self._fresh_bytes = 0

    def _in_memory(self, after: int) -> list[Entry]:
        """Return the entries in memory whose ``seq`` values directly follow ``after``, and forget these entries."""
        result: list[Entry] = []
        while self._fresh and len(result) < _BATCH_ENTRIES and _seq(self._fresh[0][0]) <= after + 1:
            entry, size = self._fresh.popleft()
            self._fresh_bytes -= size
            if _seq(entry) == after + 1:
                result.append(entry)
                after += 1
        return result

    def work(self, until_ns: int) -> bool:
        """Index until ``until_ns`` (monotonic clock), or until all entries are indexed.

        Return whether entries were indexed.
        """
        worked = False
        while clock.monotonic_ns() < until_ns and self._step():
            worked = True
        return worked

    def _step(self) -> bool:
        if self._index is None or clock.monotonic_ns() < self._not_before_ns:
            return False
        try:
            after = self._index.indexed_to()
            entries = self._in_memory(after) or self._reader.entries(after, _BATCH_ENTRIES, MAX_BODY_BYTES)
            if not entries:
                return False
            texts = [(_seq(entry), text) for entry in entries if (text := text_of(entry))]
            self._index.add(texts, _seq(entries[-1]))
        except (StoreUnavailable, DeadlinePassed) as error:
            log.warning("text_not_indexed", extra={"reason": str(error)})
            self._not_before_ns = clock.monotonic_ns() + _RETRY_NS
            return False
        except Exception:  # a bug in Relaybook must not stop recording
            log.exception("text_pass_failed")
            self._not_before_ns = clock.monotonic_ns() + _RETRY_NS
            return False
        return True


def _seq(entry: Entry) -> int:
    assert entry.record.seq is not None
    return entry.record.seq
