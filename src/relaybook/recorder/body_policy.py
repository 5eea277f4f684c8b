"""How much of a body is kept, and where it waits while its exchange is open.

Bytes of an open exchange stay in memory up to 256 KiB; beyond that they move into the store ahead of their record.
Bodies of paths that are not understood are kept up to a limit, beyond it their first 64 KiB, length and SHA-256.
A few of the open exchanges are shown with their bytes so far.
"""

import hashlib
from collections.abc import Callable, Iterable
from heapq import nlargest
from typing import Final

from relaybook.log.store.port import Body, Entry, Extent, body_size
from relaybook.recorder.fold import Exchange

MOST_HELD: Final = 256 << 10
KEPT_OF_LARGE: Final = 64 << 10
#: Shown ones are copied into the store again each second, so they are few and not large.
MOST_SHOWN: Final = 32
MOST_SHOWN_BYTES: Final = 512 << 10
_UNDERSTOOD: Final = ("chat", "completion", "response", "embedding")


class BodyPolicy:
    """The rules for bodies, with the store's place for what is set aside."""

    def __init__(
        self, set_aside: Callable[[bytes], Extent], read_extent: Callable[[Extent], bytes], keep_other_bodies: int
    ) -> None:
        self._set_aside = set_aside
        self._read_extent = read_extent
        self._keep_other = keep_other_bodies

    def set_aside_if_large(self, exchange: Exchange) -> int:
        """Moves an open exchange's bytes into the store when there are many; how many."""
        return self.set_aside(exchange) if exchange.held > MOST_HELD else 0

    def set_aside(self, exchange: Exchange) -> int:
        """Moves an open exchange's bytes into the store; how many."""
        for body in (exchange.request, exchange.response):
            if body.rest:
                body.extents.append(self._set_aside(b"".join(body.rest)))
                body.rest = []
        moved, exchange.held = exchange.held, 0
        return moved

    def apply(self, exchange: Exchange, entry: Entry) -> tuple[Entry, list[Extent]]:
        """The entry with its bodies as they are to be kept, and the extents to erase."""
        if entry.request is None:
            return entry, exchange.extents
        if entry.record.kind in _UNDERSTOOD or exchange.request_bytes + exchange.response_bytes <= self._keep_other:
            return entry, []
        erase: list[Extent] = []
        for side in ("request", "response"):
            body = getattr(entry, side)
            size = body_size(body)
            if size is not None and size > self._keep_other:
                kept, digest = self._beginning(body)
                setattr(entry, side, kept)
                setattr(entry.detail, f"{side}_sha256", digest)
                erase += body.extents
        return entry, erase

    def _beginning(self, body: Body) -> tuple[Body, str]:
        digest = hashlib.sha256()
        first = b""
        for extent in body.extents:
            data = self._read_extent(extent)
            digest.update(data)
            first += data[: KEPT_OF_LARGE - len(first)]
        for piece in body.rest:
            digest.update(piece)
            first += piece[: KEPT_OF_LARGE - len(first)]
        return Body([], [first]), digest.hexdigest()


def shown(running: Iterable[Exchange]) -> set[bytes]:
    """Which open exchanges are shown with their bytes so far, by id: the latest started of those that may be.

    Never one whose bodies must not be kept.
    """
    fit = (
        exchange
        for exchange in running
        if exchange.opened.log == "full" and exchange.request_bytes + exchange.response_bytes <= MOST_SHOWN_BYTES
    )
    return {exchange.id for exchange in nlargest(MOST_SHOWN, fit, key=lambda exchange: exchange.opened_ns)}
