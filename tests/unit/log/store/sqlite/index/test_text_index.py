"""The text index is on disk next to its log. If the index is missing, damaged or from another log, it is rebuilt."""

import json
import shutil
import threading
from pathlib import Path

import apsw
import pytest
from tests.support.records import a_batch, an_entry, soon

from relaybook import clock
from relaybook.log.query.filters import WORDS, Filter, Term
from relaybook.log.store.errors import StoreDamaged, StoreUnavailable
from relaybook.log.store.sqlite.index.text_index import FILE, SqliteTextIndex
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.removal.deletions import SqliteDeletions
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.recorder.passes.text import TextPass


def fill(directory: Path, *texts: str) -> None:
    writer = SqliteWriter(directory)
    bodies = (json.dumps({"messages": [{"role": "user", "content": text}]}).encode() for text in texts)
    writer.commit(a_batch(*(an_entry(body, b"{}") for body in bodies)))
    writer.close()
    update(directory)


def update(directory: Path) -> None:
    """Run one complete indexing pass, as the recorder does after a start."""
    reader, index = SqliteReader(directory), SqliteTextIndex(directory)
    TextPass(reader, index).work(soon())
    index.close()
    reader.close()


def find(directory: Path, word: str) -> list[int | None]:
    reader = SqliteReader(directory)
    try:
        return [record.seq for record in reader.page(Filter((Term(WORDS, (word,)),)), 50, None, soon()).records]
    finally:
        reader.close()


def test_words_of_stored_bodies_are_found(tmp_path: Path) -> None:
    fill(tmp_path, "where is my refund", "天気は？", "nothing")
    assert find(tmp_path, "refund") == [1]
    assert find(tmp_path, "天気") == [2]
    fill(tmp_path, "another refund")
    assert find(tmp_path, "refund") == [4, 1]


def test_an_open_reader_sees_an_index_that_is_created_later(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path)
    writer.commit(a_batch(an_entry(b'{"messages": [{"role": "user", "content": "refund"}]}', b"{}")))
    reader = SqliteReader(tmp_path)
    wanted = Filter((Term(WORDS, ("refund",)),))
    assert reader.page(wanted, 5, None, soon()).records == []
    update(tmp_path)
    assert len(reader.page(wanted, 5, None, soon()).records) == 1
    reader.close()
    writer.close()


def test_a_reader_opened_while_the_index_was_created_sees_it_afterwards(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path)
    writer.commit(a_batch(an_entry(b'{"messages": [{"role": "user", "content": "refund"}]}', b"{}")))
    (tmp_path / FILE).touch(0o600)  # the index file exists but is still empty
    reader = SqliteReader(tmp_path)
    wanted = Filter((Term(WORDS, ("refund",)),))
    assert reader.page(wanted, 5, None, soon()).records == []
    update(tmp_path)
    assert len(reader.page(wanted, 5, None, soon()).records) == 1
    reader.close()
    writer.close()


def test_the_pass_waits_for_an_index_that_a_reader_has_locked(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path)
    writer.commit(a_batch(an_entry(b'{"messages": [{"role": "user", "content": "refund"}]}', b"{}")))
    holder = apsw.Connection(str(tmp_path / FILE))
    holder.execute("BEGIN EXCLUSIVE")
    release = threading.Timer(0.2, holder.close)
    release.start()
    update(tmp_path)
    release.join()
    assert find(tmp_path, "refund") == [1]
    writer.close()


@pytest.mark.parametrize(
    "damage", ["lost", "damaged", "emptied", "not a database", "another database", "of another log"]
)
def test_an_unusable_index_is_rebuilt(tmp_path: Path, damage: str) -> None:
    store, path = tmp_path / "store", tmp_path / "store" / FILE
    fill(store, "where is my refund", "more")
    match damage:
        case "lost":
            path.unlink()
        case "damaged":
            data = bytearray(path.read_bytes())
            data[len(data) // 4 :] = b"\xa5" * (len(data) - len(data) // 4)
            path.write_bytes(data)
        case "emptied":
            path.write_bytes(b"")
        case "another database":
            path.unlink()
            apsw.Connection(str(path)).execute("CREATE TABLE t (a)")
        case "not a database":
            path.write_bytes(b"x" * 20_000)
        case _:
            other = tmp_path / "other"
            fill(other, "a", "refund", "c")
            path.write_bytes((other / FILE).read_bytes())
    for suffix in ("-wal", "-shm"):
        path.with_name(FILE + suffix).unlink(missing_ok=True)
    if damage != "damaged":
        assert find(store, "refund") == []
    update(store)
    update(store)
    assert find(store, "refund") == [1]


@pytest.mark.parametrize("term", [Term("namespace", ("web",)), Term(WORDS, ("lost",))])
def test_a_damaged_index_is_rebuilt_and_the_store_is_not_set_aside(tmp_path: Path, term: Term) -> None:
    """The recorder sets the store aside if StoreDamaged is raised."""
    writer = SqliteWriter(tmp_path)
    writer.commit(a_batch(an_entry(b'{"messages": [{"content": "lost word0"}]}', b"{}", namespace="web")))
    writer.close()
    fill(tmp_path, *(f"refund word{number} {number * 7}" for number in range(1, 2000)))
    reader, index, writer = SqliteReader(tmp_path), SqliteTextIndex(tmp_path), SqliteWriter(tmp_path)
    text = TextPass(reader, index)
    assert not text.work(soon())
    data = bytearray((tmp_path / FILE).read_bytes())
    data[12 * 8192 :] = b"\xa5" * (len(data) - 12 * 8192)
    (tmp_path / FILE).write_bytes(data)
    SqliteDeletions(tmp_path).request(Filter((term,)), 1, "127.0.0.1")

    def carry_out() -> None:
        while reader.deletions(1)[0].state != "done":
            writer.delete(clock.monotonic_ns() + 20_000_000)
            writer.run_maintenance(clock.monotonic_ns() + 20_000_000)
            text.work(soon())

    with pytest.raises(StoreUnavailable, match="was damaged and is rebuilt") as raised:
        carry_out()
    assert not isinstance(raised.value, StoreDamaged)
    carry_out()
    text.work(soon())
    assert [find(tmp_path, f"word{number}") for number in range(3)] == [[], [2], [3]]
    for part in (writer, index, reader):
        part.close()


def test_a_log_without_index_is_searched_as_before(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path)
    writer.commit(a_batch(an_entry()))
    writer.close()
    (tmp_path / FILE).mkdir()
    assert find(tmp_path, "refund") == []
    reader = SqliteReader(tmp_path)
    assert len(reader.page(Filter(), 5, None, soon()).records) == 1
    reader.close()


def test_only_the_owner_can_read_its_files(tmp_path: Path) -> None:
    fill(tmp_path, "refund")
    assert {path.stat().st_mode & 0o777 for path in tmp_path.glob(f"{FILE}*")} == {0o600}


@pytest.mark.parametrize("recorded_again", [1, 2, 3])
def test_an_index_ahead_of_its_log_is_rebuilt(tmp_path: Path, recorded_again: int) -> None:
    """This happens after a power failure if the index was on disk but the last records of the log were not."""
    store, earlier = tmp_path / "store", tmp_path / "earlier"
    fill(store, "an early refund")
    shutil.copytree(store, earlier)
    fill(store, "a lost invoice", "another lost invoice")
    for path in store.glob(f"{FILE}*"):
        shutil.copy(path, earlier)
    fill(earlier, *["a fresh start"] * recorded_again)
    assert find(earlier, "invoice") == []
    assert find(earlier, "fresh") == [*range(1 + recorded_again, 1, -1)]
    assert find(earlier, "refund") == [1]
