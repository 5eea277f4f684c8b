"""A reread in SQLite leaves the same tables as today's reader, and finishes the text index after a crash."""

from collections import Counter
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.conformance.stores.test_rereading import blank_and_read, is_readable
from tests.support.no_passes import a_reread_pass
from tests.support.records import an_entry, soon

from relaybook import clock
from relaybook.log.query.filters import WORDS, Filter, Term
from relaybook.log.query.words import SearchText
from relaybook.log.search_text import text_of
from relaybook.log.store.entry import Entry
from relaybook.log.store.files import DATABASE
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.index.text_index import SqliteTextIndex
from relaybook.log.store.sqlite.removal.deletions import SqliteDeletions
from relaybook.log.store.sqlite.rereading.rereader import Rereader
from relaybook.log.store.sqlite.rereading.rereads import SqliteRereads
from relaybook.log.store.sqlite.writer import SqliteWriter

#: Tables in which a reread can leave something of the old results. Series have other numbers, so rollups are counted.
TABLES = ("properties", "record_codes", "foreign_ids", "message_chains", "block_ranges", "value_counts", "rollups")


def log_of(directory: Path, entries: list[Entry]) -> SqliteWriter:
    writer = SqliteWriter(directory)
    writer.commit(Batch(entries=entries))
    index = SqliteTextIndex(directory)
    index.add([(entry.record.seq or 0, text_of(entry)) for entry in entries], len(entries))
    index.close()
    return writer


def reread(directory: Path, writer: SqliteWriter) -> None:
    SqliteRereads(directory).request_reread(Filter(), 1, "me")
    finish(writer)


def finish(writer: SqliteWriter) -> None:
    work = a_reread_pass(writer)
    writer._rereads._looked_ns = 0
    while work.work(clock.monotonic_ns() + 20_000_000):
        pass


def tables(directory: Path) -> dict[str, Any]:
    connection = apsw.Connection(str(directory / DATABASE), flags=apsw.SQLITE_OPEN_READONLY)
    found: dict[str, Any] = {name: list(connection.execute(f"SELECT * FROM {name}")) for name in TABLES}
    found["rollups"] = Counter((level, at) for level, _, at, _, _ in found["rollups"])
    found["left"] = list(connection.execute("SELECT * FROM changed_texts"))
    connection.close()
    return found


class Crash(Exception):
    pass


def crashing(*_: object) -> None:
    raise Crash


def found_by(directory: Path, writer: SqliteWriter, word: str) -> int:
    page = writer._rereads._search.reader.page(Filter((Term(WORDS, (word,)),)), 10_000, None, soon())
    return len(page.records)


def test_no_table_has_anything_of_the_old_results(tmp_path: Path) -> None:
    blank, read = blank_and_read(1)
    blank, read = list(filter(is_readable, blank)), list(filter(is_readable, read))
    for entry, other in zip(blank, read, strict=True):  # what an earlier reader could have read
        entry.record.completion_id = f"{other.record.completion_id or 'none'}-misread"
        entry.record.properties = {**entry.record.properties, "misread": "1"}
        entry.record.model, entry.chain = "misread", b"misread"
        assert entry.detail is not None
        assert other.detail is not None
        assert other.detail.exchange is not None
        entry.detail.exchange = other.detail.exchange
    writer = log_of(tmp_path / "blank", blank)
    log_of(tmp_path / "read", read).close()
    reread(tmp_path / "blank", writer)
    writer.close()
    expected = tables(tmp_path / "read")
    for name, rows in tables(tmp_path / "blank").items():
        assert rows == expected[name], name


def test_texts_are_replaced_after_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blank, _ = blank_and_read(1)
    writer = log_of(tmp_path, blank)
    monkeypatch.setattr(Rereader, "_replace_texts", crashing)
    with pytest.raises(Crash):
        reread(tmp_path, writer)
    monkeypatch.undo()
    assert tables(tmp_path)["left"]
    assert found_by(tmp_path, writer, "the") == 0
    # until the texts are replaced, a deletion by words would miss some requests
    SqliteDeletions(tmp_path).request(Filter((Term(WORDS, ("the",)),)), 1, "me")
    assert writer.delete(clock.monotonic_ns() + 20_000_000) == 0
    finish(writer)
    assert tables(tmp_path)["left"] == []
    count = found_by(tmp_path, writer, "the")
    assert count > 20
    writer._deletions._looked_ns = 0
    assert writer.delete(clock.monotonic_ns() + 500_000_000) == count
    writer.close()


def test_texts_that_are_not_indexed_yet_are_indexed_only_once(tmp_path: Path) -> None:
    blank, _ = blank_and_read(1)
    writer = SqliteWriter(tmp_path)
    writer.commit(Batch(entries=blank))
    index = SqliteTextIndex(tmp_path)
    index.add([(number, SearchText()) for number in range(1, 101)], 100)
    reread(tmp_path, writer)
    reader = writer._rereads._search.reader
    entries = reader.entries(100, 10_000, 1 << 30)
    index.add([(entry.record.seq or 0, text_of(entry)) for entry in entries], len(blank))
    index.close()
    assert found_by(tmp_path, writer, "the") > 20
    writer.close()


def test_a_log_without_a_text_index_is_reread(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path)
    writer.commit(Batch(entries=[an_entry()]))
    reread(tmp_path, writer)
    assert tables(tmp_path)["left"] == []
    writer.close()
