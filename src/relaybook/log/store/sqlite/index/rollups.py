"""Maintain aggregates over time, in total and per value of a field.

Each minute, hour and day has aggregates, which are updated with every write. A *series* has the aggregates of the
requests with one value of a field. There are series for every outcome, for the first 256 models, and for the values of
the first 64 properties. There are also series for the first 256 namespaces whose names do not look like ids. All other
namespaces share one series, and all models after the 256th share another series. A property is *open* if
it has more than 64 values or is not one of the first 64 properties. An open property has no series. Charts of an open
property, or of a namespace or model without its own series, are computed from the log.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

import apsw
import msgspec

from relaybook.log.aggregate.aggregates import Aggregates, Contribution, contribution_of
from relaybook.log.aggregate.stats import ALL, MINUTE_US
from relaybook.log.namespaces import looks_like_id
from relaybook.log.record import Record

#: The possible lengths of a bucket, in minutes.
LEVELS: Final = (1, 60, 1440)
MAX_VALUES: Final = {"model": 256, "namespace": 256, "outcome": 16}
MAX_PROPERTY_VALUES: Final = 64
MAX_PROPERTIES: Final = 64

_SET: Final = "INSERT OR REPLACE INTO rollups (level, field, at, series, aggregates) VALUES (?, ?, ?, ?, ?)"
_GET: Final = "SELECT aggregates FROM rollups WHERE level = ? AND field = ? AND at = ? AND series = ?"
_HAS_ROWS: Final = "SELECT EXISTS (SELECT 1 FROM rollups WHERE level = 1440 AND field = ? AND series = ?)"
_HAS_FIELD_ROWS: Final = "SELECT EXISTS (SELECT 1 FROM rollups WHERE level = 1440 AND field = ?)"
_HAS_PROPERTY: Final = "SELECT EXISTS (SELECT 1 FROM value_counts WHERE field = 'property' AND value = ?)"
_REMOVE_SERIES: Final = "DELETE FROM series WHERE id = ?"
_FORGET_SERIES: Final = "UPDATE series SET value = ? WHERE id = ? AND value IS NOT NULL"
#: Removes at most 2,000 rows, which takes about 10 ms.
_REMOVE: Final = """
DELETE FROM rollups WHERE (level, field, at, series) IN
  (SELECT level, field, at, series FROM rollups WHERE level = ? AND field = ? AND at <= ? LIMIT 2000)
"""
_ADD_FIELD: Final = "INSERT INTO rollup_fields (id, field, is_open) VALUES (?, ?, ?)"
_ADD_SERIES: Final = "INSERT INTO series (id, field, value) VALUES (?, ?, ?)"

_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(Aggregates).decode

#: The number of a field, and the number of one of its series.
_Series = tuple[int, int]
#: Key of a row: level (the length of the bucket in minutes), field, start of the bucket in minutes, series.
_Cell = tuple[int, int, int, int]


class _Field:
    """A field and its series by value.

    The key `None` has the series that all values without their own series share.
    """

    def __init__(self, number: int, name: str, *, is_open: bool = False) -> None:
        self.number = number
        self.name = name
        self.is_open = is_open
        self.series: dict[str | None, _Series] = {}
        self.max_series = MAX_VALUES.get(name, 1 if name == ALL else MAX_PROPERTY_VALUES)


class RollupTables:
    """Adds records to the aggregates per minute, hour and day, within the caller's transaction.

    The object caches fields, series, and the rows that the last batch wrote. Caching is safe, because there is only one
    writer.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._fields: dict[str, _Field] = {}
        self._next_series = 1
        self._is_loaded = False
        #: The rows of the last batch, cached because the next batch updates most of them.
        self._stored: dict[_Cell, Aggregates] = {}
        self._load()

    def _load(self) -> None:
        """Read fields and series from the database.

        This is necessary at the start, after a failed transaction, and after ``subtract``.
        """
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
        self._is_loaded = True

    def store(self, records: Iterable[Record]) -> None:
        """Add the records of finished requests to the aggregates. Add each record only once."""
        if not self._is_loaded:
            self._load()
        self._is_loaded = False  # the state is valid again after the commit
        minutes: defaultdict[tuple[int, _Series], list[Contribution]] = defaultdict(list)
        for record in records:
            at, contribution = record.started_at // MINUTE_US, contribution_of(record)
            for series in self._series_of(record):
                minutes[at, series].append(contribution)
        cells: dict[_Cell, Aggregates] = {}
        opened = {field.number for field in self._fields.values() if field.is_open}
        for (at, (field, number)), shares in minutes.items():
            if field in opened:
                continue
            aggregates = Aggregates.of(shares)
            for level in LEVELS:
                key = (level, field, at - at % level, number)
                if (cell := cells.get(key)) is None:
                    cell = cells[key] = self._read(key)
                cell.add(aggregates)
        rows = [(*key, _encode(aggregates)) for key, aggregates in sorted(cells.items(), key=_key)]
        self._connection.executemany(_SET, rows)
        self._stored = cells

    def _read(self, key: _Cell) -> Aggregates:
        existing = self._stored.get(key)
        if existing is not None:
            return existing
        row = self._connection.execute(_GET, key).fetchone()
        return Aggregates() if row is None else _decode(row[0])

    def subtract(self, records: Iterable[Record]) -> None:
        """Subtract deleted records from the aggregates.

        A namespace or model that has no aggregates anymore is replaced with a placeholder. Its place is not reused,
        because a value that already shares a series must not get its own series. Values of properties share no series,
        so they are removed. The name of a property is replaced with a placeholder when the property has neither records
        nor aggregates. Call this method after the records were subtracted from the counts of field values. The next
        call of ``store`` or ``subtract`` reads fields and series from the database again.
        """
        if not self._is_loaded:
            self._load()
        self._is_loaded = False
        minutes: defaultdict[tuple[int, _Series], list[Contribution]] = defaultdict(list)
        for record in records:
            at, contribution = record.started_at // MINUTE_US, contribution_of(record)
            for series in self._known_series(record):
                minutes[at, series].append(contribution)
        cells: dict[_Cell, Aggregates] = {}
        for (at, (field, number)), shares in minutes.items():
            aggregates = Aggregates.of(shares)
            for level in LEVELS:
                cells.setdefault((level, field, at - at % level, number), Aggregates()).add(aggregates)
        emptied = {key[1::2] for key, aggregates in sorted(cells.items(), key=_key) if self._subtract(key, aggregates)}
        names = {field.number: field.name for field in self._fields.values()}
        for field, number in sorted(emptied):
            if names[field] in (ALL, "outcome") or self._connection.execute(_HAS_ROWS, (field, number)).get:
                continue
            if names[field].startswith("property."):
                self._connection.execute(_REMOVE_SERIES, (number,))
            else:
                self._connection.execute(_FORGET_SERIES, (_forgotten(number), number))
        for name in sorted({name for record in records for name in record.properties}):
            if not self._connection.execute(_HAS_PROPERTY, (name,)).get:
                self._forget_property(f"property.{name}")

    def _known_series(self, record: Record) -> Iterator[_Series]:
        """Yield the series to which a stored record was added."""
        pairs = [(ALL, ""), ("outcome", record.outcome), ("namespace", record.namespace), ("model", record.model)]
        pairs += [(f"property.{name}", value) for name, value in record.properties.items()]
        for name, value in pairs:
            field = self._fields.get(name)
            if field is not None and not field.is_open and value is not None:
                series = field.series.get(value) or field.series.get(None)
                if series is not None:
                    yield series

    def _subtract(self, key: _Cell, aggregates: Aggregates) -> bool:
        """Subtract aggregates from a row. Returns whether the row was removed because it became empty."""
        row = self._connection.execute(_GET, key).fetchone()
        rest = None if row is None else _decode(row[0]).without([aggregates])  # retention may have removed the row
        if rest is None:
            self._connection.execute("DELETE FROM rollups WHERE (level, field, at, series) = (?, ?, ?, ?)", key)
        else:
            self._connection.execute(_SET, (*key, _encode(rest)))
        return rest is None

    def _forget_property(self, name: str) -> None:
        """Replace the name of a property with a placeholder. The number of the property is not reused.

        The name is kept if the property still has aggregates, of requests that were removed by age. Call this method
        only if no record has the property.
        """
        field = self._fields.get(name)
        if field is not None and not self._connection.execute(_HAS_FIELD_ROWS, (field.number,)).get:
            forgotten = f"property.{_forgotten(field.number)}"
            self._connection.execute("UPDATE rollup_fields SET field = ? WHERE id = ?", (forgotten, field.number))

    def remove_before(self, minute: int) -> bool:
        """Remove some aggregates of buckets that end at or before ``minute``, in a separate transaction.

        Returns False if no such aggregates are left.
        """
        if minute <= 0:
            return False
        for level in LEVELS:
            for field in self._fields.values():
                bounds = (level, field.number, minute - level)
                self._connection.execute(_REMOVE, bounds)
                if self._connection.changes():
                    self._stored = {}
                    return True
        return False

    def committed(self) -> None:
        """Mark the cached state as valid. Call this method after the commit of the transaction."""
        self._is_loaded = True

    def _series_of(self, record: Record) -> list[_Series]:
        found = [
            self._value_series(ALL, ""),
            self._value_series("outcome", record.outcome),
            self._namespace_series(record.namespace),
        ]
        if record.model is not None:
            found.append(self._value_series("model", record.model))
        for name, value in record.properties.items():
            found.append(self._value_series(f"property.{name}", value))
        return [series for series in found if series is not None]

    def _value_series(self, name: str, value: str) -> _Series | None:
        field = self._fields.get(name)
        if field is None:
            field = self._new_field(name)
        if field.is_open:
            return None
        return field.series.get(value) or self._new_series(field, value)

    def _namespace_series(self, name: str) -> _Series | None:
        """Return the series of a namespace.

        All names that look like ids share one series. A chart for one of these names is computed from the log.
        """
        field = self._fields.get("namespace") or self._new_field("namespace")
        existing = field.series.get(name)
        if existing is None and looks_like_id(name):
            return field.series.get(None) or self._new_series(field, None)
        return existing or self._new_series(field, name)

    def _new_field(self, name: str) -> _Field:
        properties = sum(existing.startswith("property.") for existing in self._fields)
        is_open = name.startswith("property.") and properties >= MAX_PROPERTIES
        field = _Field(len(self._fields), name, is_open=is_open)
        if is_open:
            return field  # not cached, because there may be millions of property names
        self._connection.execute(_ADD_FIELD, (field.number, name, False))
        self._fields[name] = field
        return field

    def _new_series(self, field: _Field, value: str | None) -> _Series | None:
        stored_value: str | None = value
        if len(field.series) - (None in field.series) >= field.max_series:
            if field.name.startswith("property."):
                self._stop_aggregating(field)
                return None
            stored_value = None
            if stored_value in field.series:
                return field.series[stored_value]
        series = field.series[stored_value] = (field.number, self._next_series)
        self._connection.execute(_ADD_SERIES, (self._next_series, field.number, stored_value))
        self._next_series += 1
        return series

    def _stop_aggregating(self, field: _Field) -> None:
        """Mark a property that has too many values as open, and delete its series and aggregates."""
        field.is_open = True
        field.series.clear()
        execute = self._connection.execute
        execute("UPDATE rollup_fields SET is_open = 1 WHERE id = ?", (field.number,))
        execute("DELETE FROM series WHERE field = ?", (field.number,))
        for level in LEVELS:
            execute("DELETE FROM rollups WHERE level = ? AND field = ?", (level, field.number))


def _forgotten(number: int) -> str:
    """Return the placeholder for a value or property name that no record has anymore.

    No request has the placeholder as a value or name.
    """
    return f"\0{number}"


def _key(item: tuple[_Cell, Aggregates]) -> _Cell:
    return item[0]
