"""Use the SQLite store concurrently with its writer, in threads and other processes, and before the store exists."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.support.records import a_batch, an_entry, new_record_id, soon

from relaybook import clock
from relaybook.log.namespaces import NamespaceQuery
from relaybook.log.query.filters import Cursor, Filter, Term
from relaybook.log.store.errors import DeadlinePassed, StoreUnavailable
from relaybook.log.store.files import DATABASE
from relaybook.log.store.port import Count
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter


def test_a_reader_waits_for_a_store_to_appear(tmp_path: Path) -> None:
    directory = tmp_path / "not" / "yet"
    reader = SqliteReader(directory)
    assert reader.page(Filter(), 5, None, soon()).records == []
    assert reader.around(new_record_id(), Filter(), 5, soon()) is None
    assert reader.since(7, Filter(), 5) == ([], 7)
    assert (reader.count(Filter(), soon()), reader.open_request("x")) == (Count(), None)
    assert (reader.running(Filter()), reader.get("x"), reader.body("x", "request"), reader.find("x", 5)) == (
        [],
        None,
        None,
        [],
    )
    assert reader.namespaces(NamespaceQuery(), 5, None, soon()) == ([], None)
    assert (reader.values("model", "", 5, soon()), reader.gaps(0), reader.last_seq()) == ([], [], 0)
    status = reader.status()
    assert (status.records, status.namespaces, status.labels) == (0, 0, 0)
    assert not directory.exists()
    writer = SqliteWriter(directory)
    writer.commit(a_batch(an_entry()))
    assert reader.last_seq() == 1
    writer.close()
    reader.close()


def test_a_reader_keeps_working_after_the_writer_has_closed(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path)
    writer.commit(a_batch(an_entry()))
    writer.close()
    reader = SqliteReader(tmp_path)
    assert reader.last_seq() == 1
    reader.close()


def test_a_reader_switches_to_a_file_that_replaced_its_own(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path)
    writer.commit(a_batch(an_entry(), an_entry()))
    reader = SqliteReader(tmp_path)
    assert reader.last_seq() == 2
    writer.close()
    (tmp_path / DATABASE).rename(tmp_path / "moved-away")
    writer = SqliteWriter(tmp_path)
    assert reader.last_seq() == 0
    writer.close()
    reader.close()


def test_a_closed_reader_raises_an_error(tmp_path: Path) -> None:
    SqliteWriter(tmp_path).close()
    reader = SqliteReader(tmp_path)
    reader.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        reader.last_seq()


def test_readers_in_threads_see_only_complete_batches(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path)
    reader = SqliteReader(tmp_path)
    stop, problems = threading.Event(), []

    def read_repeatedly():
        while not stop.is_set():
            page = reader.page(Filter(), 30, None, soon())
            seqs = [record.seq for record in page.records]
            (namespace,) = reader.namespaces(NamespaceQuery(), 5, None, soon())[0] or [None]
            if seqs and seqs != list(range(seqs[0], max(0, seqs[0] - 30), -1)):
                problems.append(seqs)
            if seqs and (seqs[0] % 10 or (namespace is not None and namespace.requests % 10)):
                problems.append((seqs[0], namespace))

    threads = [threading.Thread(target=read_repeatedly) for _ in range(3)]
    writer.commit(a_batch(*(an_entry() for _ in range(10))))
    for thread in threads:
        thread.start()
    for _ in range(40):
        writer.commit(a_batch(*(an_entry() for _ in range(10))))
    stop.set()
    for thread in threads:
        thread.join(30)
    assert problems == []
    writer.close()
    reader.close()


def test_a_reader_in_another_process_sees_committed_records(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path)
    writer.commit(a_batch(entry := an_entry(b"across")))
    code = (
        "import sys; from pathlib import Path; from relaybook.log.store.sqlite.reader import SqliteReader\n"
        "reader = SqliteReader(Path(sys.argv[1]))\n"
        "print(reader.last_seq(), b''.join(reader.body(sys.argv[2], 'request')).decode())"
    )
    command = [sys.executable, "-c", code, str(tmp_path), entry.record.id]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "1 across\n"
    writer.close()


def test_a_namespace_pinned_by_another_process_is_pinned(tmp_path: Path) -> None:
    writer = SqliteWriter(tmp_path)
    code = (
        "import sys; from pathlib import Path; from relaybook.log.store.sqlite.labels import SqliteLabels\n"
        "from relaybook.log.namespaces import LabelChange\n"
        "print(SqliteLabels(Path(sys.argv[1])).change(LabelChange(namespace='mine', pinned=True)).position)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "0\n"
    writer.commit(a_batch(an_entry(namespace="mine")))
    reader = SqliteReader(tmp_path)
    rows, _ = reader.namespaces(NamespaceQuery(pinned=True), 5, None, soon())
    assert [(row.namespace, row.position, row.requests) for row in rows] == [("mine", 0, 1)]
    reader.close()
    writer.close()


@pytest.fixture(scope="module")
def long_log(tmp_path_factory):
    """Return a reader of 40,000 records. One in 10,000 records has the route `rare`. No index covers routes."""
    directory = tmp_path_factory.mktemp("long")
    writer = SqliteWriter(directory)
    for start in range(0, 40_000, 4000):
        numbers = range(start, start + 4000)
        routes = ("rare" if number % 10_000 == 5 else "default" for number in numbers)
        writer.commit(a_batch(*(an_entry(None, None, route=route, user=new_record_id()) for route in routes)))
    writer.close()
    reader = SqliteReader(directory)
    yield reader
    reader.close()


@pytest.mark.parametrize("direction", ["older", "newer"])
def test_following_incomplete_pages_finds_everything(long_log: SqliteReader, direction: str) -> None:
    wanted = Filter((Term("route", ("rare",)),))
    found, incomplete, cursor = [], 0, None
    if direction == "newer":
        cursor = Cursor("newer", 0)
    for attempt in range(10_000):
        page = long_log.page(wanted, 3, cursor, clock.monotonic_ns() + (attempt % 4 + 1) * 500_000)
        seqs = [record.seq for record in page.records]
        found = found + seqs if direction == "older" else seqs + found
        incomplete += not page.complete
        following = page.next_cursor if direction == "older" else page.newer_cursor
        if following is None or (direction == "newer" and page.complete and len(seqs) < 3):
            break
        cursor = following
    assert found == [30_006, 20_006, 10_006, 6]
    assert incomplete > 0


def test_a_full_page_is_complete_whatever_follows_it(long_log: SqliteReader) -> None:
    page = long_log.page(Filter((Term("route", ("rare",)),)), 4, None, soon())
    assert page.complete
    assert page.next_cursor is None


def test_a_count_at_its_deadline_returns_what_it_has(long_log: SqliteReader) -> None:
    wanted = Filter((Term("route", ("default",)),))
    assert long_log.count(wanted, soon()) == long_log.count(wanted, soon())
    assert long_log.count(wanted, soon()).requests == 39_996
    late = long_log.count(wanted, clock.monotonic_ns())
    assert (late.complete, late.requests) == (False, 0)
    some = [long_log.count(wanted, clock.monotonic_ns() + ms * 1_000_000) for ms in (1, 3, 9, 27)]
    assert all(found.requests <= 39_996 and found.complete == (found.requests == 39_996) for found in some)


def test_lists_that_exceed_the_deadline_are_incomplete(long_log: SqliteReader) -> None:
    with pytest.raises(DeadlinePassed):
        long_log.values("user", "", 5, clock.monotonic_ns())
    assert len(long_log.values("user", "", 5, soon())) == 5
