"""Fills the text index behind the log, in order of recording, when the recorder has time.

The log never waits for it: what the index cannot take now (a full disk, a locked file) is tried again later, and an
index that is lost is filled anew from the log.
"""

import logging
from collections import deque
from collections.abc import Iterable
from typing import Final, Protocol

from relaybook import clock
from relaybook.log.search_text import MAX_BYTES, text_of
from relaybook.log.store.errors import DeadlinePassed, StoreUnavailable
from relaybook.log.store.port import Entry, TextIndex, body_size

log = logging.getLogger("relaybook.recorder")

_AT_ONCE: Final = 200
#: So many entries, and bytes of their bodies, are kept in memory until their words are indexed.
_MOST_FRESH: Final = 2000
_MOST_FRESH_BYTES: Final = 16 << 20
_AGAIN_NS: Final = 5 * clock.NANOSECONDS


class Entries(Protocol):
    """The part of a store's reader that is needed here."""

    def entries(self, after: int, limit: int, most_bytes: int) -> list[Entry]:
        """See ``Reader.entries``."""


class TextPass:
    """One pass over the log that never ends."""

    def __init__(self, reader: Entries, index: TextIndex) -> None:
        self._reader = reader
        self._index = index
        self._not_before_ns = 0
        #: What was just committed, by rising ``seq``, with how many bytes its bodies have.
        self._fresh: deque[tuple[Entry, int]] = deque()
        self._fresh_bytes = 0

    def committed(self, entries: Iterable[Entry]) -> None:
        """What of these is whole in memory need not be read back, much of the work, unless it waits for long."""
        for entry in entries:
            size = (body_size(entry.request) or 0) + (body_size(entry.response) or 0)
            is_whole = not any(body and body.extents for body in (entry.request, entry.response))
            is_new = not self._fresh or _seq(self._fresh[-1][0]) < _seq(entry)
            has_room = len(self._fresh) < _MOST_FRESH and self._fresh_bytes + size <= _MOST_FRESH_BYTES
            if is_whole and is_new and has_room:
                self._fresh.append((entry, size))
                self._fresh_bytes += size

    def _in_memory(self, after: int) -> list[Entry]:
        """Entries that directly follow ``after``."""
        found: list[Entry] = []
        while self._fresh and len(found) < _AT_ONCE and _seq(self._fresh[0][0]) <= after + 1:
            entry, size = self._fresh.popleft()
            self._fresh_bytes -= size
            if _seq(entry) == after + 1:
                found.append(entry)
                after += 1
        return found

    def work(self, until_ns: int) -> bool:
        """Indexes until a moment of the monotonic clock, or all there is. False: nothing was left to do."""
        worked = False
        while clock.monotonic_ns() < until_ns and self._step():
            worked = True
        return worked

    def _step(self) -> bool:
        if clock.monotonic_ns() < self._not_before_ns:
            return False
        try:
            after = self._index.indexed_to()
            entries = self._in_memory(after) or self._reader.entries(after, _AT_ONCE, MAX_BYTES)
            if not entries:
                return False
            texts = [(_seq(entry), text) for entry in entries if (text := text_of(entry))]
            self._index.add(texts, _seq(entries[-1]))
        except (StoreUnavailable, DeadlinePassed) as error:
            log.warning("text_not_indexed", extra={"reason": str(error)})
            self._not_before_ns = clock.monotonic_ns() + _AGAIN_NS
            return False
        except Exception:  # a defect of ours, which must not keep requests out of the log
            log.exception("text_pass_failed")
            self._not_before_ns = clock.monotonic_ns() + _AGAIN_NS
            return False
        return True


def _seq(entry: Entry) -> int:
    assert entry.record.seq is not None
    return entry.record.seq
