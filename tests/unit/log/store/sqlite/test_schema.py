"""Test that the schema is derived from ``Record``, and that it is created completely or not at all."""

from pathlib import Path

import apsw
import pytest
from tests.support.records import a_record

from relaybook.log.record import FIELDS
from relaybook.log.store.errors import StoreUnavailable, UnsupportedSchema
from relaybook.log.store.sqlite.index.counters import ADD_NAMESPACES, namespace_counters
from relaybook.log.store.sqlite.other_fields import OTHER_FIELDS
from relaybook.log.store.sqlite.schema import COLUMNS, VERSION, create_tables, is_created


def database() -> apsw.Connection:
    return apsw.Connection(":memory:")


def columns(connection: apsw.Connection) -> dict[str, tuple[str, int]]:
    rows = connection.execute("SELECT name, type, \"notnull\" FROM pragma_table_info('requests')")
    return {name: (kind, required) for name, kind, required in rows}


def test_every_field_of_the_record_is_in_one_column_but_the_feedback() -> None:
    connection = database()
    create_tables(connection, "it")
    actual = columns(connection)
    assert sorted([*actual, *OTHER_FIELDS, "feedback"]) == sorted([*FIELDS, "other_fields", "bodies"])
    assert actual["id"] == ("BLOB", 1)
    assert actual["failed"] == ("INTEGER", 1)
    assert actual["retry_count"] == ("INTEGER", 0)
    assert actual["other_fields"] == ("BLOB", 1)
    assert actual["cost_usd"] == ("REAL", 0)
    assert actual["started_at"] == ("INTEGER", 1)
    assert actual["ended_at"] == ("INTEGER", 0)
    assert actual["outcome"] == ("TEXT", 1)
    assert actual["properties"] == ("TEXT", 0)


def test_creating_tables_again_changes_nothing() -> None:
    connection = database()
    create_tables(connection, "it")
    before = list(connection.execute("SELECT sql FROM sqlite_schema"))
    create_tables(connection, "it")
    assert list(connection.execute("SELECT sql FROM sqlite_schema")) == before
    assert connection.pragma("user_version") == VERSION


@pytest.mark.parametrize("number", range(3))
def test_an_interrupted_creation_leaves_the_database_empty(number: int) -> None:
    connection = database()
    statements = 0

    def trace(*_: object) -> bool:
        nonlocal statements
        statements += 1
        return statements <= number * 10 + 3

    connection.exec_trace = trace
    with pytest.raises(apsw.ExecTraceAbort):
        create_tables(connection, "it")
    connection.exec_trace = None
    assert not is_created(connection, "it")
    assert list(connection.execute("SELECT sql FROM sqlite_schema")) == []
    create_tables(connection, "it")
    assert is_created(connection, "it")


def test_a_concurrent_reader_sees_an_empty_or_a_complete_store(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "log.db"))
    connection.pragma("journal_mode", "wal")
    reader, results = apsw.Connection(str(tmp_path / "log.db")), []

    def trace(*_: object) -> bool:
        results.append(is_created(reader, "it"))
        return True

    connection.exec_trace = trace
    create_tables(connection, "it")
    assert results
    assert not any(results)
    assert is_created(reader, "it")


def test_a_namespace_is_counted_once() -> None:
    connection = database()
    create_tables(connection, "it")
    for names in ("ab", "bc", "abc"):
        connection.executemany(ADD_NAMESPACES, namespace_counters([a_record(namespace=name) for name in names]))
    assert totals(connection)["namespaces"] == 3


def totals(connection: apsw.Connection) -> dict[str, int]:
    return dict(connection.execute("SELECT name, value FROM totals"))


@pytest.mark.parametrize(("version", "when"), [(VERSION + 1, "a later"), (VERSION - 1, "an earlier")])
def test_another_version_is_rejected_with_both_versions_and_instructions(version: int, when: str) -> None:
    connection = database()
    connection.pragma("user_version", version)
    said = rf"by {when} version of Relaybook\. .* {version}, but this version supports {VERSION}\. Start that version"
    with pytest.raises(UnsupportedSchema, match=said):
        create_tables(connection, "it")


def test_a_database_of_another_program_is_rejected() -> None:
    connection = database()
    connection.execute("CREATE TABLE theirs (x)")
    with pytest.raises(StoreUnavailable, match="another program"):
        create_tables(connection, "it")


def test_optional_columns_follow_the_record() -> None:
    optional = {column.name for column in COLUMNS if column.optional}
    assert {"model", "status", "ended_at"} <= optional
    assert not optional & {"id", "started_at", "outcome", "failed", "namespace", "kind"}
