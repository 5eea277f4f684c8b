"""Convert records to rows of ``requests`` and back.

Each conversion runs once for every record of a batch or page. For speed, fields are accessed by index instead of by
name.
"""

from collections.abc import Iterable
from operator import itemgetter
from typing import Any, Final, get_type_hints

import msgspec

from relaybook.ids import id_text, parse_id
from relaybook.log.record import FIELDS, Feedback, Record
from relaybook.log.store.sqlite.other_fields import OTHER_FIELDS, encode_other_fields, other_fields_of
from relaybook.log.store.sqlite.schema import COLUMNS

#: The feedback as JSON, or NULL if there is none. ``quote`` keeps the exact value of a number.
_FEEDBACK: Final = """(SELECT nullif(json_group_array(json_object('source', source,
  'score', iif(score IS NULL, NULL, json(quote(score))), 'label', label, 'comment', comment, 'at', at)
  ORDER BY source), '[]') FROM feedback WHERE feedback.seq = r.seq)"""
#: All fields of the record for a SELECT from ``requests AS r``, in the order that ``record_of`` expects.
SELECT_LIST: Final = ", ".join([*(f'r."{column.name}"' for column in COLUMNS), "r.other_fields", _FEEDBACK])
#: Selects the record and the location of its bodies, which is NULL if the bodies have expired. Append a condition.
WITH_BODIES: Final = f"SELECT {SELECT_LIST}, r.bodies FROM requests AS r WHERE"  # noqa: S608 - our own column names
INSERT: Final = "INSERT INTO requests ({}, other_fields, bodies) VALUES ({}?, ?)".format(  # noqa: S608 - our own names
    ", ".join(f'"{column.name}"' for column in COLUMNS), "?, " * len(COLUMNS)
)
_NAMES: Final = tuple(column.name for column in COLUMNS)
_ID: Final = _NAMES.index("id")
_SEQ: Final = _NAMES.index("seq")
#: Replaces all fields of the record with this ``seq``.
UPDATE: Final = "UPDATE requests SET {}, other_fields = ?{} WHERE seq = ?{}".format(  # noqa: S608 - our own names
    ", ".join(f'"{name}" = ?{number}' for number, name in enumerate(_NAMES, 1) if name != "seq"),
    len(COLUMNS) + 1,
    _SEQ + 1,
)
_BOOLEANS: Final = tuple(index for index, column in enumerate(COLUMNS) if column.boolean)
_JSON: Final = tuple(index for index, column in enumerate(COLUMNS) if column.json)
_HINTS: Final = get_type_hints(Record)
_DECODERS: Final = {index: msgspec.json.Decoder(_HINTS[_NAMES[index]]) for index in _JSON}
_decode_feedback: Final = msgspec.json.Decoder(list[Feedback]).decode
_encode: Final = msgspec.json.Encoder().encode
_astuple: Final = msgspec.structs.astuple
_columns: Final = itemgetter(*map(FIELDS.index, _NAMES))
_other_fields: Final = itemgetter(*map(FIELDS.index, OTHER_FIELDS))


def id_bytes(record_id: str) -> bytes:
    """Return the value of the column ``id``. If the text is not an id, the value is empty, and no request has it."""
    return parse_id(record_id) or b""


def row_of(record: Record, seq: int, bodies: bytes) -> list[Any]:
    """Return the parameters of INSERT: all fields except the feedback, and ``bodies``, the location of the bodies."""
    row = values_of(record, seq)
    row.append(bodies)
    return row


def values_of(record: Record, seq: int) -> list[Any]:
    """Return the parameters of UPDATE: all fields except the feedback.

    Raises ValueError if the record's ``id`` is not an id.
    """
    fields = _astuple(record)
    row: list[Any] = list(_columns(fields))
    row[_ID] = id_bytes(record.id)
    if not row[_ID]:
        raise ValueError(f"{record.id!r} is not an id")
    row[_SEQ] = seq
    for index in _JSON:
        row[index] = _encode(row[index]).decode() if row[index] else None
    row.append(encode_other_fields(_other_fields(fields)))
    return row


def record_of(row: Iterable[Any]) -> Record:
    """Return the record of a row selected with SELECT_LIST."""
    *values, other_fields, feedback = row
    values[_ID] = id_text(values[_ID])
    for index in _BOOLEANS:
        values[index] = bool(values[index])
    for index, decoder in _DECODERS.items():
        text = values[index]
        values[index] = decoder.decode(text) if text is not None else _empty(index)
    return Record(
        **dict(zip(_NAMES, values, strict=True)),
        **other_fields_of(other_fields),
        feedback=_decode_feedback(feedback) if feedback is not None else [],
    )


def _empty(index: int) -> Any:
    return {} if _NAMES[index] == "properties" else []
