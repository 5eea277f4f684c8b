"""Reads what is kept of requests: details and bodies, as a row says where they lie in the packs."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from relaybook.log.record import Detail, Record, Side
from relaybook.log.store.errors import BodyDamaged
from relaybook.log.store.port import Body, Entry, Stored
from relaybook.log.store.sqlite import bodies
from relaybook.log.store.sqlite.connection import BODIES
from relaybook.log.store.sqlite.packs import pack_name, read_extent


class PackReader:
    """The packs of one store. Any thread may read; what lies in them never changes."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory / BODIES

    def has(self, kept: bodies.Kept) -> bool:
        """A pack that is gone was aged out."""
        return (self._directory / pack_name(kept.pack)).exists()

    def stored(self, record: Record, kept: bodies.Kept) -> Stored:
        """With those of its bodies that lie in the shared frame. Raises BodyDamaged."""
        if not self.has(kept):
            return Stored(record=_expired(record, kept), detail=Detail(), request_size=None, response_size=None)
        shared = b"".join(read_extent(self._directory, kept.shared()))
        response_at = kept.detail + bodies.rest(kept.request)
        return Stored(
            record=record,
            detail=bodies.decode_detail(shared[: kept.detail]),
            request_size=bodies.size(kept.request),
            response_size=bodies.size(kept.response),
            request=_shared_body(kept.request, shared[kept.detail : response_at]),
            response=_shared_body(kept.response, shared[response_at:]),
        )

    def pieces(self, kept: bodies.Kept, side: Side) -> Iterator[bytes] | None:
        """A body piece by piece; None: not stored. Raises BodyDamaged."""
        body = kept.request if side == "request" else kept.response
        if body is None:
            return None
        before = kept.detail + (bodies.rest(kept.request) if side == "response" else 0)
        return self._pieces(kept, body, before)

    def _pieces(self, kept: bodies.Kept, body: bodies.Side, before: int) -> Iterator[bytes]:
        for extent in body.extents:
            yield from read_extent(self._directory, extent)
        if body.rest:
            yield from _slice(read_extent(self._directory, kept.shared()), before, body.rest)

    def entry(self, record: Record, kept: bodies.Kept, most_bytes: int | None = None) -> Entry:
        """With its bodies in memory, as far as they can be read and are not larger than ``most_bytes``."""
        try:
            if self.has(kept):
                shared = b"".join(read_extent(self._directory, kept.shared()))
                return Entry(
                    record=record,
                    detail=bodies.decode_detail(shared[: kept.detail]),
                    request=self._whole(kept.request, shared[kept.detail :], most_bytes),
                    response=self._whole(kept.response, shared[kept.detail + bodies.rest(kept.request) :], most_bytes),
                )
        except BodyDamaged:
            pass
        return Entry(record=_expired(record, kept), detail=Detail(), request=None, response=None)

    def _whole(self, side: bodies.Side | None, rest: bytes, most_bytes: int | None) -> Body | None:
        """One body in memory; what of it lies in the shared frame comes first in ``rest``."""
        if side is None or (most_bytes is not None and (bodies.size(side) or 0) > most_bytes):
            return None
        pieces = [piece for extent in side.extents for piece in read_extent(self._directory, extent)]
        return Body([], [*pieces, rest[: side.rest]])


def _expired(record: Record, kept: bodies.Kept) -> Record:
    """The record without the bodies that were kept of it, if any."""
    if kept.request is None and kept.response is None:
        return record
    return msgspec.structs.replace(record, body_state="expired")


def _shared_body(side: bodies.Side | None, rest: bytes) -> bytes | None:
    """A body that has no bytes elsewhere."""
    return None if side is None or side.extents else rest


def _slice(pieces: Iterator[bytes], start: int, length: int) -> Iterator[bytes]:
    """The bytes from ``start`` on, ``length`` of them."""
    end, at = start + length, 0
    for piece in pieces:
        wanted = piece[max(0, start - at) : max(0, end - at)]
        at += len(piece)
        if wanted:
            yield wanted
