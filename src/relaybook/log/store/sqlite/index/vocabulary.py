"""Expand word prefixes to words, using the vocabulary of an attached text index.

For a prefix query, FTS5 merges the positions of all words with the prefix before it yields the first match. In a log of
ten million records, the merge takes seconds and hundreds of megabytes of memory. For whole words, FTS5 yields matches
immediately. So a prefix is expanded to the words that start with the prefix.
"""

from typing import Final

import apsw

from relaybook.log.query.filters import WORDS
from relaybook.log.query.words import SEPARATOR, words_of
from relaybook.log.store.sqlite.search.filter_sql import fts_phrase

#: Name and arguments of the FTS5 tokenizer. The categories are those of characters in words.
TOKENIZER: Final = (
    "unicode61",
    ["remove_diacritics", "2", "tokenchars", SEPARATOR, "categories", "L* N* Co Mc"],
)
#: Maximum number of words to which a prefix is expanded. Looking up a word takes about 0.1 ms, and a query needs a few
#: KiB of memory for each word and index segment.
MAX_WORDS: Final = 256
_TABLE: Final = f"CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('{{}}', '{WORDS}', 'instance')"
_NEXT: Final = "SELECT term FROM temp.vocabulary WHERE term >= ? LIMIT 1"
#: This character does not occur in words. If this character is appended to a word, the result sorts after the word and
#: before the next word.
_SUCCESSOR: Final = "\x01"


def add_vocabulary(connection: apsw.Connection, schema: str) -> None:
    """Give ``prefix_query`` access to the words of the full-text index in the SQLite schema ``schema``."""
    connection.execute(_TABLE.format(schema))


def prefix_query(connection: apsw.Connection, phrase: str) -> str | None:
    """Return the FTS5 query for a phrase whose last word is a prefix.

    `None` if more than ``MAX_WORDS`` words have the prefix, because the query would take too long.
    """
    tokens = _tokens(connection, phrase)
    words = _words_with_prefix(connection, tokens[-1]) if tokens else []
    if words is None:
        return None
    return " OR ".join(fts_phrase(" ".join([*tokens[:-1], word])) for word in words) or fts_phrase(phrase)


def _tokens(connection: apsw.Connection, text: str) -> list[str]:
    """Split the text into tokens in the same way as the full-text index."""
    tokenize = connection.fts5_tokenizer(*TOKENIZER)
    text = " ".join(words_of(text))
    found = tokenize(text.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False, include_colocated=False)
    return [str(token) for token in found]


def _words_with_prefix(connection: apsw.Connection, prefix: str) -> list[str] | None:
    """Return the words of the full-text index that start with the prefix.

    `None` if there are more than ``MAX_WORDS`` such words.
    """
    found: list[str] = []
    start = prefix
    while len(found) <= MAX_WORDS:
        word = connection.execute(_NEXT, (start,)).get
        if word is None or not word.startswith(prefix):
            return found
        found.append(word)
        start = word + _SUCCESSOR
    return None
