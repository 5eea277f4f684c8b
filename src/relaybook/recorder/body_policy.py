"""Decide how much of a body is stored, and where the body is kept while its exchange is open.

The bodies of an open exchange stay in memory while they have at most 256 KiB in total. If they exceed 256 KiB, their
bytes are moved to the store before the record is written. If the bodies of all open exchanges of a run together exceed
64 MiB, the bodies of the largest exchanges are moved. Bodies of unsupported formats are stored whole up to the size in
the setting ``keep_other_bodies``. If a body exceeds this size, only its first 64 KiB, its length and its SHA-256 are
stored.
"""

import hashlib
from collections.abc import Callable, Iterable
from typing import Final

from relaybook.apis import BY_KIND
from relaybook.log.store.entry import Body, BodyRef, Entry, body_size
from relaybook.recorder.fold import JournalExchange

MAX_HELD_BYTES: Final = 256 << 10
TRUNCATED_BYTES: Final = 64 << 10
#: Maximum number of body bytes in memory, for all open exchanges of a run together.
MAX_TOTAL_HELD_BYTES: Final = 64 << 20


class BodyPolicy:
    """The rules for bodies. ``write_body`` writes bytes to the store, and ``read_body`` reads them back."""

    def __init__(
        self, write_body: Callable[[bytes], BodyRef], read_body: Callable[[BodyRef], bytes], keep_other_bodies: int
    ) -> None:
        self._write_body = write_body
        self._read_body = read_body
        self._keep_other = keep_other_bodies

    def move_large(self, exchanges: Iterable[JournalExchange]) -> int:
        """If bodies of open exchanges exceed the memory limits, move them to the store.

        Return the number of moved bytes.
        """
        held = moved = 0
        small: list[JournalExchange] = []
        for exchange in exchanges:
            if exchange.held > MAX_HELD_BYTES:
                moved += self.move_to_store(exchange)
            elif exchange.held:
                held += exchange.held
                small.append(exchange)
        if held > MAX_TOTAL_HELD_BYTES:
            small.sort(key=lambda exchange: exchange.held)
            while held > MAX_TOTAL_HELD_BYTES // 2:
                size = self.move_to_store(small.pop())
                held -= size
                moved += size
        return moved

    def move_to_store(self, exchange: JournalExchange) -> int:
        """Move the body bytes of an open exchange from memory to the store. Return the number of bytes moved."""
        for body in (exchange.request, exchange.response):
            if body.rest:
                body.refs.append(self._write_body(b"".join(body.rest)))
                body.rest = []
        moved, exchange.held = exchange.held, 0
        return moved

    def apply(self, exchange: JournalExchange, entry: Entry) -> tuple[Entry, list[BodyRef]]:
        """Truncate those bodies of an entry that must not be stored whole.

        Return the entry, and references to body bytes that were moved to the store and must now be erased.
        """
        if entry.request is None:
            return entry, exchange.refs
        is_small = exchange.request_bytes + exchange.response_bytes <= self._keep_other
        if is_small or BY_KIND[entry.record.kind].is_read:
            return entry, []
        erase: list[BodyRef] = []
        for side in ("request", "response"):
            body = getattr(entry, side)
            size = body_size(body)
            if size is not None and size > self._keep_other:
                truncated, digest = self._truncate(body)
                setattr(entry, side, truncated)
                setattr(entry.detail, f"{side}_sha256", digest)
                erase += body.refs
        return entry, erase

    def read_back(self, entry: Entry) -> None:
        """Put the bytes of an entry's bodies that were moved to the store back into the entry."""
        for side in ("request", "response"):
            body = getattr(entry, side)
            if body is not None and body.refs:
                setattr(entry, side, Body([], [*map(self._read_body, body.refs), *body.rest]))

    def _truncate(self, body: Body) -> tuple[Body, str]:
        """Return the first TRUNCATED_BYTES of a body, and the SHA-256 of the whole body."""
        digest = hashlib.sha256()
        kept = b""
        for ref in body.refs:
            data = self._read_body(ref)
            digest.update(data)
            kept += data[: TRUNCATED_BYTES - len(kept)]
        for chunk in body.rest:
            digest.update(chunk)
            kept += chunk[: TRUNCATED_BYTES - len(kept)]
        return Body([], [kept]), digest.hexdigest()
