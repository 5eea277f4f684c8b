"""Store requests again if the bases of their frames were removed.

A frame can be erased only when it is not the base of another frame. So before a base is erased, each frame that has
this base is replaced with a frame without a base. The table ``requests_to_rebase`` lists the affected requests (see
remover.py). Each request is stored again in a separate transaction.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Final

import apsw

from relaybook.log.store.entry import BodyRef
from relaybook.log.store.errors import BodyDamaged
from relaybook.log.store.sqlite.entries import ADD_PACK_RECORDS
from relaybook.log.store.sqlite.packs.bases import Bases
from relaybook.log.store.sqlite.packs.bodies import (
    Frame,
    RecordLocation,
    encode_location,
    new_compressor,
)
from relaybook.log.store.sqlite.packs.pack_reader import PackReader
from relaybook.log.store.sqlite.packs.pack_writer import PackWriter
from relaybook.log.store.sqlite.removal.remover import ADD_FRAME, REMOVE_DEPENDENT, readable_location

_NEXT: Final = """
SELECT l.seq, r.bodies FROM requests_to_rebase AS l LEFT JOIN requests AS r ON r.seq = l.seq ORDER BY l.seq LIMIT 1
"""
_DONE: Final = "DELETE FROM requests_to_rebase WHERE seq = ?"
_MOVE_ROW: Final = "UPDATE requests SET bodies = ? WHERE seq = ?"
_DEPENDENTS: Final = """
SELECT r.seq, r.bodies FROM dependents AS d JOIN requests AS r ON r.seq = d.seq
WHERE d.base_pack = ? AND d.base_offset = ?
"""
_MOVE_DEPENDENTS: Final = """
UPDATE dependents SET base_pack = ?, base_offset = ? WHERE base_pack = ? AND base_offset = ?
"""
_MOVE_BASE: Final = """
UPDATE bases_of_bases SET base_pack = ?, base_offset = ?, base_length = ? WHERE base_pack = ? AND base_offset = ?
"""
_FORGET_BASE: Final = 'DELETE FROM bases_of_bases WHERE pack = ? AND "offset" = ?'


class Rebaser:
    """Stores requests again if the bases of their frames were removed.

    The object works on the writer's connection and between the writer's transactions.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        packs: PackWriter,
        bases: Bases,
        directory: Path,
        transaction: Callable[[], AbstractContextManager[object]],
    ) -> None:
        """``transaction`` returns a context manager that commits the writes of its block to database and packs."""
        self._connection = connection
        self._transaction = transaction
        self._packs = packs
        self._bases = bases
        self._reader = PackReader(directory, lambda: nullcontext(connection))
        self._compressor = new_compressor()

    def step(self) -> bool:
        """Store the next request of ``requests_to_rebase`` again. Returns False if no request is left."""
        row = self._connection.execute(_NEXT).fetchone()
        if row is None:
            return False
        seq, bodies = row
        location = readable_location(seq, bodies)
        base = None if location is None else location.base
        content = None if location is None or base is None else self._content(location)
        if location is None or base is None or content is None:
            self._connection.execute(_DONE, (seq,))
            return True
        self._packs.open_pack_of_day()
        with self._transaction():
            self._move(seq, location, base, content)
            self._connection.execute(_DONE, (seq,))
        return True

    def _content(self, location: RecordLocation) -> bytes | None:
        try:
            return self._reader.content(location)
        except BodyDamaged:  # the damaged data is not moved
            return None

    def _move(self, seq: int, location: RecordLocation, base: BodyRef, content: bytes) -> None:
        execute = self._connection.execute
        old = location.frames()[0]
        data = self._compressor.compress(content)
        new: Frame = (*self._packs.append(data), len(data))
        before = {pack for pack, _, _ in location.frames()}
        location.pack, location.offset, location.length = new
        location.base = None
        after = {pack for pack, _, _ in location.frames()}
        execute(_MOVE_ROW, (encode_location(location), seq))
        execute(REMOVE_DEPENDENT, (*base.location[:2], seq))
        moved = [old]
        dependents: list[Any] = list(execute(_DEPENDENTS, old[:2]))
        for dependent, bodies in dependents:
            based = readable_location(dependent, bodies)
            if based is not None:
                based.base = BodyRef(new, len(content))
                moved.append(based.frames()[0])
                execute(_MOVE_ROW, (encode_location(based), dependent))
        execute(_MOVE_DEPENDENTS, (*new[:2], *old[:2]))
        execute(_MOVE_BASE, (*new, *old[:2]))
        execute(_FORGET_BASE, old[:2])
        execute(ADD_FRAME, old)
        for pack in after - before:
            execute(ADD_PACK_RECORDS, (1, pack))
        for pack in before - after:
            execute(ADD_PACK_RECORDS, (-1, pack))
        # The dependents are forgotten, too, because the cache has the old location of their base.
        self._bases.forget(moved)
