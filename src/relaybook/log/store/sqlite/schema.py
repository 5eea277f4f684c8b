"""Define the tables.

The columns of ``requests`` are derived from ``Record``, except the fields in ``OTHER_FIELDS``. ``PRAGMA user_version``
is the version of the schema. A database with another version is rejected (``UnsupportedSchema``).
"""

from types import NoneType
from typing import Annotated, Any, Final, NamedTuple, get_args, get_origin, get_type_hints

import apsw

from relaybook.apis import MOST_COMMON
from relaybook.log.query.filters import SORT_FIELDS
from relaybook.log.record import FIELDS, Record
from relaybook.log.store.errors import StoreDamaged, UnsupportedSchema
from relaybook.log.store.sqlite.other_fields import OTHER_FIELDS

VERSION: Final = 5
#: Records per block. A row of ``block_ranges`` describes one block: the earliest and latest start time, the count, the
#: number of failures, the minimum and the maximum of every sort field, and the earliest start time of a record with
#: content. A million records need 1,000 small rows.
BLOCK: Final = 1024
#: Records per part of the table ``foreign_ids`` (see foreign_ids.py). Because of the parts, inserts of random hashes
#: touch only a few pages.
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


def _column(name: str, hint: Any) -> Column:
    kinds = [kind for kind in (get_args(hint) if NoneType in get_args(hint) else (hint,)) if kind is not NoneType]
    kind = get_args(kinds[0])[0] if get_origin(kinds[0]) is Annotated else kinds[0]
    json = get_origin(kind) in (dict, list)
    sql_type = "BLOB" if name == "id" else {int: "INTEGER", bool: "INTEGER", float: "REAL"}.get(kind, "TEXT")
    return Column(name, sql_type, NoneType in get_args(hint), json, kind is bool)


_HINTS: Final = get_type_hints(Record, include_extras=True)
#: The columns for fields of the record, in the order of the fields. An id is stored as its 16 bytes. Lists and objects
#: are stored as JSON text, or as NULL if they are empty. The feedback is in a separate table, and the column
#: ``other_fields`` has ``OTHER_FIELDS``.
COLUMNS: Final = tuple(_column(name, _HINTS[name]) for name in FIELDS if name not in (*OTHER_FIELDS, "feedback"))


class Extremes(NamedTuple):
    """The columns of ``block_ranges`` with the minimum and the maximum of a number in each block.

    Both are NULL if no record in the block has the number.
    """

    minimum: str
    maximum: str


#: The columns with the extremes of each sort field, except ``started_at``.
BLOCK_EXTREMES: Final = {
    field: Extremes(f"min_{field}", f"max_{field}") for field in SORT_FIELDS if field != "started_at"
}
#: The columns with the extremes of each sort field.
EXTREMES: Final = BLOCK_EXTREMES | {"started_at": Extremes("first_at", "last_at")}
_SQL_TYPES: Final = {column.name: column.sql_type for column in COLUMNS}
_EXTREMES: Final = ", ".join(
    f"{column} {_SQL_TYPES.get(field, 'REAL')}" for field, extremes in BLOCK_EXTREMES.items() for column in extremes
)

#: The indexes on failures, outcomes and statuses include additional columns that most counts and filters use, so that
#: no record has to be read. These indexes omit values that nearly every record has.
_TABLES: Final = f"""
CREATE UNIQUE INDEX requests_id ON requests(id);
CREATE INDEX requests_namespace ON requests(namespace);
CREATE INDEX requests_model ON requests(model) WHERE model IS NOT NULL;
CREATE INDEX requests_user ON requests(user) WHERE user IS NOT NULL;
CREATE INDEX requests_session ON requests(session) WHERE session IS NOT NULL;
CREATE INDEX requests_key ON requests("key") WHERE "key" IS NOT NULL;
CREATE INDEX requests_failed ON requests(failed, seq, started_at, namespace, model) WHERE failed = 1;
CREATE INDEX requests_outcome ON requests(outcome, seq, started_at, model, namespace) WHERE outcome <> 'complete';
CREATE INDEX requests_status ON requests(status, seq, started_at, model, namespace) WHERE status >= 400;
CREATE INDEX requests_kind ON requests(kind) WHERE kind <> '{MOST_COMMON}';
CREATE INDEX requests_finish ON requests(finish_reason) WHERE finish_reason <> 'stop';
CREATE INDEX requests_stream_end ON requests(stream_ended) WHERE stream_ended <> 'done';
CREATE INDEX requests_cost_reason ON requests(cost_reason) WHERE cost_reason IS NOT NULL;
CREATE TABLE properties (name TEXT NOT NULL, value TEXT NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY (name, value, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE record_codes (kind TEXT NOT NULL, code TEXT NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY (kind, code, seq)) STRICT, WITHOUT ROWID;
CREATE TABLE foreign_ids (part INTEGER NOT NULL, hash INTEGER NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY (part, hash, seq)) STRICT, WITHOUT ROWID;
-- Triggers count the requests with feedback and with each label. Rows are inserted and deleted, never updated.
CREATE TABLE feedback (seq INTEGER NOT NULL, source TEXT NOT NULL, score REAL, label TEXT, comment TEXT,
  at INTEGER NOT NULL, PRIMARY KEY (seq, source)) STRICT, WITHOUT ROWID;
CREATE INDEX feedback_score ON feedback(score, seq) WHERE score IS NOT NULL;
CREATE INDEX feedback_label ON feedback(label, seq) WHERE label IS NOT NULL;
CREATE TRIGGER feedback_enters AFTER INSERT ON feedback
  WHEN NOT EXISTS (SELECT 1 FROM feedback WHERE seq = new.seq AND source <> new.source)
  BEGIN INSERT INTO value_counts VALUES ('feedback', 'any', 1) ON CONFLICT DO UPDATE SET requests = requests + 1; END;
CREATE TRIGGER feedback_leaves AFTER DELETE ON feedback
  WHEN NOT EXISTS (SELECT 1 FROM feedback WHERE seq = old.seq)
  BEGIN UPDATE value_counts SET requests = requests - 1 WHERE field = 'feedback' AND value = 'any';
    DELETE FROM value_counts WHERE field = 'feedback' AND value = 'any' AND requests = 0; END;
CREATE TRIGGER feedback_label_enters AFTER INSERT ON feedback
  WHEN new.label IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM feedback WHERE seq = new.seq AND label = new.label AND source <> new.source)
  BEGIN INSERT INTO value_counts VALUES ('label', new.label, 1)
    ON CONFLICT DO UPDATE SET requests = requests + 1; END;
CREATE TRIGGER feedback_label_leaves AFTER DELETE ON feedback
  WHEN old.label IS NOT NULL AND NOT EXISTS (SELECT 1 FROM feedback WHERE seq = old.seq AND label = old.label)
  BEGIN UPDATE value_counts SET requests = requests - 1 WHERE field = 'label' AND value = old.label;
    DELETE FROM value_counts WHERE field = 'label' AND value = old.label AND requests = 0; END;
-- feedback on requests that are not recorded yet, by any of their ids
CREATE TABLE pending_feedback (request_id TEXT NOT NULL, source TEXT NOT NULL, score REAL, label TEXT, comment TEXT,
  at INTEGER NOT NULL, PRIMARY KEY (request_id, source)) STRICT, WITHOUT ROWID;
CREATE INDEX pending_feedback_at ON pending_feedback(at);
CREATE TABLE message_chains (seq INTEGER PRIMARY KEY, chain BLOB NOT NULL) STRICT;
CREATE TABLE block_ranges (block INTEGER PRIMARY KEY, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
  requests INTEGER NOT NULL, failed INTEGER NOT NULL, {_EXTREMES}, first_content_at INTEGER) STRICT;
CREATE TABLE value_counts (field TEXT NOT NULL, value TEXT NOT NULL, requests INTEGER NOT NULL,
  PRIMARY KEY (field, value)) STRICT, WITHOUT ROWID;
CREATE TABLE totals (name TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
-- identity: identifies the log; its text index has the same value
-- lineage: the same in a log and its backups; a backup that is written to gets another value, see become_a_log
INSERT INTO totals VALUES ('records', 0), ('last_seq', 0), ('namespaces', 0), ('auto_pinned', 0),
  ('identity', random()), ('lineage', random());

-- costed: the number of requests whose cost is known
-- is_decided: the store or a person has pinned or unpinned the namespace, so the store does not pin it automatically
CREATE TABLE namespaces (namespace TEXT NOT NULL PRIMARY KEY, requests INTEGER NOT NULL, failed INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cost_usd REAL NOT NULL,
  first_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
  pinned INTEGER NOT NULL DEFAULT 0, color INTEGER, "group" TEXT, position INTEGER,
  is_decided INTEGER NOT NULL DEFAULT 0, costed INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
CREATE INDEX namespaces_pinned ON namespaces(namespace) WHERE pinned = 1;
-- the namespaces that no list shows: a person has unpinned them, and they have no requests
CREATE INDEX namespaces_unlisted ON namespaces(namespace) WHERE pinned = 0 AND requests = 0;
CREATE TRIGGER namespaces_counted AFTER INSERT ON namespaces
  BEGIN UPDATE totals SET value = value + 1 WHERE name = 'namespaces'; END;
CREATE TRIGGER namespaces_uncounted AFTER DELETE ON namespaces
  BEGIN UPDATE totals SET value = value - 1 WHERE name = 'namespaces'; END;
-- rollups: the aggregates of a series for `level` minutes from `at` (in minutes), see rollups.py
CREATE TABLE rollup_fields (id INTEGER PRIMARY KEY, field TEXT NOT NULL UNIQUE, is_open INTEGER NOT NULL) STRICT;
CREATE TABLE series (id INTEGER PRIMARY KEY, field INTEGER NOT NULL, value TEXT) STRICT;
CREATE INDEX series_field ON series(field);
CREATE TABLE rollups (level INTEGER NOT NULL, field INTEGER NOT NULL, at INTEGER NOT NULL, series INTEGER NOT NULL,
  aggregates BLOB NOT NULL, PRIMARY KEY (level, field, at, series)) STRICT, WITHOUT ROWID;

CREATE TABLE saved_filters (name TEXT NOT NULL PRIMARY KEY, params TEXT NOT NULL, created_at INTEGER NOT NULL)
  STRICT, WITHOUT ROWID;

CREATE TABLE running (id TEXT NOT NULL PRIMARY KEY, record BLOB NOT NULL) STRICT;
CREATE TABLE running_parts (id TEXT NOT NULL, part TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (id, part)) STRICT;
CREATE TABLE checkpoints (exchange BLOB NOT NULL PRIMARY KEY, run TEXT NOT NULL, number INTEGER NOT NULL,
  state BLOB NOT NULL) STRICT;
CREATE TABLE positions (run TEXT NOT NULL PRIMARY KEY,
  read_segment INTEGER NOT NULL, read_offset INTEGER NOT NULL, read_number INTEGER NOT NULL,
  replay_segment INTEGER NOT NULL, replay_offset INTEGER NOT NULL, replay_number INTEGER NOT NULL,
  is_segment_start INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE gaps (from_at INTEGER NOT NULL, to_at INTEGER NOT NULL, count INTEGER NOT NULL,
  reason TEXT NOT NULL) STRICT;
CREATE INDEX gaps_to_at ON gaps(to_at);
CREATE TABLE refused (code TEXT NOT NULL PRIMARY KEY, requests INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE erasures (pack INTEGER NOT NULL, "offset" INTEGER NOT NULL, length INTEGER NOT NULL,
  PRIMARY KEY (pack, "offset")) STRICT, WITHOUT ROWID;
-- records: the number of records with data in the pack
CREATE TABLE packs (pack INTEGER PRIMARY KEY, length INTEGER NOT NULL, records INTEGER NOT NULL DEFAULT 0) STRICT;
-- the requests whose shared frame has a base, by the location of the base, see bases.py
CREATE TABLE dependents (base_pack INTEGER NOT NULL, base_offset INTEGER NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY (base_pack, base_offset, seq)) STRICT, WITHOUT ROWID;
-- the bases that have a base
CREATE TABLE bases_of_bases (pack INTEGER NOT NULL, "offset" INTEGER NOT NULL,
  base_pack INTEGER NOT NULL, base_offset INTEGER NOT NULL, base_length INTEGER NOT NULL, base_size INTEGER NOT NULL,
  PRIMARY KEY (pack, "offset")) STRICT, WITHOUT ROWID;
CREATE INDEX bases_of_bases_base ON bases_of_bases(base_pack, base_offset);
-- the requests whose frame must be stored again without its base, because the base was removed, see rebasing.py
CREATE TABLE requests_to_rebase (seq INTEGER PRIMARY KEY) STRICT;
-- the body frames to erase, because their requests were removed or expired, see remover.py
CREATE TABLE removed_frames (pack INTEGER NOT NULL, "offset" INTEGER NOT NULL, length INTEGER NOT NULL,
  PRIMARY KEY (pack, "offset")) STRICT, WITHOUT ROWID;
CREATE TABLE removals (at INTEGER NOT NULL, reason TEXT NOT NULL, requests INTEGER NOT NULL,
  contents INTEGER NOT NULL) STRICT;
-- up_to: the newest seq when the deletion was requested; position: the seq up to which its requests are removed
-- segments: the last journal segment of each run that may still have bytes of the requests, as {{run: segment}}
CREATE TABLE deletions (id TEXT NOT NULL UNIQUE, requested_at INTEGER NOT NULL, requested_by TEXT NOT NULL,
  filter TEXT NOT NULL, requests INTEGER NOT NULL, removed INTEGER NOT NULL, state TEXT NOT NULL,
  up_to INTEGER NOT NULL, position INTEGER NOT NULL, segments TEXT, removed_at INTEGER, done_at INTEGER,
  filter_digest TEXT NOT NULL) STRICT;
CREATE INDEX deletions_unfinished ON deletions(state) WHERE state <> 'done';
-- up_to: the newest seq when the reread was requested; position: the seq up to which its requests were read
CREATE TABLE rereads (id TEXT NOT NULL UNIQUE, requested_at INTEGER NOT NULL, requested_by TEXT NOT NULL,
  filter TEXT NOT NULL, requests INTEGER NOT NULL, read INTEGER NOT NULL, changed INTEGER NOT NULL,
  state TEXT NOT NULL, up_to INTEGER NOT NULL, position INTEGER NOT NULL, done_at INTEGER) STRICT;
CREATE INDEX rereads_unfinished ON rereads(state) WHERE state <> 'done';
-- the requests whose text must be replaced in the text index, because they were read again
CREATE TABLE changed_texts (seq INTEGER PRIMARY KEY) STRICT;
CREATE TABLE removed_texts (first INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;
"""  # noqa: S608 - a constant


def create_tables(connection: apsw.Connection, name: str) -> None:
    """Create the tables if the database is empty. ``name`` is for messages.

    Concurrent readers see either an empty database or all tables. Raises UnsupportedSchema if a version of Relaybook
    with another schema created the database, and StoreDamaged if another program created it.
    """
    if is_created(connection, name):
        return
    if connection.execute("SELECT count(*) FROM sqlite_schema").get:
        raise StoreDamaged(f"{name} contains tables from another program. Choose another directory with --data.")
    columns = ", ".join(column.ddl() for column in COLUMNS)
    with connection:
        connection.execute(f"CREATE TABLE requests ({columns}, other_fields BLOB NOT NULL, bodies BLOB) STRICT")
        connection.execute(_TABLES)
        connection.pragma("user_version", VERSION)


def mark_as_backup(connection: apsw.Connection) -> None:
    """Mark the database as an unchanged backup, and remove the running requests.

    Running requests are removed, because a backup does not contain the journal.
    """
    connection.pragma("secure_delete", True)
    with connection:
        connection.execute("DELETE FROM running; DELETE FROM running_parts")
        connection.execute("INSERT OR REPLACE INTO totals VALUES ('is_backup', 1)")


def become_a_log(connection: apsw.Connection) -> None:
    """Give a backup a new lineage before data is written to it. Does nothing if the log is not a backup.

    The lineage is a random number that a log and its unchanged backups share. After the first write, the packs of the
    backup can differ from the packs of the original log. Because of the new lineage, neither log can be backed up to a
    directory with a backup of the other log. The new lineage is synced to the disk before the packs are changed.
    """
    if not connection.execute("SELECT EXISTS (SELECT 1 FROM totals WHERE name = 'is_backup')").get:
        return
    level = connection.pragma("synchronous")
    connection.pragma("synchronous", "full")
    with connection:
        connection.execute("UPDATE totals SET value = random() WHERE name = 'lineage'")
        connection.execute("DELETE FROM totals WHERE name = 'is_backup'")
    connection.pragma("synchronous", level)


def is_created(connection: apsw.Connection, name: str) -> bool:
    """Return whether the database has the tables.

    Raises UnsupportedSchema if a version of Relaybook with another schema created the database.
    """
    version: int = connection.pragma("user_version")
    if version not in (0, VERSION):
        raise UnsupportedSchema(name, version, VERSION, "choose another directory with --data")
    return version > 0
