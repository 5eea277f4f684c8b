"""Define SQL functions that search the text of a request.

The functions check conditions that no index can check. ``contains_text(seq, text)`` matches a substring.
``matches_phrase_prefix(seq, name, phrase)`` matches a phrase whose last word is a prefix, in the sections of the term
``name``. Each call reads the request's
bodies, which takes about 0.2 ms. So evaluate these functions after all other conditions, and with a deadline.
"""

import sys
from typing import Any, Final

import apsw

from relaybook.log.query import words
from relaybook.log.query.filters import section_text
from relaybook.log.request_view import MAX_BODY_BYTES
from relaybook.log.search_text import MAX_CHARACTERS, text_of
from relaybook.log.store.sqlite.packs.bodies import decode_location
from relaybook.log.store.sqlite.packs.pack_reader import PackReader
from relaybook.log.store.sqlite.rows import WITH_BODIES, record_of

CONTAINS_TEXT: Final = "contains_text"
MATCHES_PREFIX: Final = "matches_phrase_prefix"
_BY_SEQ: Final = f"{WITH_BODIES} r.seq = ?"


class TextFunctions:
    """Implements the SQL functions for one connection. The functions read the text of requests from the packs."""

    def __init__(self, connection: apsw.Connection, packs: PackReader) -> None:
        self._connection = connection
        self._packs = packs

    def contains_text(self, *arguments: Any) -> bool:
        seq, substring = arguments
        return words.has_substring(self._text(seq, sys.maxsize).whole, substring)

    def matches_phrase_prefix(self, *arguments: Any) -> bool:
        """Return whether the indexed part of the text contains the phrase, with the last word as a prefix."""
        seq, name, phrase = arguments
        return words.contains(section_text(name, self._text(seq, MAX_CHARACTERS)), phrase, is_prefix=True)

    def _text(self, seq: int, max_characters: int) -> words.SearchText:
        *row, bodies = next(self._connection.execute(_BY_SEQ, (seq,)))
        return text_of(self._packs.entry(record_of(row), decode_location(bodies), MAX_BODY_BYTES), max_characters)


def add_functions(connection: apsw.Connection, packs: PackReader) -> None:
    """Register ``contains_text`` and ``matches_phrase_prefix`` as SQL functions on a reader's connection."""
    functions = TextFunctions(connection, packs)
    connection.create_scalar_function(CONTAINS_TEXT, functions.contains_text, 2)
    connection.create_scalar_function(MATCHES_PREFIX, functions.matches_phrase_prefix, 3)
