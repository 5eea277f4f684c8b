"""Keeps sums over time, written with the records: per minute, hour and day, of all requests and of single values.

A *series* is a value of a field whose requests are summed: every outcome, the first 256 models, the first 256
namespaces whose names do not look like ids, and the values of the first 64 properties. A property with more than 64
values is *open*: its series are dropped and its charts read the log, as those of a user's namespace do. All other
namespaces are summed together, and so are the models beyond the 256th.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import apsw
import msgspec

from relaybook.log.aggregate.aggregates import Aggregates, Share, share
from relaybook.log.aggregate.stats import MINUTE_US
from relaybook.log.namespaces import looks_like_id
from relaybook.log.record import Record

#: Minutes of a bucket.
LEVELS: Final = (1, 60, 1440)
MOST_VALUES: Final = {"model": 256, "namespace": 256, "outcome": 16}
MOST_PROPERTY_VALUES: Final = 64
MOST_PROPERTIES: Final = 64
#: The field that every request has, with the one value "".
ALL: Final = ""

_SET: Final = "INSERT OR REPLACE INTO rollups (level, field, at, series, sums) VALUES (?, ?, ?, ?, ?)"
_GET: Final = "SELECT sums FROM rollups WHERE level = ? AND field = ? AND at = ? AND series = ?"
_ADD_FIELD: Final = "INSERT INTO rollup_fields (id, field, is_open) VALUES (?, ?, ?)"
_ADD_SERIES: Final = "INSERT INTO series (id, field, value) VALUES (?, ?, ?)"

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(Aggregates).decode

#: Field and series.
_Series = tuple[int, int]
#: Level, field, beginning in minutes, series: the key of a row.
_Cell = tuple[int, int, int, int]


class _Field:
    """A field and its series by value; None: all values beyond the most it may have."""

    def __init__(self, number: int, name: str, *, is_open: bool = False) -> None:
        self.number = number
        self.name = name
        self.is_open = is_open
        self.series: dict[str | None, _Series] = {}
        self.most = MOST_VALUES.get(name, 1 if name == ALL else MOST_PROPERTY_VALUES)


class RollupTables:
    """Adds records within the caller's transaction. There is one writer, so it knows what is stored."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._fields: dict[str, _Field] = {}
        self._next_series = 1
        self._is_known = False
        #: The rows of the last batch: the next one adds to most of them.
        self._stored: dict[_Cell, Aggregates] = {}
        self._load()

    def _load(self) -> None:
        """What is stored; also after a transaction that did not end well."""
        self._fields = {
            name: _Field(number, name, is_open=bool(is_open))
            for number, name, is_open in self._connection.execute("SELECT id, field, is_open FROM rollup_fields")
        }
        by_number = {field.number: field for field in self._fields.values()}
        self._next_series = 1
        for number, field, value in self._connection.execute("SELECT id, field, value FROM series ORDER BY id"):
            by_number[field].series[value] = (field, number)
            self._next_series = number + 1
        self._stored = {}
        self._is_known = True

    def store(self, records: Iterable[Record]) -> None:
        """Adds finished records that were not added before."""
        if not self._is_known:
            self._load()
        self._is_known = False  # until the transaction has ended well
        minutes: defaultdict[tuple[int, _Series], list[Share]] = defaultdict(list)
        for record in records:
            at, added = record.started_at // MINUTE_US, share(record)
            for series in self._series_of(record):
                minutes[at, series].append(added)
        cells: dict[_Cell, Aggregates] = {}
        opened = {field.number for field in self._fields.values() if field.is_open}
        for (at, (field, number)), shares in minutes.items():
            if field in opened:
                continue
            sums = Aggregates.of(shares)
            for level in LEVELS:
                key = (level, field, at - at % level, number)
                if (cell := cells.get(key)) is None:
                    cell = cells[key] = self._read(key)
                cell.add(sums)
        rows = [(*key, _encode(sums)) for key, sums in sorted(cells.items(), key=_key)]
        self._connection.executemany(_SET, rows)
        self._stored = cells

    def _read(self, key: _Cell) -> Aggregates:
        known = self._stored.get(key)
        if known is not None:
            return known
        row = self._connection.execute(_GET, key).fetchone()
        return Aggregates() if row is None else _decode(row[0])

    def committed(self) -> None:
        """The transaction has ended well."""
        self._is_known = True

    def _series_of(self, record: Record) -> list[_Series]:
        found = [self._one(ALL, ""), self._one("outcome", record.outcome), self._namespace(record.namespace)]
        if record.model is not None:
            found.append(self._one("model", record.model))
        for name, value in record.properties.items():
            found.append(self._one(f"property.{name}", value))
        return [series for series in found if series is not None]

    def _one(self, name: str, value: str) -> _Series | None:
        field = self._fields.get(name)
        if field is None:
            field = self._new_field(name)
        if field.is_open:
            return None
        return field.series.get(value) or self._new_series(field, value)

    def _namespace(self, name: str) -> _Series | None:
        """One that looks like an id is summed with the others that do; its own charts read the log."""
        field = self._fields.get("namespace") or self._new_field("namespace")
        known = field.series.get(name)
        if known is None and looks_like_id(name):
            return field.series.get(None) or self._new_series(field, None)
        return known or self._new_series(field, name)

    def _new_field(self, name: str) -> _Field:
        properties = sum(known.startswith("property.") for known in self._fields)
        is_open = name.startswith("property.") and properties >= MOST_PROPERTIES
        field = _Field(len(self._fields), name, is_open=is_open)
        if is_open:
            return field  # not remembered: names may come by the million, too
        self._connection.execute(_ADD_FIELD, (field.number, name, False))
        self._fields[name] = field
        return field

    def _new_series(self, field: _Field, value: str | None) -> _Series | None:
        kept: str | None = value
        if len(field.series) >= field.most:
            if field.name.startswith("property."):
                self._open(field)
                return None
            kept = None
            if kept in field.series:
                return field.series[kept]
        series = field.series[kept] = (field.number, self._next_series)
        self._connection.execute(_ADD_SERIES, (self._next_series, field.number, kept))
        self._next_series += 1
        return series

    def _open(self, field: _Field) -> None:
        """Gives up on a property that has too many values to be summed one by one."""
        field.is_open = True
        field.series.clear()
        execute = self._connection.execute
        execute("UPDATE rollup_fields SET is_open = 1 WHERE id = ?", (field.number,))
        execute("DELETE FROM series WHERE field = ?", (field.number,))
        for level in LEVELS:
            execute("DELETE FROM rollups WHERE level = ? AND field = ?", (level, field.number))


def _key(item: tuple[_Cell, Aggregates]) -> _Cell:
    return item[0]
