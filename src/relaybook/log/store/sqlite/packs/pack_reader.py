"""Read the details and bodies of requests from the packs. The row of a request has the location of its data.

Large bodies are in separate frames. The detail of a request and the remaining bytes of its bodies are together in one
frame, the shared frame (see bodies.py).

The data of a request can be removed or moved at any time. This can even happen after a reader has read the row and
before the reader reads the pack. So a reader that finds no data reads the row again.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import apsw
import msgspec

from relaybook.log.record import Record, Side
from relaybook.log.store.entry import Body, BodyRef, Entry
from relaybook.log.store.errors import BodyDamaged, StoreDamaged
from relaybook.log.store.files import BODIES
from relaybook.log.store.port import StoredRecord
from relaybook.log.store.sqlite.packs.bases import bases_of
from relaybook.log.store.sqlite.packs.bodies import (
    BodyLocation,
    RecordLocation,
    decode_detail,
    decode_location,
    rest,
    size,
)
from relaybook.log.store.sqlite.packs.pack_writer import pack_name, read_body

#: Maximum total size of the cached contents of bases.
_MAX_KEPT_BYTES: Final = 16 << 20
_BODIES: Final = "SELECT bodies FROM requests WHERE seq = ?"

#: Device and inode of a pack, its number, and offset and length of a frame in the pack. The number is needed, because a
#: new pack can have the inode of a deleted pack.
_Key = tuple[int, int, int, int, int]


class PackReader:
    """Reads the packs of one store. Thread-safe."""

    def __init__(self, directory: Path, snapshot: Callable[[], AbstractContextManager[apsw.Connection | None]]) -> None:
        """``snapshot`` provides a connection to the database."""
        self._directory = directory / BODIES
        self._snapshot = snapshot
        self._lock = threading.Lock()
        #: The cached contents of the most recently read bases.
        self._kept: OrderedDict[_Key, bytes] = OrderedDict()
        self._kept_bytes = 0

    def stored(self, record: Record, location: RecordLocation | None) -> StoredRecord:
        """Return the record with its detail, and with the bodies that are completely in the shared frame.

        Read other bodies with ``chunks``. Raises BodyDamaged.
        """
        content = self._content(record, location)
        if location is None or content is None:
            return _without_bodies(record, location)
        response_at = location.detail + rest(location.request)
        return StoredRecord(
            record=record,
            detail=decode_detail(content[: location.detail]),
            request_size=size(location.request),
            response_size=size(location.response),
            request=_shared_body(location.request, content[location.detail : response_at]),
            response=_shared_body(location.response, content[response_at:]),
        )

    def stored_or_damaged(self, record: Record, location: RecordLocation | None) -> StoredRecord:
        """Return the same as ``stored``, or a result with ``damage`` if the data cannot be read."""
        try:
            return self.stored(record, location)
        except BodyDamaged as error:
            return StoredRecord(record=record, detail=None, request_size=None, response_size=None, damage=str(error))

    def stored_or_expired(self, record: Record, location: RecordLocation | None) -> StoredRecord:
        """Return the same as ``stored``, or a result without data if the data cannot be read.

        In a result without data, the record is marked as expired if it had stored bodies.
        """
        try:
            return self.stored(record, location)
        except BodyDamaged:
            return _without_bodies(record, location)

    def chunks(self, record: Record, location: RecordLocation | None, side: Side) -> Iterator[bytes] | None:
        """Return a body in chunks, or `None` if the body is not stored or has expired. Raises BodyDamaged."""
        body = None if location is None else location.request if side == "request" else location.response
        if location is None or body is None:
            return None
        content = self._content(record, location)
        if content is None:
            return None
        start = location.detail + (rest(location.request) if side == "response" else 0)
        return self._chunks(body, content[start : start + body.rest])

    def _chunks(self, body: BodyLocation, shared: bytes) -> Iterator[bytes]:
        for ref in body.refs:
            yield self.separate(ref)
        if shared:
            yield shared

    def entry(self, record: Record, location: RecordLocation | None, max_bytes: int | None = None) -> Entry:
        """Read the detail and the bodies of a record into memory, and return them as an ``Entry``.

        Bodies larger than ``max_bytes`` are omitted. If the data cannot be read, the detail and both bodies are
        omitted.
        """
        try:
            content = self._content(record, location)
            if location is not None and content is not None:
                return Entry(
                    record=record,
                    detail=decode_detail(content[: location.detail]),
                    request=self._body_in_memory(location.request, content[location.detail :], max_bytes),
                    response=self._body_in_memory(
                        location.response, content[location.detail + rest(location.request) :], max_bytes
                    ),
                )
        except BodyDamaged:
            pass
        return Entry(record=_expired(record, location), detail=None, request=None, response=None)

    def _body_in_memory(self, body: BodyLocation | None, shared: bytes, max_bytes: int | None) -> Body | None:
        """Return one body in memory.

        ``shared`` starts with the bytes of the body that are in the shared frame.
        """
        if body is None or (max_bytes is not None and (size(body) or 0) > max_bytes):
            return None
        return Body([], [*map(self.separate, body.refs), shared[: body.rest]])

    def _content(self, record: Record, location: RecordLocation | None) -> bytes | None:
        """Return the content of the record's shared frame. Raises BodyDamaged.

        `None` if the content has expired or its pack does not exist. The content is read again after a failure, because
        its frame or one of its bases may have been moved, and erased, after their locations were read.
        """
        is_repeated = False
        while location is not None:
            try:
                return self.content(location)
            except BodyDamaged:
                current = self._current(record)
                if current == location:
                    if self._key(location.shared()) is None:
                        break
                    if is_repeated:
                        raise
                    is_repeated = True
                location = current
        return None

    def _current(self, record: Record) -> RecordLocation | None:
        with self._snapshot() as connection:
            return None if connection is None else decode_location(connection.execute(_BODIES, (record.seq,)).get)

    def content(self, location: RecordLocation) -> bytes:
        """Return the content of the shared frame at this location. Raises BodyDamaged."""
        base = None if location.base is None else self._base(location.base)
        return read_body(self._directory, location.shared(), base)

    def _base(self, frame: BodyRef) -> bytes:
        """Return the content of a base, and cache the content.

        The next request that is read probably has the same base, or a base that depends on this base. In both cases,
        the cached content is used.
        """
        chain, content = self._chain(frame)
        while chain:
            content = read_body(self._directory, chain.pop(), content)
        assert content is not None
        self._keep(frame, content)
        return content

    def separate(self, frame: BodyRef) -> bytes:
        """Return the content of a frame that holds only bytes of one body. Raises BodyDamaged."""
        return read_body(self._directory, frame)

    def _chain(self, frame: BodyRef) -> tuple[list[BodyRef], bytes | None]:
        """Return the frames that must be read to restore ``frame``, and a cached content to start with.

        The first frame is ``frame``. The base of each frame is the next frame in the list. The cached content belongs
        to the base of the last frame. It is `None` if no base in the chain is cached. If ``frame`` itself is cached,
        the list is empty, and the cached content belongs to ``frame``.
        """
        content = self._kept_content(frame)
        if content is not None:
            return [], content
        chain = [frame]
        try:
            with self._snapshot() as connection:
                for base in () if connection is None else bases_of(connection, *frame.location[:2]):
                    content = self._kept_content(base)
                    if content is not None:
                        break
                    chain.append(base)
        except StoreDamaged:
            content = None  # the last frame may need a base that was not found; its checksum then fails
        return chain, content

    def _key(self, frame: BodyRef) -> _Key | None:
        pack, offset, length = frame.location
        try:
            status = os.stat(f"{self._directory}/{pack_name(pack)}")  # noqa: PTH116 - faster than Path, once per frame of a chain
        except FileNotFoundError:
            return None
        return status.st_dev, status.st_ino, pack, offset, length

    def _kept_content(self, frame: BodyRef) -> bytes | None:
        key = self._key(frame)
        with self._lock:
            content = None if key is None else self._kept.get(key)
            if key is not None and content is not None:
                self._kept.move_to_end(key)
        return content

    def _keep(self, frame: BodyRef, content: bytes) -> None:
        key = self._key(frame)
        if key is None:
            return
        with self._lock:
            if key not in self._kept:
                self._kept[key] = content
                self._kept_bytes += len(content)
            while self._kept_bytes > _MAX_KEPT_BYTES:
                _, dropped = self._kept.popitem(last=False)
                self._kept_bytes -= len(dropped)


def _without_bodies(record: Record, location: RecordLocation | None) -> StoredRecord:
    return StoredRecord(record=_expired(record, location), detail=None, request_size=None, response_size=None)


def _expired(record: Record, location: RecordLocation | None) -> Record:
    """Return the record, marked as expired if it had stored bodies."""
    if location is None or (location.request is None and location.response is None):
        return record
    return msgspec.structs.replace(record, body_state="expired")


def _shared_body(body: BodyLocation | None, shared: bytes) -> bytes | None:
    """Return a body that is completely in the shared frame, else `None`."""
    return None if body is None or body.refs else shared
