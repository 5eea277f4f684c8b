"""The words that an attached text index knows, for beginnings of words.

FTS5 merges where all words with a beginning stand before it yields the first: seconds and hundreds of megabytes in a
log of ten million. Asked for the words one by one it yields at once, so a beginning becomes the words that have it.
"""

from typing import Final

import apsw

from relaybook.log.query.filters import WORDS
from relaybook.log.query.words import spaced
from relaybook.log.store.sqlite.filter_sql import match_of

#: Name and arguments.
TOKENIZER: Final = ("unicode61", ["remove_diacritics", "2"])
#: Looking up a word takes about 0.1 ms, and finding by it a few kilobytes for each segment of the index.
MOST: Final = 256
_TABLE: Final = f"CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('{{}}', '{WORDS}', 'instance')"
_NEXT: Final = "SELECT term FROM temp.vocabulary WHERE term >= ? LIMIT 1"
#: No word has it: the least text that is greater than a word is the word with it.
_AFTER: Final = "\x01"


def add_vocabulary(connection: apsw.Connection, schema: str) -> None:
    """Lets ``match`` see the words of the index in the schema."""
    connection.execute(_TABLE.format(schema))


def match(connection: apsw.Connection, phrase: str) -> str | None:
    """What finds the phrase, in the language of FTS5; a ``*`` at its end lets the last word go on.

    None: more than ``MOST`` words begin so, and the index would take too long.
    """
    if not phrase.endswith("*"):
        return match_of(phrase)
    tokens = _tokens(connection, phrase.rstrip("*"))
    words = _with(connection, tokens[-1]) if tokens else []
    if words is None:
        return None
    return " OR ".join(match_of(" ".join([*tokens[:-1], word])) for word in words) or match_of(phrase)


def _tokens(connection: apsw.Connection, text: str) -> list[str]:
    """As the index takes them."""
    tokenize = connection.fts5_tokenizer(*TOKENIZER)
    found = tokenize(
        spaced(text).encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False
    )
    return [str(token) for token in found]


def _with(connection: apsw.Connection, beginning: str) -> list[str] | None:
    """The words that begin so; None: more than ``MOST``."""
    found: list[str] = []
    at = beginning
    while len(found) <= MOST:
        word = connection.execute(_NEXT, (at,)).get
        if word is None or not word.startswith(beginning):
            return found
        found.append(word)
        at = word + _AFTER
    return None
