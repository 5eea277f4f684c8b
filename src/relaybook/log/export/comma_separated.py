"""Write records as CSV (RFC 4180, UTF-8) for spreadsheets, with one column per field and without bodies.

Each of the most frequent properties has its own column (see ``MAX_PROPERTIES``). A text that a spreadsheet would
evaluate as a formula gets a leading apostrophe.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from relaybook.log.numbers import DERIVED
from relaybook.log.record import FIELDS, NOTE_FIELDS, Record
from relaybook.log.request_view import RequestView
from relaybook.log.row import to_json

#: Number of properties with a separate column. Less frequent properties share the column ``properties``.
MAX_PROPERTIES: Final = 500
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_COLUMNS: Final = ("id", "seq", "started_at", "ended_at", "result")
#: The first columns of each row. The columns for single properties follow.
COLUMNS: Final = (
    *_COLUMNS,
    *(name for name in FIELDS if name not in (*_COLUMNS, "properties")),
    *DERIVED,
    "properties",
)


class CommaSeparated:
    """Writes a header and one row per request."""

    def __init__(self, property_names: Sequence[str]) -> None:
        """``property_names`` are the properties that have a separate column."""
        self.count = 0
        self.omitted: Counter[str] = Counter()
        self._names = sorted(property_names)
        self._buffer = io.StringIO()
        self._writer = csv.writer(self._buffer)

    def begin(self) -> bytes:
        return self._row([*COLUMNS, *(f"property.{name}" for name in self._names)])

    def add(self, record: Record, view: RequestView | None) -> Iterable[bytes]:
        self.count += 1
        row = to_json(record)
        row["result"] = row["result"]["code"]
        for name in NOTE_FIELDS.values():
            row[name] = " ".join(note["code"] for note in row[name])
        properties: dict[str, str] = row["properties"]
        own = [_cell(properties.pop(name, None)) for name in self._names]
        row["properties"] = msgspec.json.encode(properties).decode() if properties else None
        row["feedback"] = msgspec.json.encode(row["feedback"]).decode() if row["feedback"] else None
        return (self._row([*(_cell(row[name]) for name in COLUMNS), *own]),)

    def end(self) -> bytes:
        return b""

    def _row(self, cells: list[Any]) -> bytes:
        self._writer.writerow(cells)
        text = self._buffer.getvalue()
        self._buffer.seek(0)
        self._buffer.truncate()
        return text.encode()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    return value
