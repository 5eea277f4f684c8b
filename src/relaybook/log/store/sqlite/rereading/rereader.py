"""Carry out rereads on the writer's connection, in slices, and between the writer's transactions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import apsw

from relaybook import clock
from relaybook.log.deletions import without_values
from relaybook.log.query.words import SearchText
from relaybook.log.request_view import MAX_BODY_BYTES
from relaybook.log.search_text import text_of
from relaybook.log.store.port import ReadAgain
from relaybook.log.store.sqlite.connection import committing
from relaybook.log.store.sqlite.index.rollups import RollupTables
from relaybook.log.store.sqlite.index.text_index import FILE, SqliteTextIndex
from relaybook.log.store.sqlite.removal.deletions import decode_filter, encode
from relaybook.log.store.sqlite.rereading.replacing import Replacement, replace
from relaybook.log.store.sqlite.search.slices import Slice, SliceSearch

_UNFINISHED: Final = "SELECT rowid, filter, position, up_to FROM rereads WHERE state <> 'done' ORDER BY rowid"
_ADVANCE: Final = "UPDATE rereads SET position = ?, read = read + ?, changed = changed + ? WHERE rowid = ?"
_DONE: Final = "UPDATE rereads SET state = 'done', filter = ?, done_at = ? WHERE rowid = ?"
_ADD_CHANGED: Final = "INSERT OR IGNORE INTO changed_texts (seq) VALUES (?)"
_CHANGED: Final = "SELECT seq FROM changed_texts ORDER BY seq LIMIT ?"
_FORGET_CHANGED: Final = "DELETE FROM changed_texts WHERE seq = ?"
#: Maximum number of requests per transaction.
_SLICE: Final = 64
_LOOK_EVERY_NS: Final = 200_000_000


class Rereader:
    """Carries out rereads, oldest first."""

    def __init__(self, connection: apsw.Connection, rollups: RollupTables, directory: Path) -> None:
        self._connection = connection
        self._rollups = rollups
        self._directory = directory
        self._search = SliceSearch(connection, directory)
        self._index = SqliteTextIndex(directory)
        self._looked_ns = 0
        #: Whether the index may still have texts that were replaced.
        self._has_old_texts = False

    def work(self, read_again: ReadAgain, until_ns: int) -> bool:
        """Carry out rereads until ``until_ns`` (monotonic clock). Returns False if there was nothing to do."""
        now = clock.monotonic_ns()
        if now - self._looked_ns < _LOOK_EVERY_NS:
            return False
        worked = False
        while clock.monotonic_ns() < until_ns:
            if not self._step(read_again, until_ns):
                self._looked_ns = now
                break
            worked = True
        return worked

    def _step(self, read_again: ReadAgain, until_ns: int) -> bool:
        """Do one step of the first reread that can proceed. Returns False if there is nothing to do."""
        if self._has_old_texts:
            self._has_old_texts = self._index.compact()
            if clock.monotonic_ns() >= until_ns:
                return True
        if changed := [seq for (seq,) in self._connection.execute(_CHANGED, (_SLICE,))]:  # left by a crash
            self._replace_texts({seq: self._text(seq) for seq in changed})
            return True
        for number, filter_, position, up_to in list(self._connection.execute(_UNFINISHED)):
            if position >= up_to:
                remembered = encode(without_values(decode_filter(filter_))).decode()
                self._connection.execute(_DONE, (remembered, clock.wall_us(), number))
                return True
            found = self._search.next(decode_filter(filter_), position, up_to, _SLICE)
            if found is not None:
                self._read_slice(number, found, read_again, until_ns)
                return True
        return self._has_old_texts

    def _read_slice(self, number: int, found: Slice, read_again: ReadAgain, until_ns: int) -> None:
        """Read the requests of a slice again until ``until_ns``, but at least one, and replace them."""
        replacements: list[Replacement] = []
        read, reached = 0, found.reached
        for seq in found.seqs:
            old = self._search.reader.salvage(seq, MAX_BODY_BYTES)
            new = None if old is None or old.detail is None else read_again(old)
            if old is not None and new is not None:
                replacements.append(Replacement(old, new))
            read += 1
            if clock.monotonic_ns() >= until_ns:
                reached = seq if read < len(found.seqs) else found.reached
                break
        changes = [each for each in replacements if each.is_change]
        with committing(self._connection):
            if changes:
                replace(self._connection, self._rollups, changes)
            self._connection.executemany(_ADD_CHANGED, ((each.seq,) for each in replacements))
            self._connection.execute(_ADVANCE, (reached, read, len(changes), number))
        if replacements:
            self._replace_texts({each.seq: text_of(each.new) for each in replacements})

    def _text(self, seq: int) -> SearchText:
        entry = self._search.reader.salvage(seq, MAX_BODY_BYTES)
        return SearchText() if entry is None else text_of(entry)

    def _replace_texts(self, texts: Mapping[int, SearchText]) -> None:
        """Replace the texts of requests in the index. Texts that are not in the index yet will be added later."""
        if (self._directory / FILE).exists():
            indexed_to = self._index.indexed_to()
            self._has_old_texts = True
            self._index.replace([(seq, text) for seq, text in sorted(texts.items()) if seq <= indexed_to])
        with committing(self._connection):
            self._connection.executemany(_FORGET_CHANGED, ((seq,) for seq in texts))

    def close(self) -> None:
        self._search.close()
        self._index.close()
