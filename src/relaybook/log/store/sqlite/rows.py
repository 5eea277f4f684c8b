"""Convert records to rows of ``requests`` and back.

Each conversion runs once for every record of a batch or page. For speed, fields are accessed by index instead of by
name.
"""

from collections.abc import Iterable
from typing import Any, Final, get_type_hints

import msgspec

from relaybook.log.record import FIELDS, Feedback, Record
from relaybook.log.store.sqlite.schema import COLUMNS

#: The feedback as JSON, or NULL if there is none. ``quote`` keeps the exact value of a number.
_FEEDBACK: Final = """(SELECT nullif(json_group_array(json_object('source', source,
  'score', iif(score IS NULL, NULL, json(quote(score))), 'label', label, 'comment', comment, 'at', at)
  ORDER BY source), '[]') FROM feedback WHERE feedback.seq = r.seq)"""
#: The record's fields, in order, for a SELECT from ``requests AS r``.
SELECT_LIST: Final = ", ".join([*(f'r."{column.name}"' for column in COLUMNS), _FEEDBACK])
#: Selects the record and the location of its bodies, which is NULL if the bodies have expired. Append a condition.
WITH_BODIES: Final = f"SELECT {SELECT_LIST}, r.bodies FROM requests AS r WHERE"  # noqa: S608 - our own column names
INSERT: Final = "INSERT INTO requests ({}, bodies) VALUES ({}?)".format(  # noqa: S608 - names of our own fields
    ", ".join(f'"{column.name}"' for column in COLUMNS), "?, " * len(COLUMNS)
)
_SEQ: Final = FIELDS.index("seq")
#: Replaces all fields of the record with this ``seq``.
UPDATE: Final = "UPDATE requests SET {} WHERE seq = ?{}".format(  # noqa: S608 - names of our own fields
    ", ".join(f'"{column.name}" = ?{number}' for number, column in enumerate(COLUMNS, 1) if column.name != "seq"),
    _SEQ + 1,
)
_BOOLEANS: Final = tuple(index for index, column in enumerate(COLUMNS) if column.boolean)
_JSON: Final = tuple(index for index, column in enumerate(COLUMNS) if column.json)
_HINTS: Final = get_type_hints(Record)
_DECODERS: Final = {index: msgspec.json.Decoder(_HINTS[FIELDS[index]]) for index in _JSON}
_decode_feedback: Final = msgspec.json.Decoder(list[Feedback]).decode
_encode: Final = msgspec.json.Encoder().encode
_astuple: Final = msgspec.structs.astuple


def row_of(record: Record, seq: int, bodies: bytes) -> list[Any]:
    """Return the parameters of INSERT: all fields except the feedback, and ``bodies``, the location of the bodies."""
    row = _columns_of(record, seq)
    row[-1] = bodies
    return row


def values_of(record: Record, seq: int) -> list[Any]:
    """Return the parameters of UPDATE: all fields except the feedback."""
    return _columns_of(record, seq)[:-1]


def _columns_of(record: Record, seq: int) -> list[Any]:
    row: list[Any] = list(_astuple(record))
    row[_SEQ] = seq
    for index in _JSON:
        row[index] = _encode(row[index]).decode() if row[index] else None
    return row


def record_of(row: Iterable[Any]) -> Record:
    """Return the record of a row selected with SELECT_LIST."""
    values = list(row)
    for index in _BOOLEANS:
        if values[index] is not None:
            values[index] = bool(values[index])
    for index, decoder in _DECODERS.items():
        text = values[index]
        values[index] = decoder.decode(text) if text is not None else _empty(index)
    values[-1] = _decode_feedback(values[-1]) if values[-1] is not None else []
    return Record(**dict(zip(FIELDS, values, strict=True)))


def _empty(index: int) -> Any:
    return {} if FIELDS[index] == "properties" else []
