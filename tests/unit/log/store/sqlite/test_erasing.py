"""Erasing bytes in the SQLite store removes the bytes from all files of the store."""

import os
from pathlib import Path

import pytest
from tests.support.records import a_batch, an_entry

from relaybook import ids
from relaybook.log.record import Gap
from relaybook.log.store.files import DATABASE
from relaybook.log.store.port import Batch, ExchangeCheckpoint
from relaybook.log.store.sqlite.connection import open_for_reading
from relaybook.log.store.sqlite.packs.pack_writer import PackWriter
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter

RUN = "0192f0c8-7b3a-7cde-8f00-000000000001"


@pytest.fixture
def writer(tmp_path):
    opened = SqliteWriter(tmp_path)
    yield opened
    opened.close()


def contains(directory, secret):
    """Return whether any file of the store contains the bytes."""
    return any(secret in path.read_bytes() for path in directory.rglob("*") if path.is_file())


def store_while_running(writer, secret, state):
    """Store the bytes of a running exchange in a pack and in the database before the exchange ends."""
    exchange = ids.new_id()
    ref = writer.write_body(secret)
    writer.commit(Batch(checkpoints=[ExchangeCheckpoint(run=RUN, exchange=exchange, number=1, state=state)]))
    entry = an_entry(None, None, id=ids.id_text(exchange), body_state="no_bodies")
    return ref, entry


@pytest.mark.parametrize("size", [60, 40_000])
def test_erased_bytes_and_deleted_states_are_in_no_file(writer: SqliteWriter, tmp_path: Path, size: int) -> None:
    secret, state = os.urandom(size), os.urandom(size)
    ref, entry = store_while_running(writer, secret, state)
    assert contains(tmp_path, secret[:50])
    assert contains(tmp_path, state[:50])
    writer.commit(a_batch(entry, erase=[ref]))
    for start in range(0, size - 50, 997):
        assert not contains(tmp_path, secret[start : start + 50])
        assert not contains(tmp_path, state[start : start + 50])


def test_the_deleted_state_of_an_exchange_without_stored_bytes_is_in_no_file(
    writer: SqliteWriter, tmp_path: Path
) -> None:
    state = os.urandom(60)
    _, entry = store_while_running(writer, b"", state)
    writer.commit(a_batch(entry))
    assert not contains(tmp_path, state)


def test_bytes_around_the_erased_ones_are_unchanged(writer: SqliteWriter, tmp_path: Path) -> None:
    before, after = an_entry(b"before"), an_entry(b"after")
    writer.commit(a_batch(before))
    ref = writer.write_body(os.urandom(50_000))
    writer.commit(a_batch(after))
    writer.commit(Batch(erase=[ref]))
    reader = SqliteReader(tmp_path)
    assert b"".join(reader.body(before.record.id, "request")) == b"before"
    assert b"".join(reader.body(after.record.id, "request")) == b"after"
    reader.close()


def test_a_concurrent_reader_only_delays_erasing(writer: SqliteWriter, tmp_path: Path) -> None:
    state = os.urandom(60)
    _, entry = store_while_running(writer, b"", state)
    reader = open_for_reading(tmp_path)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM requests").get == 0
    writer.commit(a_batch(entry))
    assert contains(tmp_path, state)
    reader.close()
    writer.commit(Batch(gaps=[Gap(from_at=1, to_at=2, count=1, reason="damaged")]))
    assert not contains(tmp_path, state)


def test_erasing_interrupted_by_a_crash_is_finished_when_the_store_opens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_):
        raise OSError

    secret = os.urandom(60)
    writer = SqliteWriter(tmp_path)
    monkeypatch.setattr(PackWriter, "erase", fail)
    ref = writer.write_body(secret)
    writer.commit(Batch(erase=[ref]))
    writer.close()
    assert contains(tmp_path, secret)
    monkeypatch.undo()
    SqliteWriter(tmp_path).close()
    assert not contains(tmp_path, secret)
    connection = open_for_reading(tmp_path)
    assert connection.execute("SELECT count(*) FROM erasures").get == 0
    connection.close()
    assert (tmp_path / DATABASE).exists()


def test_erasing_bytes_of_a_deleted_pack_is_no_error(writer: SqliteWriter, tmp_path: Path) -> None:
    ref = writer.write_body(b"x" * 60)
    next((tmp_path / "bodies").iterdir()).unlink()
    writer.commit(Batch(erase=[ref]))
    assert writer._state.erasures() == []
