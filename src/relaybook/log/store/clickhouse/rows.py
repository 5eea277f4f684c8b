"""Convert entries to rows of ``requests``, and rows to records."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from relaybook.log.record import Detail, Note, Record
from relaybook.log.store.clickhouse.connection import Row
from relaybook.log.store.clickhouse.filter_sql import spaced_words
from relaybook.log.store.clickhouse.schema import RECORD_COLUMNS
from relaybook.log.store.port import Body, Entry, RunPosition, body_size

#: The columns of a record, for ``requests AS r``.
RECORD: Final = ", ".join(f"r.`{name}`" for name in RECORD_COLUMNS)
_NAMES: Final = tuple(RECORD_COLUMNS)
_NOTES: Final = ("warnings", "advice")
_encode: Final = msgspec.msgpack.Encoder().encode
decode_detail: Final = msgspec.msgpack.Decoder(Detail).decode
decode_position: Final = msgspec.msgpack.Decoder(RunPosition).decode


def row_of(entry: Entry, seq: int, text: str, recorded_on: Any, sent_at: int) -> list[Any]:
    """Return the row of a request. ``text`` is what can be searched."""
    record = entry.record
    values = [getattr(record, name) for name in _NAMES]
    values[_NAMES.index("seq")] = seq
    for name in _NOTES:
        values[_NAMES.index(name)] = [(note.code, note.message) for note in getattr(record, name)]
    return [
        *values,
        _encode(entry.detail),
        _rest(entry.request),
        _rest(entry.response),
        chunks_of(entry.request),
        chunks_of(entry.response),
        body_size(entry.request),
        body_size(entry.response),
        entry.chain,
        spaced_words(text),
        True,
        False,
        recorded_on,
        sent_at,
    ]


def _rest(body: Body | None) -> bytes:
    return b"" if body is None else b"".join(body.rest)


def chunks_of(body: Body | None) -> list[tuple[int, int]]:
    """Return the ids and sizes of a body's chunks."""
    return [] if body is None else [(ref.location[0], ref.size) for ref in body.refs]


def record_of(row: Sequence[Any]) -> Record:
    """Return the record of a row with the columns ``RECORD``, without its feedback."""
    fields = dict(zip(_NAMES, row, strict=True))
    for name in _NOTES:
        fields[name] = [Note(*note) for note in fields[name]]
    return Record(**fields)


def records_of(rows: Sequence[Row]) -> Iterator[Record]:
    """Yield the records of rows."""
    return map(record_of, rows)
