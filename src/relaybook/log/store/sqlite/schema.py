"""Define the tables, and the migrations from earlier versions.

The columns of ``requests`` are derived from ``Record``. To add a field to the record, declare it there and append a
migration that ``adds`` it. Never change a released migration. ``PRAGMA user_version`` is the number of the last
migration that ran. A database with a higher number is rejected (``StoreTooNew``).
"""

from collections.abc import Callable, Mapping
from types import NoneType
from typing import Annotated, Any, Final, NamedTuple, get_args, get_origin, get_type_hints

import apsw

from relaybook.log.record import FIELDS, Record
from relaybook.log.store.errors import StoreDamaged, StoreTooNew, StoreUnavailable

#: Records per row of ``spans``, which has the earliest and latest start time, the count and the number of failures of a
#: block. That is 1,000 small rows per million records.
BLOCK: Final = 1024
#: Records per part of ``lookups``. Partitioning keeps inserts of random hashes within a few pages.
PART: Final = 16_384


class Column(NamedTuple):
    """A column of ``requests``.

    ``optional`` tells whether the record's field can be `None`.
    """

    name: str
    sql_type: str
    optional: bool
    json: bool
    boolean: bool

    def ddl(self) -> str:
        if self.name == "seq":
            return "seq INTEGER PRIMARY KEY"
        return f'"{self.name}" {self.sql_type}{"" if self.optional or self.json else " NOT NULL"}'


class Migration(NamedTuple):
    """A migration. ``adds`` are the record's fields whose columns it adds."""

    number: int
    name: str
    sql: str = ""
    adds: tuple[str, ...] = ()


def _column(name: str, hint: Any) -> Column:
    kinds = [kind for kind in (get_args(hint) if NoneType in get_args(hint) else (hint,)) if kind is not NoneType]
    kind = get_args(kinds[0])[0] if get_origin(kinds[0]) is Annotated else kinds[0]
    json = get_origin(kind) in (dict, list)
    sql_type = {int: "INTEGER", bool: "INTEGER", float: "REAL"}.get(kind, "TEXT")
    return Column(name, sql_type, NoneType in get_args(hint), json, kind is bool)


_HINTS: Final = get_type_hints(Record, include_extras=True)
#: In the order of the record's fields. Lists and objects are stored as JSON text, or NULL when empty.
COLUMNS: Final = tuple(_column(name, _HINTS[name]) for name in FIELDS)

_TABLES: Final = """
CREATE UNIQUE INDEX requests_id ON requests(id);
CREATE INDEX requests_namespace ON requests(namespace);
CREATE INDEX requests_model ON requests(model) WHERE model IS NOT NULL;
CREATE INDEX requests_user ON requests(user) WHERE user IS NOT NULL;
CREATE INDEX requests_key ON requests("key") WHERE "key" IS NOT NULL;
CREATE INDEX requests_failed ON requests(failed) WHERE failed = 1;
CREATE INDEX requests_outcome ON requests(outcome) WHERE outcome <> 'complete';
CREATE INDEX requests_status ON requests(status) WHERE status >= 400;
CREATE TABLE properties (name TEXT NOT NULL, value TEXT NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY (name, value, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE notes (kind TEXT NOT NULL, code TEXT NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY (kind, code, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE lookups (part INTEGER NOT NULL, hash INTEGER NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY (part, hash, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE spans (block INTEGER PRIMARY KEY, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL) STRICT;
CREATE TABLE namespaces (namespace TEXT NOT NULL PRIMARY KEY, requests INTEGER NOT NULL, failed INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cost_usd REAL NOT NULL,
  first_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
  pinned INTEGER NOT NULL DEFAULT 0, color INTEGER, "group" TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE value_counts (field TEXT NOT NULL, value TEXT NOT NULL, requests INTEGER NOT NULL,
  PRIMARY KEY (field, value)) STRICT, WITHOUT ROWID;
CREATE TABLE totals (name TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE running (id TEXT NOT NULL PRIMARY KEY, record BLOB NOT NULL) STRICT;
CREATE TABLE moved (exchange BLOB NOT NULL PRIMARY KEY, run TEXT NOT NULL, number INTEGER NOT NULL,
  state BLOB NOT NULL) STRICT;
CREATE TABLE positions (run TEXT NOT NULL PRIMARY KEY,
  read_segment INTEGER NOT NULL, read_offset INTEGER NOT NULL, read_number INTEGER NOT NULL,
  replay_segment INTEGER NOT NULL, replay_offset INTEGER NOT NULL, replay_number INTEGER NOT NULL)
  STRICT, WITHOUT ROWID;
CREATE TABLE gaps (from_at INTEGER NOT NULL, to_at INTEGER NOT NULL, count INTEGER NOT NULL,
  reason TEXT NOT NULL) STRICT;
CREATE INDEX gaps_to_at ON gaps(to_at);
CREATE TABLE refused (code TEXT NOT NULL PRIMARY KEY, requests INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE erasures (pack INTEGER NOT NULL, "offset" INTEGER NOT NULL, length INTEGER NOT NULL,
  PRIMARY KEY (pack, "offset")) STRICT, WITHOUT ROWID;
CREATE TABLE packs (pack INTEGER PRIMARY KEY, length INTEGER NOT NULL) STRICT;
INSERT INTO totals VALUES ('records', 0), ('last_seq', 0);
"""

#: ``is_decided``: the store or a person has pinned or unpinned the namespace, so the store does not pin it
#: automatically. ``requests_failed`` includes the columns by which failures are usually counted, so that counting reads
#: no records. Few records fail.
_LABELS_AND_COUNTS: Final = """
DROP INDEX requests_failed;
CREATE INDEX requests_failed ON requests(failed, seq, started_at, namespace, model) WHERE failed = 1;
ALTER TABLE spans ADD COLUMN requests INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spans ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
UPDATE spans SET (requests, failed) = (SELECT count(*), coalesce(sum(r.failed), 0) FROM requests AS r
  WHERE r.seq >= block * 1024 AND r.seq < block * 1024 + 1024);
CREATE TABLE running_parts (id TEXT NOT NULL, part TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (id, part)) STRICT;
ALTER TABLE namespaces ADD COLUMN position INTEGER;
ALTER TABLE namespaces ADD COLUMN is_decided INTEGER NOT NULL DEFAULT 0;
CREATE INDEX namespaces_pinned ON namespaces(namespace) WHERE pinned = 1;
INSERT INTO totals SELECT 'namespaces', count(*) FROM namespaces;
INSERT INTO totals VALUES ('first_labels', 0);
CREATE TRIGGER namespaces_counted AFTER INSERT ON namespaces
  BEGIN UPDATE totals SET value = value + 1 WHERE name = 'namespaces'; END;
"""

#: ``costed``: the number of requests whose cost is known. Earlier logs recorded an unknown cost as 0. ``rollups``:
#: aggregates of a series for ``level`` minutes from ``at`` (in minutes), see ``rollups.py``.
_STATISTICS: Final = """
ALTER TABLE namespaces ADD COLUMN costed INTEGER NOT NULL DEFAULT 0;
UPDATE namespaces SET costed = requests WHERE cost_usd > 0;
CREATE TABLE rollup_fields (id INTEGER PRIMARY KEY, field TEXT NOT NULL UNIQUE, is_open INTEGER NOT NULL) STRICT;
CREATE TABLE series (id INTEGER PRIMARY KEY, field INTEGER NOT NULL, value TEXT) STRICT;
CREATE INDEX series_field ON series(field);
CREATE TABLE rollups (level INTEGER NOT NULL, field INTEGER NOT NULL, at INTEGER NOT NULL, series INTEGER NOT NULL,
  sums BLOB NOT NULL, PRIMARY KEY (level, field, at, series)) STRICT, WITHOUT ROWID;
"""

#: ``identity`` identifies the log; its text index has the same value. The indexes include the columns that most filters
#: combine with them, so that no record is read to check those. ``requests_kind`` and ``requests_finish`` omit the value
#: that nearly every record has.
_SEARCH: Final = """
INSERT INTO totals VALUES ('identity', random());
DROP INDEX requests_outcome;
CREATE INDEX requests_outcome ON requests(outcome, seq, started_at, model, namespace) WHERE outcome <> 'complete';
DROP INDEX requests_status;
CREATE INDEX requests_status ON requests(status, seq, started_at, model, namespace) WHERE status >= 400;
CREATE INDEX requests_kind ON requests(kind) WHERE kind <> 'chat';
CREATE INDEX requests_finish ON requests(finish_reason) WHERE finish_reason <> 'stop';
INSERT INTO value_counts SELECT 'kind', kind, count(*) FROM requests GROUP BY kind;
CREATE TABLE turns (seq INTEGER PRIMARY KEY, turn BLOB NOT NULL) STRICT;
"""

#: ``namespace_zones`` has the maxima of the namespaces from ``first`` to below the next zone (``zone_maps.py``).
_IN_ZONE: Final = """
    requests = max(requests, new.requests), failed = max(failed, new.failed), cost_usd = max(cost_usd, new.cost_usd),
    last_at = max(last_at, new.last_at)
    WHERE first = (SELECT max(first) FROM namespace_zones WHERE first <= new.namespace); END;
"""
_ZONES: Final = f"""
CREATE TABLE namespace_zones (first TEXT NOT NULL PRIMARY KEY, names INTEGER NOT NULL, requests INTEGER NOT NULL,
  failed INTEGER NOT NULL, cost_usd REAL NOT NULL, last_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO namespace_zones SELECT '', count(*), coalesce(max(requests), 0), coalesce(max(failed), 0),
  coalesce(max(cost_usd), 0.0), coalesce(max(last_at), 0) FROM namespaces;
CREATE TRIGGER namespaces_enter_zone AFTER INSERT ON namespaces
  BEGIN UPDATE namespace_zones SET names = names + 1, {_IN_ZONE}
CREATE TRIGGER namespaces_grow_zone AFTER UPDATE OF requests, failed, cost_usd, last_at ON namespaces
  BEGIN UPDATE namespace_zones SET {_IN_ZONE}
"""  # noqa: S608 - a constant

MIGRATIONS: Final = (
    Migration(1, "requests and counters", _TABLES),
    Migration(2, "labels, counts, data of running requests", _LABELS_AND_COUNTS),
    Migration(3, "statistics", _STATISTICS),
    Migration(4, "search", _SEARCH),
    Migration(5, "zone maps of namespaces", _ZONES),
)


#: By migration number: a function that fills the migration's tables from an existing log, in the same transaction.
Backfills = Mapping[int, Callable[[apsw.Connection], None]]


def migrate(
    connection: apsw.Connection,
    name: str,
    migrations: tuple[Migration, ...] = MIGRATIONS,
    backfills: Backfills | None = None,
) -> None:
    """Migrate the database to the latest version. ``name`` is for messages.

    Everything happens in one transaction: concurrent readers see the old version or the new one, nothing in between.
    Raises StoreTooNew for a database of a later version, StoreDamaged for one of another program.
    """
    version = check_version(connection, name, migrations)
    if version == 0 and connection.execute("SELECT count(*) FROM sqlite_schema").get:
        raise StoreDamaged(f"{name} contains tables of another program. Choose another directory with --data.")
    with connection:
        for migration in migrations:
            if migration.number > version:
                for statement in _statements(migration, migrations):
                    connection.execute(statement)
                if version > 0 and backfills and migration.number in backfills:
                    backfills[migration.number](connection)
        if version < migrations[-1].number:
            connection.pragma("user_version", migrations[-1].number)


def check_version(connection: apsw.Connection, name: str, migrations: tuple[Migration, ...] = MIGRATIONS) -> int:
    """Return the number of the last migration that ran, 0 for an empty database.

    Raises StoreTooNew.
    """
    version: int = connection.pragma("user_version")
    known = migrations[-1].number
    if version > known:
        raise StoreTooNew(
            f"{name} was written by a later version of Relaybook: schema version {version}; this one supports {known}. "
            "Start the later version, or choose another directory with --data."
        )
    return version


def check_upgraded(connection: apsw.Connection, name: str) -> bool:
    """Check that the database is current. Returns False if it is still empty.

    Raises StoreTooNew for a later version, StoreUnavailable for an earlier one.
    """
    version = check_version(connection, name)
    if 0 < version < MIGRATIONS[-1].number:
        raise StoreUnavailable(
            f"{name} was written by an earlier version of Relaybook (schema version {version}) and is not upgraded. "
            "Start `relaybook serve` once with this version. The upgrade takes half a minute per million requests."
        )
    return version > 0


def _statements(migration: Migration, migrations: tuple[Migration, ...]) -> list[str]:
    statements = []
    if migration.number == 1:
        later = {name for other in migrations for name in other.adds}
        columns = ", ".join(column.ddl() for column in COLUMNS if column.name not in later)
        statements.append(f"CREATE TABLE requests ({columns}, bodies BLOB) STRICT")
    for column in COLUMNS:
        if column.name in migration.adds:
            statements.append(f"ALTER TABLE requests ADD COLUMN {column.ddl()}{_default(column)}")
    statements.append(migration.sql)
    return statements


def _default(column: Column) -> str:
    """Return the default for existing rows: the value of a record without the field."""
    if column.optional or column.json:
        return ""
    return {"TEXT": " DEFAULT ''", "REAL": " DEFAULT 0.0"}.get(column.sql_type, " DEFAULT 0")
