"""In the SQLite store, namespaces can be pinned and unpinned while the writer runs. Each change is atomic."""

import threading
from pathlib import Path

import apsw
import pytest
from tests.support.records import a_batch, an_entry, soon

from relaybook.log.namespaces import LabelChange, NamespaceQuery
from relaybook.log.record import Gap
from relaybook.log.store.errors import BatchRejected, StoreUnavailable, UnsupportedSchema
from relaybook.log.store.files import DATABASE
from relaybook.log.store.sqlite.connection import open_for_change
from relaybook.log.store.sqlite.labels import SqliteLabels
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.writer import SqliteWriter

PIN = LabelChange(namespace="mine", pinned=True)


def labels_of(directory: Path) -> dict[str, int | None]:
    reader = SqliteReader(directory)
    rows, _ = reader.namespaces(NamespaceQuery(pinned=True), 500, None, soon())
    reader.close()
    return {row.namespace: row.position for row in rows}


@pytest.fixture
def writer(tmp_path):
    opened = SqliteWriter(tmp_path)
    yield opened
    opened.close()


def test_writer_and_label_changes_take_turns(writer: SqliteWriter, tmp_path: Path) -> None:
    problems: list[BaseException] = []

    def pin(first: int) -> None:
        try:
            for number in range(first, first + 20):
                SqliteLabels(tmp_path, busy_s=30).change(LabelChange(namespace=f"label {number}", pinned=True))
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=pin, args=(first,)) for first in (100, 200)]
    for thread in threads:
        thread.start()
    for number in range(40):
        writer.commit(a_batch(*(an_entry(namespace=f"user-{1000 + number}") for _ in range(20))))
    for thread in threads:
        thread.join(60)
    assert problems == []
    assert sorted(labels_of(tmp_path).values()) == list(range(40))
    reader = SqliteReader(tmp_path)
    status = reader.status()
    assert (status.records, status.namespaces, status.labels) == (800, 80, 40)
    reader.close()


def test_a_store_that_stays_locked_rejects_the_change(writer: SqliteWriter, tmp_path: Path) -> None:
    other = apsw.Connection(str(tmp_path / DATABASE))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="another program is using the database"):
        SqliteLabels(tmp_path, busy_s=0).change(PIN)
    other.execute("ROLLBACK")
    other.close()
    SqliteLabels(tmp_path, busy_s=0).change(PIN)
    assert labels_of(tmp_path) == {"mine": 0}


def test_changing_labels_does_not_create_a_missing_log(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        SqliteLabels(tmp_path).change(PIN)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / DATABASE).touch()
    with pytest.raises(StoreUnavailable, match=r"does not contain a log yet\. Start `relaybook serve` once"):
        SqliteLabels(tmp_path).change(PIN)


def test_a_log_of_a_later_version_is_not_changed(writer: SqliteWriter, tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / DATABASE))
    connection.pragma("user_version", 99)
    connection.close()
    with pytest.raises(UnsupportedSchema):
        SqliteLabels(tmp_path).change(PIN)


def test_a_change_survives_a_power_cut_and_old_values_are_erased(writer: SqliteWriter, tmp_path: Path) -> None:
    connection = open_for_change(tmp_path, 0)
    names = ("synchronous", "secure_delete", "wal_autocheckpoint")
    assert [connection.pragma(name) for name in names] == [2, 1, 0]
    connection.close()


def test_after_the_first_labels_names_are_not_examined_again(writer: SqliteWriter) -> None:
    looked: list[str] = []
    writer._connection.set_exec_trace(lambda _, sql, __: looked.append(sql) is None)
    writer.commit(a_batch(*(an_entry(namespace=f"app {number % 3}") for number in range(30))))
    assert sum("is_decided FROM namespaces" in sql for sql in looked) == 3
    looked.clear()
    writer.commit(a_batch(an_entry(namespace="app 0"), an_entry(namespace="user-1234")))
    assert not [sql for sql in looked if "is_decided" in sql]
    writer.commit(a_batch(*(an_entry(namespace=f"app {number}") for number in range(9))))
    looked.clear()
    writer.commit(a_batch(an_entry(namespace="one more")))
    assert not [sql for sql in looked if "is_decided" in sql]


def test_a_failed_commit_creates_no_label(writer: SqliteWriter, tmp_path: Path) -> None:
    writer._connection.execute("CREATE TRIGGER full BEFORE INSERT ON gaps BEGIN SELECT raise(ABORT, 'no'); END")
    gap = Gap(from_at=1, to_at=2, count=1, reason="damaged")
    for _ in range(9):
        with pytest.raises(BatchRejected):
            writer.commit(a_batch(an_entry(namespace="production"), gaps=[gap]))
    assert labels_of(tmp_path) == {}
    writer.commit(a_batch(*(an_entry(namespace=f"app {number}") for number in range(9))))
    assert len(labels_of(tmp_path)) == 8
