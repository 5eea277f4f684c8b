"""Fills the text index behind the log, in order of recording, when the recorder has time.

The log never waits for it: what the index cannot take now (a full disk, a locked file) is tried again later, and an
index that is lost is filled anew from the log.
"""

import logging
from typing import Final, Protocol

from relaybook import clock
from relaybook.stores.base import Entry
from relaybook.stores.errors import DeadlinePassed, StoreUnavailable
from relaybook.stores.said import MAX_BYTES, text_of
from relaybook.stores.text import TextIndex

log = logging.getLogger("relaybook.recorder")

_AT_ONCE: Final = 200
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
            entries = self._reader.entries(self._index.indexed_to(), _AT_ONCE, MAX_BYTES)
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
