"""Store, list and carry out deletions.

The requests to delete are first listed in the table ``requests_to_delete``. Because of this list, the same requests are
removed from every table, even if a step is repeated after a crash. Mutations then rewrite the parts that contain the
requests. The table ``deleted`` keeps hashes of the ids. After a crash, a recorder reads a part of its journal again.
The hashes prevent it from recording deleted requests again. A deletion is done when the old versions of the rewritten
parts and of ``state`` are deleted from the disk, and no journal has a segment with the requests. Any recorder can
repeat each step.
"""

import sys
from typing import Final, Literal

import msgspec

from relaybook import clock
from relaybook.log.deletions import Deletion, new_deletion, without_values
from relaybook.log.query.filters import CONTAINS, Filter
from relaybook.log.store.clickhouse.connection import Database, Parameters, Values, quoted
from relaybook.log.store.clickhouse.filter_sql import condition
from relaybook.log.store.clickhouse.recorders import Numbering, complete_to
from relaybook.log.store.clickhouse.rows import decode_position
from relaybook.log.store.clickhouse.schema import create_tables
from relaybook.log.store.clickhouse.state import State
from relaybook.log.store.clickhouse.substrings import containing
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.status import RunPosition
from relaybook.settings.store_url import DatabaseAddress

#: Interval at which ``DeletionPass`` looks for new deletions.
_LOOK_EVERY_NS: Final = 500_000_000
#: Interval at which ``DeletionPass`` tries to continue deletions that wait for ClickHouse or for a recorder.
_CONTINUE_EVERY_NS: Final = 100_000_000
#: Interval at which rows of deleted keys are removed from ``state``. Most of these keys are ids of requests that no
#: longer run.
_CLEAN_EVERY_NS: Final = 600 * clock.NANOSECONDS
#: Time limit for a slice, which is the part of a search for substrings that one call does. The limit is doubled after a
#: slice that read no request.
_SLICE_NS: Final = 100_000_000
#: SQL that selects the requests of a deletion. The id of the deletion must follow.
_ITS: Final = "FROM requests_to_delete WHERE deletion = "
#: Tables, each with the condition for the rows to delete. ``{0}`` is replaced by ``_ITS`` and the id of the deletion.
_ROWS: Final = (
    ("feedback", "id IN (SELECT id {0})"),
    ("chunks", "id IN (SELECT arrayJoin(chunks) {0})"),
    ("requests", "seq IN (SELECT seq {0})"),
)
_EMPTY_NAMESPACES: Final = (
    "SELECT DISTINCT namespace {0} AND namespace NOT IN (SELECT namespace FROM requests WHERE NOT removed)"
)
_DELETED_KEYS: Final = """
ALTER TABLE state DELETE WHERE (kind, recorder, key) IN (
  SELECT kind, recorder, key FROM state GROUP BY kind, recorder, key HAVING argMax(is_deleted, version) = 1
)
"""
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(Deletion).decode


class _Task(msgspec.Struct):
    """The remaining work of a deletion, for requests whose ``seq`` is at most ``up_to``.

    ``reached`` is the lowest ``seq`` whose request has been searched for substrings so far. ``segments`` has, for each
    run of the journal, the last segment that can have frames of the requests.
    """

    up_to: int
    reached: int | None = None
    step: Literal["find", "remove", "erase"] = "find"
    segments: dict[str, int] = {}


_decode_task: Final = msgspec.msgpack.Decoder(_Task).decode


def read_deletions(state: State, limit: int) -> list[Deletion]:
    """Return the latest deletions, newest first."""
    return [_decode(value) for value in reversed(state.read("deletion").values())][:limit]


class ClickHouseDeletions:
    """Stores requested deletions. Any process can request a deletion. Implements ``Deletions``."""

    def __init__(self, address: DatabaseAddress, numbering: Numbering | None = None) -> None:
        self._database = Database(address)
        self._state = State(self._database)
        self._numbering = numbering or Numbering(self._database)

    def request(self, filter_: Filter, requests: int, by: str) -> Deletion:
        create_tables(self._database, self._state)
        deletion = new_deletion(filter_, requests, by)
        up_to = max(complete_to(self._state), self._numbering.first(self._numbering.now()))
        self._state.write(
            {("deletion", deletion.id): _encode(deletion), ("deletion_task", deletion.id): _encode(_Task(up_to))}
        )
        return deletion


def pending_mutations(database: Database) -> bool:
    """Return whether mutations are running. Raises StoreUnavailable if a mutation fails."""
    sql = (
        "SELECT table, mutation_id, latest_fail_reason FROM system.mutations "
        "WHERE database = currentDatabase() AND NOT is_done"
    )
    found = database.query(sql)
    for table, mutation, reason in found:
        if reason:
            raise StoreUnavailable(
                f"The mutation {mutation} of the table {table} failed, and ClickHouse repeats it. Nothing is removed "
                f"until the mutation succeeds, or until you end it with KILL MUTATION. Reason: {reason[:300]}"
            )
    return bool(found)


class DeletionPass:
    """Carries out deletions for the writer, oldest first."""

    def __init__(self, database: Database, state: State) -> None:
        self._database = database
        self._state = state
        self._not_before_ns = 0
        self._clean_at_ns = clock.monotonic_ns() + _CLEAN_EVERY_NS
        self._slice_ns = _SLICE_NS
        self._cleaning: Literal["keys", "values", "done"] = "keys"
        #: Whether a deletion cannot continue until ClickHouse has finished some work.
        self.is_waiting = False

    def work(self) -> int:
        """Do the next step of a deletion. Returns the number of requests removed."""
        if clock.monotonic_ns() < self._not_before_ns:
            return 0
        tasks = self._state.read("deletion_task")
        if not tasks and clock.monotonic_ns() >= self._clean_at_ns:
            self._clean_at_ns = clock.monotonic_ns() + _CLEAN_EVERY_NS
            if not pending_mutations(self._database):
                self._database.execute(_DELETED_KEYS)
        positions = self._positions() if tasks else {}
        self.is_waiting = False
        for key, value in tasks.items():
            task = _decode_task(value)
            if task.step == "erase":
                self.is_waiting = not self._erase(key, task, positions) or self.is_waiting
                continue
            self.is_waiting = True
            removed = self._remove(key, task, positions)
            if removed is not None:
                return removed
        self._not_before_ns = clock.monotonic_ns() + (_CONTINUE_EVERY_NS if self.is_waiting else _LOOK_EVERY_NS)
        return 0

    def _remove(self, key: str, task: _Task, positions: dict[str, RunPosition]) -> int | None:
        """Do the next step of finding and removing the requests of a deletion.

        Returns the number of requests removed, or `None` if the step must wait.
        """
        found = self._state.get("deletion", key)
        if found is None or pending_mutations(self._database):
            return None
        deletion, its = _decode(found), f"{_ITS}{quoted(key)}"
        if task.step == "find":
            if not self._find(deletion, task):
                return None
            ((deletion.removed,),) = self._database.query(f"SELECT uniqExact(seq) {its}")
            self._write(deletion, msgspec.structs.replace(task, step="remove"))
            return 0
        remaining = [
            (table, where)
            for table, where in ((table, rows.format(its)) for table, rows in _ROWS)
            if self._database.query(f"SELECT 1 FROM {table} WHERE {where} LIMIT 1")
        ]
        if remaining:  # start the mutations, or start them again if somebody killed one
            for table, where in remaining:
                self._database.execute(f"ALTER TABLE {table} DELETE WHERE {where}")
            return 0
        labels = {("label", name): None for (name,) in self._database.query(_EMPTY_NAMESPACES.format(its))}
        if labels:
            self._state.write(labels)
        self._database.execute(f"ALTER TABLE requests_to_delete DELETE WHERE deletion = {quoted(key)}")
        deletion.state, deletion.filter_ = "erasing", without_values(deletion.filter_)
        deletion.removed_at = clock.wall_us()
        segments = {run: each.read_to[0] - each.is_segment_start for run, each in positions.items()}
        self._write(deletion, msgspec.structs.replace(task, step="erase", segments=segments))
        self._cleaning = "keys"
        return deletion.removed

    def _positions(self) -> dict[str, RunPosition]:
        return {run: decode_position(value) for run, value in self._state.read("position").items()}

    def _find(self, deletion: Deletion, task: _Task) -> bool:
        """Find the requests that will be removed, and write them to the table ``requests_to_delete``.

        Returns False if the search must wait for a recorder or is not complete yet. Substrings are searched in short
        slices, because no request is recorded while a slice is searched.
        """
        if complete_to(self._state) < task.up_to:
            return False
        if any(term.name == CONTAINS for term in deletion.filter_.terms):
            high = task.up_to if task.reached is None else task.reached - 1
            until_ns = clock.monotonic_ns() + self._slice_ns
            found = containing(self._database, deletion.filter_, (1, high), sys.maxsize, until_ns, newest_first=True)
            if found.seqs:
                self._list(deletion.id, f"r.seq IN ({', '.join(map(str, found.seqs))})")
            if found.reached is not None:
                self._slice_ns = _SLICE_NS if found.reached <= high else 2 * self._slice_ns
                self._write(deletion, msgspec.structs.replace(task, reached=found.reached))
                return False
            self._slice_ns = _SLICE_NS
        else:
            parameters = Parameters()
            sql = condition(deletion.filter_, parameters, f"r.seq <= {task.up_to}")
            self._list(deletion.id, sql, parameters.values)
        hashes = f"SELECT DISTINCT sipHash64(id) {_ITS}{quoted(deletion.id)}"
        self._database.execute(f"INSERT INTO deleted (hash) {hashes}")
        return True

    def _list(self, deletion: str, sql: str, values: Values | None = None) -> None:
        """Write the requests that meet a condition on ``requests AS r`` to the table ``requests_to_delete``."""
        self._database.execute(
            f"INSERT INTO requests_to_delete SELECT {quoted(deletion)}, r.seq, r.id, r.namespace, "
            "arrayMap(chunk -> chunk.1, arrayConcat(r.request_chunks, r.response_chunks)) "
            f"FROM requests AS r WHERE {sql}",
            values,
        )

    def _erase(self, key: str, task: _Task, positions: dict[str, RunPosition]) -> bool:
        """Mark a deletion as done if neither ClickHouse nor a journal has bytes of its requests.

        Returns False if ClickHouse still has such bytes. If only a journal has such bytes, the method returns True, but
        does not mark the deletion as done.
        """
        if not self._is_state_clean() or self._database.query("SELECT 1 FROM reread_values LIMIT 1"):
            return False
        old_parts = "SELECT DISTINCT table FROM system.parts WHERE database = currentDatabase() AND NOT active"
        for (table,) in self._database.query(old_parts):
            # Dropping a partition, even if it does not exist, deletes the old parts that no query uses. Otherwise, a
            # table without inserts keeps old parts for half a minute.
            self._database.execute(f"ALTER TABLE `{table}` DROP PARTITION ID 'none'")
        if self._database.query(old_parts):
            return False
        is_read = all(
            positions[run].replay_from[0] > segment for run, segment in task.segments.items() if run in positions
        )
        found = self._state.get("deletion", key)
        if is_read and found is not None:
            done = msgspec.structs.replace(_decode(found), state="done", done_at=clock.wall_us())
            self._state.write({("deletion", key): _encode(done), ("deletion_task", key): None})
        return True

    def _is_state_clean(self) -> bool:
        """Remove old rows from ``state``: deleted keys, and values that later values replaced.

        Returns whether all old rows are removed.
        """
        if pending_mutations(self._database):
            return False
        if self._cleaning == "keys":
            self._database.execute(_DELETED_KEYS)
            self._cleaning = "values"
            return False
        if self._cleaning == "values":
            self._database.execute("OPTIMIZE TABLE state FINAL SETTINGS optimize_throw_if_noop = 1")
            self._cleaning = "done"
        return True

    def _write(self, deletion: Deletion, task: _Task) -> None:
        self._state.write({("deletion", deletion.id): _encode(deletion), ("deletion_task", deletion.id): _encode(task)})
