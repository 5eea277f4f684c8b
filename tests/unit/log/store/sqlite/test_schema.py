"""The schema is derived from the record and migrated by number."""

from pathlib import Path

import apsw
import pytest
from tests.support.records import a_record

from relaybook.log.record import FIELDS
from relaybook.log.store.errors import StoreTooNew, StoreUnavailable
from relaybook.log.store.sqlite.counters import ADD_NAMESPACES, namespace_counters
from relaybook.log.store.sqlite.rows import INSERT, row_of
from relaybook.log.store.sqlite.schema import (
    BLOCK,
    COLUMNS,
    MIGRATIONS,
    Migration,
    check_upgraded,
    check_version,
    migrate,
)


def database() -> apsw.Connection:
    return apsw.Connection(":memory:")


def columns(connection: apsw.Connection) -> dict[str, tuple[str, int]]:
    rows = connection.execute("SELECT name, type, \"notnull\" FROM pragma_table_info('requests')")
    return {name: (kind, required) for name, kind, required in rows}


def test_every_field_of_the_record_has_a_column() -> None:
    connection = database()
    migrate(connection, "it")
    actual = columns(connection)
    assert tuple(actual) == (*FIELDS, "bodies")
    assert actual["id"] == ("TEXT", 1)
    assert actual["failed"] == ("INTEGER", 1)
    assert actual["stream_requested"] == ("INTEGER", 0)
    assert actual["cost_usd"] == ("REAL", 0)
    assert actual["started_at"] == ("INTEGER", 1)
    assert actual["ended_at"] == ("INTEGER", 0)
    assert actual["outcome"] == ("TEXT", 1)
    assert actual["properties"] == ("TEXT", 0)


def test_migrations_are_numbered_from_one_without_gaps_or_duplicates() -> None:
    assert [migration.number for migration in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))
    assert len({migration.name for migration in MIGRATIONS}) == len(MIGRATIONS)


def test_migrating_again_changes_nothing() -> None:
    connection = database()
    migrate(connection, "it")
    before = list(connection.execute("SELECT sql FROM sqlite_schema"))
    migrate(connection, "it")
    assert list(connection.execute("SELECT sql FROM sqlite_schema")) == before
    assert check_version(connection, "it") == MIGRATIONS[-1].number


@pytest.mark.parametrize("name", ["cost_usd", "chunks", "route", "tokens_estimated", "advice"])
def test_adding_a_field_by_migration_gives_the_same_columns(name: str) -> None:
    later = (*MIGRATIONS, Migration(len(MIGRATIONS) + 1, f"the field {name}", adds=(name,)))
    old = database()
    migrate(old, "it", (later[0]._replace(adds=()), *later[1:])[: len(MIGRATIONS)])
    old.execute(f'ALTER TABLE requests DROP COLUMN "{name}"')
    migrate(old, "it", later)
    new, plain = database(), database()
    migrate(new, "it", later)
    migrate(plain, "it")
    assert columns(old) == columns(new) == columns(plain)


@pytest.mark.parametrize("version", range(len(MIGRATIONS) + 1))
def test_a_failed_migration_leaves_the_database_unchanged(version: int) -> None:
    connection = database()
    if version:
        migrate(connection, "it", MIGRATIONS[:version])
    before = list(connection.execute("SELECT sql FROM sqlite_schema"))
    broken = Migration(len(MIGRATIONS) + 1, "broken", "CREATE TABLE half (x); CREATE TABLE half (x)")
    with pytest.raises(apsw.SQLError):
        migrate(connection, "it", (*MIGRATIONS, broken))
    assert connection.pragma("user_version") == version
    assert list(connection.execute("SELECT sql FROM sqlite_schema")) == before


def test_a_concurrent_reader_sees_an_empty_or_a_complete_store(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "log.db"))
    connection.pragma("journal_mode", "wal")
    reader, results = apsw.Connection(str(tmp_path / "log.db")), []

    def trace(*_: object) -> bool:
        results.append(check_upgraded(reader, "it"))
        return True

    connection.exec_trace = trace
    migrate(connection, "it")
    assert results
    assert not any(results)
    assert check_upgraded(reader, "it")


def test_migrating_from_version_1_counts_namespaces_and_marks_none_as_decided() -> None:
    connection = database()
    migrate(connection, "it", MIGRATIONS[:1])
    connection.executemany(
        "INSERT INTO namespaces VALUES (?, 1, 0, 1, 1, ?, 1, 1, 0, 0, NULL)", [("a", 0.0), ("b", 0.5)]
    )
    migrate(connection, "it")
    assert dict(connection.execute("SELECT namespace, costed FROM namespaces")) == {"a": 0, "b": 1}
    actual = totals(connection)
    assert actual.pop("identity") != 0
    assert actual == {"records": 0, "last_seq": 0, "namespaces": 2, "first_labels": 0}
    assert set(connection.execute("SELECT pinned, position, is_decided FROM namespaces")) == {(0, None, 0)}


def test_migrating_from_version_1_counts_the_records_of_each_block() -> None:
    connection = database()
    migrate(connection, "it", MIGRATIONS[:1])
    seqs = [*range(1, BLOCK + 1), BLOCK + 5]
    connection.executemany(INSERT, [row_of(a_record(failed=seq % 4 == 0), seq, b"") for seq in seqs])
    connection.executemany("INSERT INTO spans VALUES (?, 10, 20)", [(0,), (1,)])
    migrate(connection, "it")
    actual = list(connection.execute("SELECT block, requests, failed, first_at, last_at FROM spans"))
    assert actual == [(0, BLOCK - 1, BLOCK // 4 - 1, 10, 20), (1, 2, 1, 10, 20)]


def test_a_namespace_is_counted_once() -> None:
    connection = database()
    migrate(connection, "it")
    for names in ("ab", "bc", "abc"):
        connection.executemany(ADD_NAMESPACES, namespace_counters([a_record(namespace=name) for name in names]))
    assert totals(connection)["namespaces"] == 3


def totals(connection: apsw.Connection) -> dict[str, int]:
    return dict(connection.execute("SELECT name, value FROM totals"))


@pytest.mark.parametrize("version", [1, 2])
def test_reading_an_older_version_fails_with_instructions(version: int) -> None:
    connection = database()
    assert not check_upgraded(connection, "it")
    migrate(connection, "it", MIGRATIONS[:version])
    if version == MIGRATIONS[-1].number:
        assert check_upgraded(connection, "it")
    else:
        with pytest.raises(StoreUnavailable, match=rf"\(schema version {version}\) and is not upgraded\. Start"):
            check_upgraded(connection, "it")


def test_a_later_version_is_rejected_with_both_versions_and_instructions() -> None:
    connection = database()
    connection.pragma("user_version", 7)
    with pytest.raises(StoreTooNew, match=r"schema version 7; this one supports \d+\. Start the later version"):
        migrate(connection, "it")


def test_a_database_of_another_program_is_rejected() -> None:
    connection = database()
    connection.execute("CREATE TABLE theirs (x)")
    with pytest.raises(StoreUnavailable, match="another program"):
        migrate(connection, "it")


def test_optional_columns_follow_the_record() -> None:
    optional = {column.name for column in COLUMNS if column.optional}
    assert {"model", "status", "ended_at", "stream_requested"} <= optional
    assert not optional & {"id", "started_at", "outcome", "failed", "namespace", "body_state"}
