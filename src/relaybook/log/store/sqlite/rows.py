"""Convert records to rows of ``requests`` and back.

Each conversion runs once for every record of a batch or page. For speed, it accesses fields by index, not by name.
"""

from collections.abc import Iterable
from typing import Any, Final, get_type_hints

import msgspec

from relaybook.log.record import FIELDS, Record
from relaybook.log.store.sqlite.schema import COLUMNS

#: The record's columns, in order, for a SELECT from ``requests AS r``.
SELECT_LIST: Final = ", ".join(f'r."{name}"' for name in FIELDS)
#: Selects the record and the location of its bodies, which is NULL if they have expired. A condition must follow.
WITH_BODIES: Final = f"SELECT {SELECT_LIST}, r.bodies FROM requests AS r WHERE"  # noqa: S608 - our own column names
INSERT: Final = "INSERT INTO requests ({}, bodies) VALUES ({}?)".format(  # noqa: S608 - names of our own fields
    ", ".join(f'"{name}"' for name in FIELDS), "?, " * len(FIELDS)
)
_SEQ: Final = FIELDS.index("seq")
_BOOLEANS: Final = tuple(index for index, column in enumerate(COLUMNS) if column.boolean)
_JSON: Final = tuple(index for index, column in enumerate(COLUMNS) if column.json)
_HINTS: Final = get_type_hints(Record)
_DECODERS: Final = {index: msgspec.json.Decoder(_HINTS[FIELDS[index]]) for index in _JSON}
_encode: Final = msgspec.json.Encoder().encode
_astuple: Final = msgspec.structs.astuple


def row_of(record: Record, seq: int, bodies: bytes) -> list[object]:
    """Return the parameters of INSERT."""
    row: list[object] = list(_astuple(record))
    row[_SEQ] = seq
    for index in _JSON:
        row[index] = _encode(row[index]).decode() if row[index] else None
    row.append(bodies)
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
    return Record(**dict(zip(FIELDS, values, strict=True)))


def _empty(index: int) -> Any:
    return {} if FIELDS[index] == "properties" else []
