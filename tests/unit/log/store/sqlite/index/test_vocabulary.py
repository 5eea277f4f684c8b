"""Test that word prefixes are expanded to words in the index."""

import apsw
import pytest

from relaybook.log.store.sqlite.index.text_index import attach
from relaybook.log.store.sqlite.index.vocabulary import MAX_WORDS, prefix_query


@pytest.fixture
def connection(tmp_path_factory: pytest.TempPathFactory) -> apsw.Connection:
    """Return a connection with temporary index tables that belong to no log."""
    made = apsw.Connection(":memory:")
    attach(made, tmp_path_factory.mktemp("nothing"))
    texts = ["Would you", "wouldn't", "wound wounds", *(f"many{number}" for number in range(MAX_WORDS + 1))]
    made.executemany("INSERT INTO words(new) VALUES (?)", ((text,) for text in texts))
    return made


@pytest.mark.parametrize(
    ("phrase", "query"),
    [
        ("would", '"would" OR "wouldn"'),
        ("WOÜLD", '"would" OR "wouldn"'),
        ("woun", '"wound" OR "wounds"'),
        ("if I wou", '"if i would" OR "if i wouldn" OR "if i wound" OR "if i wounds"'),
        ("many25", " OR ".join(f'"many{number}"' for number in (25, *range(250, 257)))),
        ("many", None),
        ("ma", None),
        ("nobody", '"nobody"'),
        ("\U0001f600", '""'),
    ],
)
def test_a_prefix_is_expanded_to_words(connection: apsw.Connection, phrase: str, query: str | None) -> None:
    assert prefix_query(connection, phrase) == query


def test_the_expanded_query_finds_matches(connection: apsw.Connection) -> None:
    found = connection.execute("SELECT rowid FROM words WHERE words MATCH ?", (prefix_query(connection, "wou"),))
    assert [rowid for (rowid,) in found] == [1, 2, 3]
