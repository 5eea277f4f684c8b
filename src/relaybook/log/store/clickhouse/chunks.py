"""Write large bodies in chunks before their requests are recorded, and erase chunks.

The table ``state`` has the number of the last committed chunk, and the chunks to erase. After a crash, the recorder
deletes chunks that belong to no request, and continues erasing.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress

from relaybook.log.request_view import MAX_BODY_BYTES
from relaybook.log.store.clickhouse.connection import Database
from relaybook.log.store.clickhouse.entries import body_chunks
from relaybook.log.store.clickhouse.recorders import Membership
from relaybook.log.store.clickhouse.rows import chunks_of
from relaybook.log.store.clickhouse.schema import CHUNK_COLUMNS
from relaybook.log.store.clickhouse.state import State
from relaybook.log.store.entry import Body, BodyRef, Entry, body_size
from relaybook.log.store.errors import BodyDamaged, StoreUnavailable


class Chunks:
    """The chunks of large bodies that one recorder writes to the table ``chunks``."""

    def __init__(self, database: Database, state: State, name: str, recorders: Membership) -> None:
        """``name`` is the name of the recorder. ``recorders`` provides the numbers of the chunks."""
        self._database = database
        self._state = state
        self._name = name
        self._recorders = recorders
        #: The chunks to erase.
        self._erasures = set(state.read_own("erasure"))
        self._committed = self._committed_last()
        ((newest,),) = database.query("SELECT max(id) FROM chunks WHERE recorder = %(name)s", {"name": name})
        self._last = max(self._committed, newest)
        #: The numbers of the last committed chunk and of the last written chunk, at the start of this process. The
        #: chunks after the last committed chunk are uncommitted, unless a commit of the earlier process still
        #: completes. `None` if there are no uncommitted chunks.
        self._uncommitted = (self._committed, newest) if newest > self._committed else None
        with suppress(StoreUnavailable):  # the writer calls ``erase`` again after each commit
            self.erase()

    def _committed_last(self) -> int:
        return int(self._state.read_own("last_chunk").get("", 0))

    def write(self, data: bytes) -> BodyRef:
        """Write a chunk and return its reference. Raises StoreUnavailable.

        The chunk is kept only if a commit contains the reference.
        """
        self._last = chunk = self._recorders.number_above(self._last)
        try:
            self._database.insert("chunks", CHUNK_COLUMNS, [(chunk, self._name, bytes(data))])
        except StoreUnavailable:
            self._erasures.add(str(chunk))  # the chunk may have been inserted, but a retry uses another number
            raise
        return BodyRef((chunk,), len(data))

    def read(self, ref: BodyRef) -> bytes:
        """Return the bytes of the chunk with this reference. Raises BodyDamaged."""
        return b"".join(body_chunks(self._database, [(ref.location[0], ref.size)], b""))

    def whole(self, body: Body | None) -> Body | None:
        """Return a body with all its bytes in memory.

        `None` if the body is too large to be searched, or if some of its chunks are missing.
        """
        if body is None or not body.refs:
            return body
        if (body_size(body) or 0) > MAX_BODY_BYTES:
            return None
        try:
            return Body([], [*body_chunks(self._database, chunks_of(body), b""), *body.rest])
        except BodyDamaged:
            return None

    def will_erase_uncommitted(self) -> None:
        """Mark chunks for erasure that an earlier process wrote and that belong to no request.

        Call this method before the first commit, and only when no insert of the earlier process is running.
        """
        if self._uncommitted is None:
            return
        low, high = self._uncommitted
        low = max(low, self._committed_last())  # a commit of the earlier process may have completed
        sql = (
            f"SELECT id FROM chunks WHERE recorder = %(name)s AND id > {low} AND id <= {high} "
            "AND id NOT IN (SELECT arrayJoin(arrayConcat(request_chunks, response_chunks)).1 FROM requests)"
        )
        self._erasures |= {str(chunk) for (chunk,) in self._database.query(sql, {"name": self._name})}
        self._uncommitted = None

    def will_erase_repeated(self, entries: Sequence[Entry]) -> None:
        """Mark the chunks of ``entries`` for erasure, except those that the stored requests with the same ids contain.

        Use this method for requests that are already stored, perhaps with other chunks, or that were deleted.
        """
        chunks = {
            entry.record.id: [chunk for body in (entry.request, entry.response) for chunk, _ in chunks_of(body)]
            for entry in entries
        }
        ids = [record_id for record_id, of_entry in chunks.items() if of_entry]
        if not ids:
            return
        sql = "SELECT arrayJoin(arrayConcat(request_chunks, response_chunks)).1 FROM requests WHERE id IN %(ids)s"
        stored = {chunk for (chunk,) in self._database.query(sql, {"ids": ids})}
        self._erasures |= {str(chunk) for of_entry in chunks.values() for chunk in of_entry if chunk not in stored}

    def will_erase(self, chunks: Iterable[int]) -> None:
        """Mark chunks for erasure. The mark survives a crash."""
        new = {str(chunk) for chunk in chunks} - self._erasures
        if new:
            self._state.write({("erasure", chunk): b"" for chunk in new})
            self._erasures |= new

    def changes(self, erase: Iterable[BodyRef]) -> dict[tuple[str, str], bytes | None]:
        """Return the changes about chunks that a commit makes to the table ``state``.

        The changes contain the number of the last chunk, and mark chunks for erasure, including those in ``erase``.
        """
        erasures = self._erasures | _names(erase)
        changes: dict[tuple[str, str], bytes | None] = {("erasure", chunk): b"" for chunk in erasures}
        if self._last != self._committed:
            changes["last_chunk", ""] = b"%d" % self._last
        return changes

    def committed(self, erase: Iterable[BodyRef]) -> None:
        """Update the cached state. Call this method after a commit, with the same ``erase`` as for ``changes``."""
        self._committed = self._last
        self._erasures |= _names(erase)

    def erase(self) -> None:
        """Erase the marked chunks. If this method raises StoreUnavailable, call the method again."""
        if self._erasures:
            self._database.execute(f"ALTER TABLE chunks DELETE WHERE id IN ({', '.join(self._erasures)})")
            self._state.write({("erasure", chunk): None for chunk in self._erasures})
            self._erasures = set()


def _names(refs: Iterable[BodyRef]) -> set[str]:
    return {str(ref.location[0]) for ref in refs}
