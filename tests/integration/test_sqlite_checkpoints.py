"""Checkpoints of the SQLite store run in a thread. Commits do not wait, and the write-ahead log stays small."""

import threading
from pathlib import Path

import apsw
import pytest
from tests.support.records import traffic

from relaybook.log.query.filters import Filter
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite import writer as writer_module
from relaybook.log.store.sqlite.checkpoints import Checkpointer
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter

PAGES = 50
PAGE_BYTES = 4096


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "test.sqlite"


@pytest.fixture
def connection(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}; PRAGMA journal_mode = WAL").fetchall()
    connection.execute("CREATE TABLE t (x)")
    return connection


def commit_pages(connection: apsw.Connection, pages: int) -> None:
    with connection:
        connection.executemany("INSERT INTO t VALUES (zeroblob(?))", [(PAGE_BYTES,)] * pages)


def test_the_wal_begins_again_after_a_checkpoint(path: Path, connection: apsw.Connection) -> None:
    checkpointer = Checkpointer(path, PAGES)
    checkpointer.watch(connection)
    for _ in range(200):
        commit_pages(connection, 10)
        checkpointer.wait()
    assert path.with_name("test.sqlite-wal").stat().st_size < 3 * PAGES * PAGE_BYTES
    assert path.stat().st_size > 1900 * PAGE_BYTES
    assert connection.execute("SELECT count(*) FROM t").get == 2000
    connection.close()


def test_a_commit_does_not_wait_for_a_checkpoint(
    path: Path, connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, may_end = threading.Event(), threading.Event()
    checkpoint = Checkpointer._checkpoint

    def slow(checkpointer: Checkpointer) -> None:
        began.set()
        assert may_end.wait(30)
        checkpoint(checkpointer)

    monkeypatch.setattr(Checkpointer, "_checkpoint", slow)
    checkpointer = Checkpointer(path, PAGES)
    checkpointer.watch(connection)
    commit_pages(connection, 2 * PAGES)
    assert began.wait(30)
    commit_pages(connection, 2 * PAGES)
    assert path.stat().st_size < PAGES * PAGE_BYTES
    may_end.set()
    checkpointer.wait()
    assert path.stat().st_size > 2 * PAGES * PAGE_BYTES
    connection.close()


def test_a_missing_database_is_ignored(path: Path, connection: apsw.Connection) -> None:
    checkpointer = Checkpointer(path.with_name("missing.sqlite"), PAGES)
    checkpointer.watch(connection)
    commit_pages(connection, 2 * PAGES)
    checkpointer.wait()
    assert connection.execute("SELECT count(*) FROM t").get == 2 * PAGES
    connection.close()


def test_the_store_is_whole_while_it_is_checkpointed_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "CHECKPOINT_PAGES", 20)
    writer, reader, make = SqliteWriter(tmp_path), SqliteReader(tmp_path), traffic(1)
    for number in range(1, 101):
        writer.commit(Batch(entries=[make() for _ in range(20)]))
        assert reader.last_seq() == 20 * number
    writer.close()
    assert len(reader.since(0, Filter(), 10_000)[0]) == 2000
    reader.close()
    database = apsw.Connection(str(tmp_path / "relaybook.sqlite"))
    assert database.execute("PRAGMA integrity_check").get == "ok"
    database.close()
