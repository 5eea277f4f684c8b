"""Read the details and bodies of requests from the packs, at the locations that the rows hold."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from relaybook.log.record import Detail, Record, Side
from relaybook.log.store.errors import BodyDamaged
from relaybook.log.store.port import Body, Entry, StoredRecord
from relaybook.log.store.sqlite import bodies
from relaybook.log.store.sqlite.disk import BODIES
from relaybook.log.store.sqlite.packs import pack_name, read_body


class PackReader:
    """The packs of one store. Thread-safe; data in packs never changes, but can be removed at any time."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory / BODIES

    def _has(self, location: bodies.RecordLocation) -> bool:
        """Return whether the pack exists. Packs are deleted when all their records have expired."""
        return (self._directory / pack_name(location.pack)).exists()

    def stored(self, record: Record, location: bodies.RecordLocation | None) -> StoredRecord:
        """Return the record with its detail, and the bodies that are in the shared frame.

        Raises BodyDamaged.
        """
        if location is None or not self._has(location):
            return _without_bodies(record, location)
        shared = b"".join(read_body(self._directory, location.shared()))
        response_at = location.detail + bodies.rest(location.request)
        return StoredRecord(
            record=record,
            detail=bodies.decode_detail(shared[: location.detail]),
            request_size=bodies.size(location.request),
            response_size=bodies.size(location.response),
            request=_shared_body(location.request, shared[location.detail : response_at]),
            response=_shared_body(location.response, shared[response_at:]),
        )

    def stored_or_expired(self, record: Record, location: bodies.RecordLocation | None) -> StoredRecord:
        """Return the same as ``stored``. If the data cannot be read, the record is marked as expired."""
        try:
            return self.stored(record, location)
        except BodyDamaged:
            return _without_bodies(record, location)

    def chunks(self, location: bodies.RecordLocation | None, side: Side) -> Iterator[bytes] | None:
        """Return a body in chunks, or `None` if it is not stored or has expired. Raises BodyDamaged."""
        if location is None or not self._has(location):
            return None
        body = location.request if side == "request" else location.response
        if body is None:
            return None
        before = location.detail + (bodies.rest(location.request) if side == "response" else 0)
        return self._chunks(location, body, before)

    def _chunks(self, location: bodies.RecordLocation, body: bodies.BodyLocation, before: int) -> Iterator[bytes]:
        for ref in body.refs:
            yield from read_body(self._directory, ref)
        if body.rest:
            yield from _slice(read_body(self._directory, location.shared()), before, body.rest)

    def entry(self, record: Record, location: bodies.RecordLocation | None, max_bytes: int | None = None) -> Entry:
        """Return the entry with its bodies in memory.

        Bodies larger than ``max_bytes`` are omitted. If the data cannot be read, the detail is empty and both bodies
        are omitted.
        """
        try:
            if location is not None and self._has(location):
                shared = b"".join(read_body(self._directory, location.shared()))
                return Entry(
                    record=record,
                    detail=bodies.decode_detail(shared[: location.detail]),
                    request=self._body_in_memory(location.request, shared[location.detail :], max_bytes),
                    response=self._body_in_memory(
                        location.response, shared[location.detail + bodies.rest(location.request) :], max_bytes
                    ),
                )
        except BodyDamaged:
            pass
        return Entry(record=_expired(record, location), detail=Detail(), request=None, response=None)

    def _body_in_memory(self, body: bodies.BodyLocation | None, rest: bytes, max_bytes: int | None) -> Body | None:
        """Return one body in memory.

        ``rest`` starts with the body's bytes that are in the shared frame.
        """
        if body is None or (max_bytes is not None and (bodies.size(body) or 0) > max_bytes):
            return None
        chunks = [chunk for ref in body.refs for chunk in read_body(self._directory, ref)]
        return Body([], [*chunks, rest[: body.rest]])


def _without_bodies(record: Record, location: bodies.RecordLocation | None) -> StoredRecord:
    return StoredRecord(record=_expired(record, location), detail=Detail(), request_size=None, response_size=None)


def _expired(record: Record, location: bodies.RecordLocation | None) -> Record:
    """Return the record, marked as expired if it had stored bodies."""
    if location is None or (location.request is None and location.response is None):
        return record
    return msgspec.structs.replace(record, body_state="expired")


def _shared_body(body: bodies.BodyLocation | None, rest: bytes) -> bytes | None:
    """Return a body that is completely in the shared frame, else `None`."""
    return None if body is None or body.refs else rest


def _slice(chunks: Iterator[bytes], start: int, length: int) -> Iterator[bytes]:
    """Yield ``length`` bytes from offset ``start``."""
    end, at = start + length, 0
    for chunk in chunks:
        selected = chunk[max(0, start - at) : max(0, end - at)]
        at += len(chunk)
        if selected:
            yield selected
