"""Convert entries to rows of ``requests``, and rows to records."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from relaybook.log.aggregate.aggregates import duration_of
from relaybook.log.numbers import tokens_per_second_of
from relaybook.log.query.words import SearchText
from relaybook.log.record import NOTE_FIELDS, Detail, Record
from relaybook.log.store.clickhouse.connection import Row
from relaybook.log.store.clickhouse.filter_sql import spaced_words
from relaybook.log.store.clickhouse.schema import LISTED, RECORD_COLUMNS
from relaybook.log.store.entry import Body, Entry, body_size
from relaybook.log.store.status import RunPosition

#: The fields of a record that can change: the writer assigns ``seq``, and the other fields change when the content
#: expires.
_CHANGING: Final = LISTED[1:]
#: The columns that ``record_of`` reads, for ``requests AS r``. The column ``record`` has all other fields of the
#: record.
RECORD: Final = ", ".join(f"r.{name}" for name in LISTED)
_NAMES: Final = tuple(RECORD_COLUMNS)
_encode: Final = msgspec.msgpack.Encoder().encode
_decode_record: Final = msgspec.msgpack.Decoder(Record).decode
decode_detail: Final = msgspec.msgpack.Decoder(Detail | None).decode
decode_position: Final = msgspec.msgpack.Decoder(RunPosition).decode


def row_of(entry: Entry, seq: int, text: SearchText, recorded_on: Any, sent_at: int) -> list[Any]:
    """Return the row of a request. ``text`` is the searchable text."""
    record = entry.record
    values = [getattr(record, name) for name in _NAMES]
    values[_NAMES.index("seq")] = seq
    for name in NOTE_FIELDS.values():
        values[_NAMES.index(name)] = [(note.code, note.message) for note in getattr(record, name)]
    unchanging = msgspec.structs.replace(
        record, seq=None, input_preview=None, output_preview=None, error_message=None, feedback=[]
    )
    return [
        *values,
        _encode(unchanging),
        _encode(entry.detail),
        _rest(entry.request),
        _rest(entry.response),
        chunks_of(entry.request),
        chunks_of(entry.response),
        body_size(entry.request),
        body_size(entry.response),
        entry.chain,
        spaced_words(text),
        _bin(record.duration_ms),
        _bin(record.first_token_ms),
        _bin(tokens_per_second_of(record)),
        True,
        False,
        recorded_on,
        sent_at,
    ]


def _bin(milliseconds: float | None) -> int | None:
    duration = duration_of(milliseconds)
    return None if duration is None else duration[1]


def _rest(body: Body | None) -> bytes:
    return b"" if body is None else b"".join(body.rest)


def chunks_of(body: Body | None) -> list[tuple[int, int]]:
    """Return the ids and sizes of a body's chunks."""
    return [] if body is None else [(ref.location[0], ref.size) for ref in body.refs]


def record_of(row: Sequence[Any]) -> Record:
    """Return the record of a row with the columns ``RECORD``, without its feedback."""
    data, *changing = row
    record = _decode_record(data)
    for name, value in zip(_CHANGING, changing, strict=True):
        setattr(record, name, value)
    return record


def records_of(rows: Sequence[Row]) -> Iterator[Record]:
    """Yield the records of rows."""
    return map(record_of, rows)
