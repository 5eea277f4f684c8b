"""Foreign ids are found in single and merged parts, during a merge, and after a crash during a merge."""

from pathlib import Path

import apsw
import pytest
from tests.support.records import a_batch, an_entry, soon

from relaybook import clock
from relaybook.log.record import Record
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.files import DATABASE
from relaybook.log.store.sqlite import entries
from relaybook.log.store.sqlite.index import foreign_ids
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.search import pages
from relaybook.log.store.sqlite.writer import SqliteWriter

RECORDS = 400
#: The parts of the log when nothing is left to merge: three parts of level 0 and three parts of level 2.
MERGED = [48, 49, 50, *(2 * 2**40 + position for position in range(3))]


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a log with parts of eight records each. Every tenth record has the same client request id."""
    monkeypatch.setattr(foreign_ids, "_SLICES", 4)
    for module in (entries, foreign_ids):
        monkeypatch.setattr(module, "PART", 8)
    writer = SqliteWriter(tmp_path)
    for first in range(0, RECORDS, 50):
        numbers = range(first, first + 50)
        writer.commit(
            a_batch(
                *(
                    an_entry(completion_id=f"c{number}", client_request_id="tenth" if number % 10 == 0 else None)
                    for number in numbers
                )
            )
        )
    writer.close()
    return tmp_path


def parts(directory: Path) -> list[int]:
    rows = apsw.Connection(str(directory / DATABASE)).execute("SELECT DISTINCT part FROM foreign_ids ORDER BY part")
    return [part for (part,) in rows]


def assert_all_found(directory: Path) -> bool:
    """Return whether every id finds its records, latest first."""
    reader = SqliteReader(directory)
    ones = all([record.seq for record in reader.find(f"c{n}", 5)] == [n + 1] for n in range(RECORDS))
    tenths = [record.seq for record in reader.find("tenth", 100)]
    reader.close()
    return ones and tenths == [number + 1 for number in range(RECORDS) if number % 10 == 0][::-1]


def test_only_the_returned_records_of_a_common_id_are_read(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = SqliteWriter(log)
    while writer.run_maintenance(soon()):
        pass
    writer.close()
    read: list[int] = []

    def load(connection: apsw.Connection, seqs: list[int]) -> list[Record]:
        read.extend(seqs)
        return pages.load(connection, seqs)

    monkeypatch.setattr(foreign_ids, "load", load)
    found = SqliteReader(log).find("tenth", 3)
    assert [record.seq for record in found] == read == [391, 381, 371]


def test_ids_that_are_added_to_old_records_hide_no_others(log: Path) -> None:
    """A reread can find an id in an old record, whose part was merged long ago."""
    writer = SqliteWriter(log)
    while writer.run_maintenance(soon()):
        pass
    writer.close()
    connection = apsw.Connection(str(log / DATABASE))
    for seq in (1, 9, 130, 250, 385, 400):
        part = foreign_ids.part_of(connection, seq)
        assert part in MERGED
        row = (part, foreign_ids.foreign_id_hash(f"new{seq}"), seq)
        connection.execute("INSERT INTO foreign_ids VALUES (?, ?, ?)", row)
    assert parts(log) == MERGED
    connection.close()
    assert assert_all_found(log)


def test_an_id_without_a_record_is_skipped(log: Path) -> None:
    connection = apsw.Connection(str(log / DATABASE))
    connection.execute("DELETE FROM requests WHERE seq = 391")
    connection.close()
    assert [record.seq for record in SqliteReader(log).find("tenth", 3)] == [381, 371, 361]


def test_full_groups_are_merged_and_every_id_is_still_found(log: Path) -> None:
    assert len(parts(log)) == RECORDS // 8 + 1
    assert assert_all_found(log)
    writer = SqliteWriter(log)
    assert writer.run_maintenance(soon())
    assert not writer.run_maintenance(soon())
    writer.close()
    assert parts(log) == MERGED
    assert assert_all_found(log)


def test_every_id_is_found_after_each_step_of_a_merge(log: Path) -> None:
    steps = 0
    while True:
        # Closing a writer after one step has the same effect as a crash, because the next writer continues the merge.
        writer = SqliteWriter(log)
        if steps % 2:
            has_more = writer._foreign_ids._select_group() and writer._foreign_ids._merge_slice() is None
        else:
            writer.run_maintenance(clock.monotonic_ns() + 200_000)  # a slow machine may not finish the step in time
            has_more = writer._foreign_ids._select_group()
        writer.close()
        if not has_more:
            break
        steps += 1
        if steps % 5 == 0:
            assert assert_all_found(log)
    assert parts(log) == MERGED
    assert assert_all_found(log)


def test_a_merge_that_is_not_possible_now_happens_later(log: Path) -> None:
    writer = SqliteWriter(log, busy_s=0)
    other = apsw.Connection(str(log / DATABASE))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="another program is using the database"):
        writer.run_maintenance(soon())
    other.execute("ROLLBACK")
    assert writer.run_maintenance(soon())
    writer.commit(a_batch(an_entry(completion_id="late")))
    writer.close()
    assert assert_all_found(log)


def test_without_time_nothing_is_merged(log: Path) -> None:
    writer = SqliteWriter(log)
    assert not writer.run_maintenance(clock.monotonic_ns() - 1)
    writer.close()
    assert max(parts(log)) < 2**40
