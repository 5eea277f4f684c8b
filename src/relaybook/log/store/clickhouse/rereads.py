"""Store, list and carry out rereads.

The requests of a reread are read in slices. The new values of a slice are first written to the table
``reread_values``, and one mutation then copies them to the rows of the requests. A mutation rewrites every part of
``requests`` that has one of these rows, so a slice has many requests. A part is replaced at once, so readers see all
new values of a request, or none. Any recorder can repeat each step.
"""

from typing import Final

import msgspec

from relaybook import clock, ids
from relaybook.log.deletions import without_values
from relaybook.log.query.filters import CONTAINS, Filter
from relaybook.log.request_view import MAX_BODY_BYTES
from relaybook.log.rereads import Reread
from relaybook.log.search_text import text_of
from relaybook.log.store.clickhouse.connection import Database, Parameters
from relaybook.log.store.clickhouse.deletions import pending_mutations
from relaybook.log.store.clickhouse.entries import read_entries
from relaybook.log.store.clickhouse.filter_sql import condition
from relaybook.log.store.clickhouse.recorders import Numbering, complete_to
from relaybook.log.store.clickhouse.rows import row_of
from relaybook.log.store.clickhouse.schema import READ_COLUMNS, REQUEST_COLUMNS, create_tables
from relaybook.log.store.clickhouse.state import State
from relaybook.log.store.clickhouse.substrings import containing
from relaybook.log.store.entry import Entry
from relaybook.log.store.port import ReadAgain
from relaybook.settings.store_url import DatabaseAddress

_LOOK_EVERY_NS: Final = 500_000_000
#: Interval at which ``Rereader`` looks whether a mutation has ended.
_CONTINUE_EVERY_NS: Final = 100_000_000
#: Time limit of one search for substrings.
_SEARCH_NS: Final = 100_000_000
#: Number of requests that one query reads. Recording waits for the query.
_FEW: Final = 32
#: A slice ends when it has this number of requests or bytes.
_SLICE_REQUESTS: Final = 20_000
_SLICE_BYTES: Final = 64 << 20
_INDEXES: Final = tuple(list(REQUEST_COLUMNS).index(name) for name in READ_COLUMNS)
_HAS_CONTENT: Final = "has_content AND NOT removed"
_STAGED: Final = f"{_HAS_CONTENT} AND seq IN (SELECT seq FROM reread_values)"
#: The columns that have all values which a reread can change. The other columns have copies of some of them.
_COMPARED: Final = ("record", "chain", "words", "input_preview", "output_preview", "error_message")
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(Reread).decode


class _Task(msgspec.Struct):
    """The remaining work of a reread, for requests whose ``seq`` is above ``position`` and at most ``up_to``.

    If ``staged_to`` is not `None`, the table ``reread_values`` has ``staged`` rows, with the values of the requests up
    to ``staged_to``. Of these requests, ``read`` were read, and ``changed`` have other values.
    """

    up_to: int
    position: int = 0
    staged_to: int | None = None
    staged: int = 0
    read: int = 0
    changed: int = 0


_decode_task: Final = msgspec.msgpack.Decoder(_Task).decode


def read_rereads(state: State, limit: int) -> list[Reread]:
    """Return the latest rereads, newest first."""
    return [_decode(value) for value in reversed(state.read("reread").values())][:limit]


class ClickHouseRereads:
    """Stores requested rereads. Any process can request a reread. Implements ``Rereads``."""

    def __init__(self, address: DatabaseAddress, numbering: Numbering | None = None) -> None:
        self._database = Database(address)
        self._state = State(self._database)
        self._numbering = numbering or Numbering(self._database)

    def request_reread(self, filter_: Filter, requests: int, by: str) -> Reread:
        create_tables(self._database, self._state)
        reread = Reread(
            id=ids.id_text(ids.new_id()),
            requested_at=clock.wall_us(),
            requested_by=by,
            filter_=filter_,
            requests=requests,
        )
        up_to = max(complete_to(self._state), self._numbering.first(self._numbering.now()))
        self._state.write({("reread", reread.id): _encode(reread), ("reread_task", reread.id): _encode(_Task(up_to))})
        return reread


class _Slice:
    """The rows of a slice for the table ``reread_values``. The slice has the requests up to ``reached``."""

    def __init__(self, reread_id: str, position: int) -> None:
        self.reread_id = reread_id
        self.reached = position
        self.rows: list[list[object]] = []
        self.bytes = 0
        self.read = self.changed = 0

    def add(self, old: Entry, new: Entry | None) -> None:
        self.read += 1
        self.reached = old.record.seq or 0
        if new is None:
            return
        self.changed += (new.record, new.chain) != (old.record, old.chain)
        values = row_of(new, self.reached, text_of(new), None, 0)
        row = [self.reached, *(values[index] for index in _INDEXES)]
        self.rows.append(row)
        self.bytes += sum(len(value) for value in row if isinstance(value, str | bytes))

    @property
    def is_full(self) -> bool:
        return self.read >= _SLICE_REQUESTS or self.bytes >= _SLICE_BYTES


class Rereader:
    """Carries out rereads for the writer, oldest first."""

    def __init__(self, database: Database, state: State) -> None:
        self._database = database
        self._state = state
        self._not_before_ns = 0
        #: The slice that is being read.
        self._slice: _Slice | None = None

    def work(self, read_again: ReadAgain, until_ns: int) -> bool:
        """Carry out the oldest reread until ``until_ns`` (monotonic clock). Returns False if it must wait."""
        now_ns = clock.monotonic_ns()
        if now_ns < self._not_before_ns:
            return False
        tasks = self._state.read("reread_task")
        if not tasks:
            self._not_before_ns = now_ns + _LOOK_EVERY_NS
            return False
        key, value = next(iter(tasks.items()))
        if self._continue(key, _decode_task(value), read_again, until_ns):
            return True
        self._not_before_ns = clock.monotonic_ns() + _CONTINUE_EVERY_NS
        return False

    def _continue(self, key: str, task: _Task, read_again: ReadAgain, until_ns: int) -> bool:
        """Do the next step of a reread. Returns False if the step must wait."""
        if task.staged_to is not None:
            return self._replace(key, task)
        reread = _decode(self._state.read("reread")[key])
        if self._slice is None or self._slice.reread_id != key:
            if complete_to(self._state) < task.up_to:
                return False
            self._slice = _Slice(key, task.position)
        while clock.monotonic_ns() < until_ns and not self._slice.is_full and self._slice.reached < task.up_to:
            self._read_few(self._slice, reread.filter_, task.up_to, read_again)
        if self._slice.is_full or self._slice.reached >= task.up_to:
            return self._stage(self._slice, task)
        return True

    def _read_few(self, slice_: _Slice, filter_: Filter, up_to: int, read_again: ReadAgain) -> None:
        """Read the next few requests of a slice again."""
        bounds = slice_.reached + 1, up_to
        parameters = Parameters()
        if any(term.name == CONTAINS for term in filter_.terms):
            until_ns = clock.monotonic_ns() + _SEARCH_NS
            found = containing(self._database, filter_, bounds, _FEW, until_ns, newest_first=False)
            sql = f"r.seq IN ({', '.join(map(str, found.seqs)) or '-1'})"
            reached = up_to if found.reached is None else found.reached
            is_last = len(found.seqs) < _FEW
        else:
            sql = condition(filter_, parameters, f"r.seq BETWEEN {bounds[0]} AND {bounds[1]}")
            reached, is_last = up_to, False
        entries = read_entries(self._database, sql, parameters, "r.seq", _FEW, MAX_BODY_BYTES)
        for entry in entries:
            slice_.add(entry, None if entry.detail is None else read_again(entry))
        if is_last or not entries:
            slice_.reached = reached

    def _stage(self, slice_: _Slice, task: _Task) -> bool:
        """Write the values of a slice to the table ``reread_values``. Returns False if a mutation is running."""
        if pending_mutations(self._database):  # it may read the table
            return False
        self._database.execute("TRUNCATE TABLE reread_values")
        # The values of requests that were removed or have expired meanwhile must not be written to the disk.
        bounds = f"seq > {task.position} AND seq <= {slice_.reached}"
        kept = {seq for (seq,) in self._database.query(f"SELECT seq FROM requests WHERE {_HAS_CONTENT} AND {bounds}")}
        rows = [row for row in slice_.rows if row[0] in kept]
        self._database.insert("reread_values", {"seq": "Int64"} | READ_COLUMNS, rows)
        staged = msgspec.structs.replace(
            task, staged_to=slice_.reached, staged=len(rows), read=slice_.read, changed=slice_.changed
        )
        self._state.write({("reread_task", slice_.reread_id): _encode(staged)})
        self._slice = None
        return True

    def _replace(self, key: str, task: _Task) -> bool:
        """Begin to copy the staged values to the requests, or go on to the next slice if this is done."""
        if pending_mutations(self._database):
            return False
        ((staged,),) = self._database.query("SELECT count() FROM reread_values")
        if staged != task.staged:  # another recorder has begun the same slice, or the rows were lost
            self._state.write({("reread_task", key): _encode(_Task(task.up_to, task.position))})
            return True
        if self._database.query(f"SELECT 1 FROM requests WHERE {_STAGED} AND {self._differs()} LIMIT 1"):
            values = ", ".join(f"`{name}` = {self._new(name)}" for name in READ_COLUMNS)
            self._database.execute(f"ALTER TABLE requests UPDATE {values} WHERE {_STAGED}")
            return True
        self._database.execute("TRUNCATE TABLE reread_values")
        reread = _decode(self._state.read("reread")[key])
        reread.read += task.read
        reread.changed += task.changed
        next_task: bytes | None = _encode(_Task(task.up_to, task.staged_to or 0))
        if (task.staged_to or 0) >= task.up_to:
            reread.state, reread.done_at, next_task = "done", clock.wall_us(), None
            reread.filter_ = without_values(reread.filter_)
        self._state.write({("reread", key): _encode(reread), ("reread_task", key): next_task})
        return True

    def _new(self, name: str) -> str:
        return f"joinGet('{self._database.address.database}.reread_values', '{name}', seq)"

    def _differs(self) -> str:
        old = ", ".join(f"ifNull({name}, '')" for name in _COMPARED)
        new = ", ".join(f"ifNull({self._new(name)}, '')" for name in _COMPARED)
        return f"sipHash64({old}) <> sipHash64({new})"
