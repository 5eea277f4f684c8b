"""Functions of SQL that look into what a request says, for what no index knows.

They are ``holds(seq, piece)`` and ``says(seq, phrase)``. Each call reads the request's bodies, about 0.2 ms: they
belong after every other condition, and within a deadline.
"""

import sys
from typing import Any, Final

import apsw

from relaybook.log.query import words
from relaybook.log.search_text import MAX_BYTES, MAX_CHARACTERS, text_of
from relaybook.log.store.sqlite.bodies import decode_stored
from relaybook.log.store.sqlite.pack_reader import PackReader
from relaybook.log.store.sqlite.rows import WITH_BODIES, record_of

HOLDS: Final = "holds"
SAYS: Final = "says"
_BY_SEQ: Final = f"{WITH_BODIES} r.seq = ?"


class Texts:
    """What the requests of one connection's log say."""

    def __init__(self, connection: apsw.Connection, kept: PackReader) -> None:
        self._connection = connection
        self._kept = kept

    def holds(self, *arguments: Any) -> bool:
        seq, piece = arguments
        return words.holds(self._text(seq, sys.maxsize), piece)

    def says(self, *arguments: Any) -> bool:
        """As far as the index would take it, so that both find the same."""
        seq, phrase = arguments
        return words.contains(self._text(seq, MAX_CHARACTERS), phrase)

    def _text(self, seq: int, most: int) -> str:
        *row, bodies = next(self._connection.execute(_BY_SEQ, (seq,)))
        return text_of(self._kept.entry(record_of(row), decode_stored(bodies), MAX_BYTES), most)


def add_functions(connection: apsw.Connection, kept: PackReader) -> None:
    """Gives a reader's connection the functions."""
    texts = Texts(connection, kept)
    connection.create_scalar_function(HOLDS, texts.holds, 2)
    connection.create_scalar_function(SAYS, texts.says, 2)
