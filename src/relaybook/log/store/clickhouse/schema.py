"""Define the tables. The columns of ``requests`` are derived from ``Record``."""

from types import NoneType
from typing import Any, Final, get_args, get_type_hints

from relaybook.log.aggregate.aggregates import MAX_DURATION_MS, MAX_TOKENS
from relaybook.log.numbers import MIN_STREAMING_MS
from relaybook.log.record import FOREIGN_IDS, NOTE_FIELDS, Record
from relaybook.log.store.clickhouse.connection import Database
from relaybook.log.store.clickhouse.state import State
from relaybook.log.store.errors import UnsupportedSchema

VERSION: Final = 4
#: Maps the type of a field to the type of its column. Fields of other types are stored as text.
_SCALARS: Final = {int: "Int64", float: "Float64", bool: "Bool"}
#: Text fields with few different values.
_FEW_VALUES: Final = frozenset(
    (
        *("outcome", "route", "path", "kind", "key", "model", "error_code", "finish_reason", "stream_ended"),
        *("cost_reason", "body_state"),
    )
)
_LISTS: Final = {"properties": "Map(LowCardinality(String), String)"} | dict.fromkeys(
    NOTE_FIELDS.values(), "Array(Tuple(LowCardinality(String), String))"
)


def _type(name: str, hint: Any) -> str:
    """Return the type of the column for a field of ``Record``."""
    if name in _LISTS:
        return _LISTS[name]
    options = get_args(hint) or (hint,)
    plain = next((type_ for scalar, type_ in _SCALARS.items() if scalar in options), "String")
    nullable = f"Nullable({plain})" if NoneType in options else plain
    return f"LowCardinality({nullable})" if name in _FEW_VALUES else nullable


_HINTS: Final = get_type_hints(Record)
#: The fields of a record that filters, charts, lists and mutations use. Pages read all other fields from the column
#: ``record``.
_USED: Final = (
    *("id", "seq", "started_at", "ended_at", "outcome", "failed", "namespace", "properties"),
    *NOTE_FIELDS.values(),
    *("route", "path", "kind", "key", "model", "status", "error_code", "error_message", "duration_ms"),
    *("first_token_ms", "relay_ms", "chunks", "request_bytes", "response_bytes"),
    *("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "cost_usd", "cost_reason", "finish_reason"),
    *("stream_ended", "user", "session"),
    *FOREIGN_IDS,
    *("retry_count", "input_preview", "output_preview", "body_state"),
)
#: The fields in ``_USED`` that do not depend on the bodies.
_UNREAD: Final = frozenset(
    (
        *("id", "seq", "started_at", "ended_at", "namespace", "route", "path", "kind", "key", "status", "duration_ms"),
        *("relay_ms", "chunks", "request_bytes", "response_bytes"),
    )
)
#: The fields in ``_USED`` as columns of ``requests``, with their types.
RECORD_COLUMNS: Final[dict[str, str]] = {
    name: "Int64" if name == "seq" else _type(name, _HINTS[name]) for name in _USED
}
#: The server rejects an insert that begins more than this time after the insert was sent.
MAX_SENT_US: Final = 10_000_000
#: The other columns of ``requests``. ``record`` has the fields of the record that do not change, so that pages read one
#: column instead of one per field. ``request_chunks`` and ``response_chunks`` have the id and the size of each chunk of
#: a body. ``request`` and ``response`` have the rest of the bodies, after the last chunk. Sizes are NULL if a body is
#: not stored. ``words`` are the searchable words. ``duration_bin``, ``first_token_bin`` and
#: ``tokens_per_second_bin`` are the numbers of histogram bins. ``sent_at`` is the time of the insert by the server's
#: clock.
REQUEST_COLUMNS: Final[dict[str, str]] = RECORD_COLUMNS | {
    "record": "String",
    "detail": "String",
    "request": "String",
    "response": "String",
    "request_chunks": "Array(Tuple(Int64, Int64))",
    "response_chunks": "Array(Tuple(Int64, Int64))",
    "request_size": "Nullable(Int64)",
    "response_size": "Nullable(Int64)",
    "chain": "Nullable(String)",
    "words": "String",
    "duration_bin": "Nullable(Int16)",
    "first_token_bin": "Nullable(Int16)",
    "tokens_per_second_bin": "Nullable(Int16)",
    "has_content": "Bool",
    "removed": "Bool",
    "recorded_on": "Date",
    "sent_at": "Int64",
}
CHUNK_COLUMNS: Final = {"id": "Int64", "recorder": "LowCardinality(String)", "data": "String"}
FEEDBACK_COLUMNS: Final = {
    "id": "String",
    "source": "String",
    "score": "Nullable(Float64)",
    "label": "Nullable(String)",
    "comment": "Nullable(String)",
    "at": "Int64",
    "version": "UInt64",
}
#: If a request costs more than this, it is counted with this cost, so that sums of costs cannot overflow. A sum has 15
#: digits after the decimal point and at most 23 digits before the point.
_MAX_USD: Final = "1e9"
#: The sums of a namespace. The keys are the names of the sums. Each part of ``requests`` stores these sums, so queries
#: with only these expressions do not read the requests. The sum of costs is exact, so it does not depend on the order
#: of the requests.
NAMESPACE_SUMS: Final = {
    "requests": "count()",
    "failures": "countIf(failed)",
    "input_sum": f"sum(least(ifNull(input_tokens, 0), {MAX_TOKENS}))",
    "output_sum": f"sum(least(ifNull(output_tokens, 0), {MAX_TOKENS}))",
    "cost_sum": f"sum(toDecimal128(greatest(-{_MAX_USD}, least({_MAX_USD}, ifNull(cost_usd, 0))), 15))",
    "costed": "count(cost_usd)",
    "first_at": "min(started_at)",
    "last_at": "max(started_at)",
    "first_content_at": "minOrNullIf(started_at, has_content)",
}
#: The columns of ``requests`` that depend on the bodies, so that a reread can change them.
READ_COLUMNS: Final = {
    name: type_
    for name, type_ in REQUEST_COLUMNS.items()
    if name in ("record", "chain", "words", "first_token_bin", "tokens_per_second_bin")
    or (name in RECORD_COLUMNS and name not in _UNREAD)
}
HOUR_US: Final = 3_600_000_000
#: The hour in which a request started, as a number of hours since the epoch.
STARTED_HOUR: Final = f"intDiv(started_at, {HOUR_US})"


def _distribution(name: str, milliseconds: str) -> str:
    """Return the expression for a ``Distribution`` of durations. The column ``<name>_bin`` has their bins."""
    nanoseconds = f"toUInt64(round(greatest(0, least({MAX_DURATION_MS}, assumeNotNull({milliseconds}))) * 1000000))"
    bin_ = f"assumeNotNull({name}_bin)"
    return f"sumMapIf(map({bin_}, toUInt64(1), bitNot({bin_}), {nanoseconds}), {name}_bin IS NOT NULL)"


#: The expressions for charts, in the order of ``Aggregates``.
AGGREGATES: Final = (
    "count()",
    "countIf(failed)",
    NAMESPACE_SUMS["input_sum"],
    NAMESPACE_SUMS["output_sum"],
    NAMESPACE_SUMS["cost_sum"],
    "count(cost_usd)",
    f"sum(least(ifNull(cached_tokens, 0), {MAX_TOKENS}))",
    f"sumIf(least(ifNull(input_tokens, 0), {MAX_TOKENS}), cached_tokens IS NOT NULL)",
    _distribution("duration", "duration_ms"),
    _distribution("first_token", "first_token_ms"),
    # ClickHouse computes this also for requests without a bin, which are not summed. An insert fails if the result is
    # NaN, so the time must not be 0. An expression with CASE would not be recognized as that of the projection.
    _distribution(
        "tokens_per_second", f"output_tokens * 1000.0 / greatest(duration_ms - first_token_ms, {MIN_STREAMING_MS})"
    ),
)
#: The columns for a list of requests. All other fields of a record are in ``record``.
LISTED: Final = ("record", "seq", "body_state", "input_preview", "output_preview", "error_message")
#: The columns for finding the conversations of a thread.
LINKED: Final = ("seq", "id", "started_at", "failed", "completion_id", "session", "chain", "model")
#: The columns for charts of a namespace, besides the columns in ``LINKED``.
_CHARTED: Final = (
    *("outcome", "input_tokens", "output_tokens", "cached_tokens", "cost_usd"),
    *("duration_ms", "duration_bin", "first_token_ms", "first_token_bin", "tokens_per_second_bin"),
)
_LARGE: Final = ("record", "detail", "request", "response", "chain", "words")
_SEARCHED: Final = ("namespace", "user", "session")
#: Inserts and merges are synced, because replaced parts are deleted immediately and the journal is deleted after the
#: commit.
_SETTINGS: Final = (
    "SETTINGS old_parts_lifetime = 0, fsync_after_insert = 1, fsync_part_directory = 1, "
    "min_rows_to_fsync_after_merge = 1, non_replicated_deduplication_window = 100"
)
#: Rows per granule, which is the smallest part of a column that can be read. The number is small, because bodies are
#: large, and matching requests are often far apart.
_GRANULE: Final = 1024
#: Number of granules that one entry of an index covers.
_INDEXED: Final = 4


def _requests() -> str:
    columns = [
        f"`{name}` {type_}{' CODEC(ZSTD(3))' if name in _LARGE else ''}" for name, type_ in REQUEST_COLUMNS.items()
    ]
    indexes = [f"INDEX `{name}_filter` `{name}` TYPE bloom_filter GRANULARITY {_INDEXED}" for name in _SEARCHED]
    indexes.append(f"INDEX properties_filter mapValues(properties) TYPE bloom_filter GRANULARITY {_INDEXED}")
    # Ids begin with the time, so the ids in a granule are in a narrow range.
    indexes += [f"INDEX `{name}_range` `{name}` TYPE minmax GRANULARITY {_INDEXED}" for name in ("id", "started_at")]
    indexes.append("INDEX words_index words TYPE text(tokenizer = splitByString([' ']))")
    sums = ", ".join(NAMESPACE_SUMS.values())
    indexes.append(f"PROJECTION by_namespace (SELECT namespace, removed, {sums} GROUP BY namespace, removed)")
    hour = f"{STARTED_HOUR}, removed, model, outcome"
    indexes.append(f"PROJECTION by_hour (SELECT {hour}, {', '.join(AGGREGATES)} GROUP BY {hour})")
    # The table is in the order of seq, so the requests of a small namespace are far apart. In this projection, they are
    # close together.
    columns_by_namespace = ", ".join(dict.fromkeys(("namespace", "seq", "removed", *LISTED, *LINKED, *_CHARTED)))
    indexes.append(f"PROJECTION requests_by_namespace (SELECT {columns_by_namespace} ORDER BY namespace, seq)")
    # These projections sort the foreign ids of each part, so that a request is found immediately. ClickHouse uses such
    # a projection only for queries with no other columns than the foreign id and seq.
    indexes += [f"PROJECTION by_{name} (SELECT `{name}`, seq ORDER BY `{name}`)" for name in FOREIGN_IDS]
    # After a recorder has died, its insert may still be on the way to the server. Such an insert must not begin after
    # another process has queried which requests exist.
    in_time = f"CONSTRAINT in_time CHECK sent_at > toUnixTimestamp64Micro(now64(6)) - {MAX_SENT_US}"
    return (
        f"CREATE TABLE IF NOT EXISTS requests ({', '.join([*columns, *indexes, in_time])}) ENGINE = MergeTree "
        f"PARTITION BY recorded_on ORDER BY seq {_SETTINGS}, index_granularity = {_GRANULE}"
    )


def _columns(types: dict[str, str]) -> str:
    return ", ".join(f"`{name}` {type_}" for name, type_ in types.items())


TABLES: Final = (
    _requests(),
    "CREATE TABLE IF NOT EXISTS chunks (id Int64, recorder LowCardinality(String), data String CODEC(ZSTD(3))) "
    f"ENGINE = MergeTree ORDER BY id {_SETTINGS}",
    "CREATE TABLE IF NOT EXISTS requests_to_delete (deletion String, seq Int64, id String, namespace String, "
    f"chunks Array(Int64)) ENGINE = MergeTree ORDER BY (deletion, seq) {_SETTINGS}",
    f"CREATE TABLE IF NOT EXISTS feedback ({', '.join(f'{name} {type_}' for name, type_ in FEEDBACK_COLUMNS.items())}) "
    f"ENGINE = ReplacingMergeTree(version) ORDER BY (id, source) {_SETTINGS}",
    # A recorder may read a partly recorded journal again. The hashes show which of its requests were deleted in the
    # meantime. Journals older than 30 days are not expected.
    "CREATE TABLE IF NOT EXISTS deleted (hash UInt64, at DateTime DEFAULT now()) ENGINE = MergeTree ORDER BY hash "
    f"TTL at + INTERVAL 30 DAY {_SETTINGS}",
    # The new values of requests that are being reread, for a mutation. The table is in memory and on the disk.
    f"CREATE TABLE IF NOT EXISTS reread_values (seq Int64, {_columns(READ_COLUMNS)}) ENGINE = Join(ANY, LEFT, seq)",
)
TABLE_NAMES: Final = ("requests", "chunks", "feedback", "requests_to_delete", "deleted", "state")


def create_tables(database: Database, state: State) -> None:
    """Create the tables that are missing.

    Raises UnsupportedSchema if a version of Relaybook with another schema created the existing tables.
    Raises StoreUnavailable.
    """
    found = state.get("meta", "version") if state.exists() else None
    version = int(found) if found else 0
    if version not in (0, VERSION):
        raise UnsupportedSchema(str(database.address), version, VERSION, "choose another database with --store")
    if not version:
        state.create()
        for statement in TABLES:
            database.execute(statement)
        state.write({("meta", "version"): b"%d" % VERSION})
