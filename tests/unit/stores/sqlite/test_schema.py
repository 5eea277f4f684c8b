"""The schema: columns follow from the record, migrations are numbered, later versions are refused."""

import apsw
import pytest

from relaybook.records import FIELDS
from relaybook.stores.base import StoreTooNew, StoreUnavailable
from relaybook.stores.sqlite.schema import COLUMNS, MIGRATIONS, Migration, check_version, migrate


def database() -> apsw.Connection:
    return apsw.Connection(":memory:")


def columns(connection: apsw.Connection) -> dict[str, tuple[str, int]]:
    rows = connection.execute("SELECT name, type, \"notnull\" FROM pragma_table_info('requests')")
    return {name: (kind, required) for name, kind, required in rows}


def test_every_field_of_the_record_has_its_column() -> None:
    connection = database()
    migrate(connection, "it")
    found = columns(connection)
    assert tuple(found) == (*FIELDS, "bodies")
    assert found["id"] == ("TEXT", 1)
    assert found["failed"] == ("INTEGER", 1)
    assert found["stream_requested"] == ("INTEGER", 0)
    assert found["cost_usd"] == ("REAL", 0)
    assert found["started_at"] == ("INTEGER", 1)
    assert found["ended_at"] == ("INTEGER", 0)
    assert found["outcome"] == ("TEXT", 1)
    assert found["properties"] == ("TEXT", 0)


def test_migrations_are_numbered_from_one_without_repeats_or_holes() -> None:
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
def test_a_field_that_is_added_later_ends_in_the_same_columns(name: str) -> None:
    later = (*MIGRATIONS, Migration(len(MIGRATIONS) + 1, f"the field {name}", adds=(name,)))
    old = database()
    migrate(old, "it", (later[0]._replace(adds=()), *later[1:])[: len(MIGRATIONS)])
    old.execute(f'ALTER TABLE requests DROP COLUMN "{name}"')
    migrate(old, "it", later)
    new, plain = database(), database()
    migrate(new, "it", later)
    migrate(plain, "it")
    assert columns(old) == columns(new) == columns(plain)


def test_a_failing_migration_leaves_the_version_before_it() -> None:
    connection = database()
    broken = (*MIGRATIONS, Migration(2, "broken", "CREATE TABLE half (x); CREATE TABLE half (x)"))
    with pytest.raises(apsw.SQLError):
        migrate(connection, "it", broken)
    assert connection.pragma("user_version") == 1
    assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'half'").get == 0


def test_a_later_version_is_refused_with_both_numbers_and_what_to_do() -> None:
    connection = database()
    connection.pragma("user_version", 7)
    with pytest.raises(StoreTooNew, match=r"its version is 7, this program knows up to \d+\. Start that later"):
        migrate(connection, "it")


def test_tables_of_another_program_are_left_alone() -> None:
    connection = database()
    connection.execute("CREATE TABLE theirs (x)")
    with pytest.raises(StoreUnavailable, match="another program"):
        migrate(connection, "it")


def test_optional_follows_the_records_declaration() -> None:
    optional = {column.name for column in COLUMNS if column.optional}
    assert {"model", "status", "ended_at", "stream_requested"} <= optional
    assert not optional & {"id", "started_at", "outcome", "failed", "namespace", "body_state"}
