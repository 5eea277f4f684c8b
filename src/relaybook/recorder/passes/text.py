"""Fill the full-text index from the log. Requests are indexed in recording order.

Records are committed before their text is indexed. Writes that fail, for example because of a full disk or a locked
file, are retried later. A lost index is rebuilt from the log.
"""

import logging
from collections import deque
from collections.abc import Iterable
from typing import Final, Protocol

from relaybook import clock
from relaybook.log.query.words import SearchText
from relaybook.log.search_text import text_of
from relaybook.log.store.entry import Entry
from relaybook.log.store.errors import DeadlinePassed, StoreUnavailable
from relaybook.log.store.port import TextIndex

log = logging.getLogger("relaybook.recorder")

#: Maximum number of texts in memory that are indexed in one step, and of entries that are read from the store for it.
_BATCH_TEXTS: Final = 500
_BATCH_ENTRIES: Final = 200
#: Maximum number of characters that stay in memory until they are indexed. The texts of a usual commit have less.
_MAX_FRESH: Final = 32 << 20
#: Maximum number of body bytes that are read from the store at a time.
_MAX_BYTES: Final = 16 << 20
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
        #: The texts of recently committed entries, by ascending ``seq``.
        self._fresh: deque[tuple[int, SearchText]] = deque()
        self._fresh_characters = 0

    def committed(self, entries: Iterable[Entry]) -> None:
        """Keep the texts of entries in memory, up to a limit, so that indexing need not read the bodies again."""
        for entry in entries if self._index else ():
            seq = _seq(entry)
            is_new = not self._fresh or self._fresh[-1][0] < seq
            if entry.text is not None and is_new and self._fresh_characters < _MAX_FRESH:
                self._fresh.append((seq, entry.text))
                self._fresh_characters += _characters(entry.text)

    def forget(self) -> None:
        """Forget the texts in memory. Call this method if requests may have been removed from the log."""
        self._fresh.clear()
        self._fresh_characters = 0

    def _in_memory(self, after: int) -> list[tuple[int, SearchText]]:
        """Return the texts in memory whose ``seq`` values directly follow ``after``, and forget these texts."""
        result: list[tuple[int, SearchText]] = []
        while self._fresh and len(result) < _BATCH_TEXTS and self._fresh[0][0] <= after + 1:
            seq, text = self._fresh.popleft()
            self._fresh_characters -= _characters(text)
            if seq == after + 1:
                result.append((seq, text))
                after += 1
        return result

    def work(self, until_ns: int, *, only_in_memory: bool = False) -> bool:
        """Index until ``until_ns`` (monotonic clock), or until all entries are indexed.

        With ``only_in_memory``, read no entries from the store. Return whether entries were indexed.
        """
        worked = False
        while clock.monotonic_ns() < until_ns and self._step(only_in_memory):
            worked = True
        return worked

    def _step(self, only_in_memory: bool) -> bool:
        if self._index is None or clock.monotonic_ns() < self._not_before_ns:
            return False
        try:
            after = self._index.indexed_to()
            texts = self._in_memory(after)
            if not (texts or only_in_memory):
                entries = self._reader.entries(after, _BATCH_ENTRIES, _MAX_BYTES)
                texts = [(_seq(entry), text_of(entry)) for entry in entries]
            if not texts:
                return False
            self._index.add([(seq, text) for seq, text in texts if any(text)], texts[-1][0])
        except (StoreUnavailable, DeadlinePassed) as error:
            log.warning("text_not_indexed", extra={"reason": str(error)})
            self._not_before_ns = clock.monotonic_ns() + _RETRY_NS
            return False
        except Exception:  # a bug in Relaybook must not stop recording
            log.exception("text_pass_failed")
            self._not_before_ns = clock.monotonic_ns() + _RETRY_NS
            return False
        return True


def _characters(text: SearchText) -> int:
    return sum(map(len, text))


def _seq(entry: Entry) -> int:
    assert entry.record.seq is not None
    return entry.record.seq
