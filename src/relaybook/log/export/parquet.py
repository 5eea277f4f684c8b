"""Write requests as Parquet with typed columns, compressed with zstd.

This module needs pyarrow, which the extra ``parquet`` installs.

Without bodies, a row has the fields of the record. With bodies, a row also has the messages, tools, parameters, headers
and response, as in the detail view.
"""

from collections import Counter
from collections.abc import Iterable
from types import NoneType
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from relaybook.log.formats.conversation import Message, Output, Part, plain
from relaybook.log.formats.lenient import as_json
from relaybook.log.numbers import DERIVED
from relaybook.log.record import FIELDS, NOTE_FIELDS, TIMESTAMPS, Record, Side
from relaybook.log.request_view import RequestView
from relaybook.log.row import result_of
from relaybook.log.store.errors import BodyDamaged

#: A row group is written when its columns have this size in memory. With 8 MiB, an export takes 60 MiB of memory. With
#: 32 MiB, an export would take 115 MiB, and the files would not be smaller (benchmarks/parts/export.py).
ROW_GROUP_BYTES: Final = 8 << 20
#: Rows are converted to columns in batches, which are limited by the number of rows and by the size of their bodies.
_BATCH_ROWS: Final = 500
_BATCH_BYTES: Final = 4 << 20

_TEXT: Final = pa.string()
_TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
_FEEDBACK: Final = pa.list_(
    pa.struct({"source": _TEXT, "score": pa.float64(), "label": _TEXT, "comment": _TEXT, "at": _TIMESTAMP})
)
_PAIRS: Final = pa.list_(pa.struct({"name": _TEXT, "value": _TEXT}))
#: Column type for the parts of messages and outputs. ``media`` and ``other`` are JSON.
_PARTS: Final = pa.list_(
    pa.struct(dict.fromkeys(("kind", "text", "name", "id", "arguments", "type", "media", "other"), _TEXT))
)
_MESSAGES: Final = pa.list_(pa.struct({"role": _TEXT, "name": _TEXT, "parts": _PARTS}))
_OUTPUTS: Final = pa.list_(pa.struct({"index": pa.int64(), "finish_reason": _TEXT, "parts": _PARTS}))
#: Columns of exports with bodies. ``parameters`` (all fields except messages and tools) and each tool are JSON.
_CONTENT: Final = {
    "messages": _MESSAGES,
    "outputs": _OUTPUTS,
    "tools": pa.list_(_TEXT),
    "parameters": _TEXT,
    "request_headers": _PAIRS,
    "response_headers": _PAIRS,
}


def _type_of(name: str, hint: Any) -> pa.DataType:
    """Return the column type for a field of the record."""
    if name in TIMESTAMPS:
        return _TIMESTAMP
    if name == "feedback":
        return _FEEDBACK
    (kind,) = [each for each in get_args(hint) if each is not NoneType] if NoneType in get_args(hint) else (hint,)
    if get_origin(kind) is dict:
        return pa.map_(_TEXT, _TEXT)
    if get_origin(kind) is list:
        return pa.list_(pa.struct({"code": _TEXT, "message": _TEXT}))
    if get_origin(kind) is Literal:
        return _TEXT
    return {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: _TEXT}[kind]


_HINTS: Final = get_type_hints(Record)
_RECORD: Final = {name: _type_of(name, _HINTS[name]) for name in FIELDS} | {
    **dict.fromkeys(DERIVED, pa.float64()),
    "result": _TEXT,
}


class _Sink:
    """A file in memory, from which the exporter takes the bytes written so far."""

    closed = False

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._position = 0

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._position += len(part)
        return len(part)

    def tell(self) -> int:
        return self._position

    def flush(self) -> None: ...

    def close(self) -> None: ...

    def take(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        return data


class Parquet:
    """Writes a file in row groups."""

    def __init__(self, *, bodies: bool) -> None:
        self.count = 0
        self.omitted: Counter[str] = Counter()
        self._schema = pa.schema(_RECORD | (_CONTENT if bodies else {}))
        self._sink = _Sink()
        self._writer = pq.ParquetWriter(pa.PythonFile(self._sink, mode="w"), self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []
        self._row_bytes = 0
        self._batches: list[pa.RecordBatch] = []
        self._batch_bytes = 0

    def begin(self) -> bytes:
        return self._sink.take()

    def add(self, record: Record, view: RequestView | None) -> Iterable[bytes]:
        self.count += 1
        row = msgspec.structs.asdict(record) | {name: derive(record) for name, derive in DERIVED.items()}
        row["result"] = result_of(record).code
        row["properties"] = list(record.properties.items())
        for name in (*NOTE_FIELDS.values(), "feedback"):
            row[name] = [msgspec.structs.asdict(each) for each in row[name]]
        if view is not None:
            row |= self._content(row, view)
        self._rows.append(row)
        if len(self._rows) >= _BATCH_ROWS or self._row_bytes >= _BATCH_BYTES:
            self._convert()
        if self._batch_bytes < ROW_GROUP_BYTES:
            return ()
        self._write_row_group()
        return (self._sink.take(),)

    def end(self) -> bytes:
        self._convert()
        self._write_row_group()
        self._writer.close()
        return self._sink.take()

    def _content(self, row: dict[str, Any], view: RequestView) -> dict[str, Any]:
        try:
            request, response = view.request(), view.response()
        except BodyDamaged:
            row["body_state"] = "expired"
            request = response = None
        self._row_bytes += (view.size("request") or 0) + (view.size("response") or 0)
        parameters = None if request is None else dict(request.parameters)
        tools = parameters.pop("tools", None) if parameters else None
        return {
            "messages": None if request is None else list(map(_message, request.messages)),
            "outputs": None if response is None else list(map(_output, response.outputs)),
            "tools": list(map(as_json, tools)) if isinstance(tools, list) else None,
            "parameters": None if parameters is None else as_json(parameters),
            "request_headers": _pairs(view, "request"),
            "response_headers": _pairs(view, "response"),
        }

    def _convert(self) -> None:
        if self._rows:
            batch = pa.RecordBatch.from_pylist(self._rows, schema=self._schema)
            self._batches.append(batch)
            self._batch_bytes += batch.nbytes
        self._rows, self._row_bytes = [], 0

    def _write_row_group(self) -> None:
        if self._batches:
            table = pa.Table.from_batches(self._batches)
            self._writer.write_table(table, row_group_size=table.num_rows)
        self._batches, self._batch_bytes = [], 0


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "name": message.name, "parts": list(map(_part, message.parts))}


def _output(output: Output) -> dict[str, Any]:
    return {
        "index": output.index,
        "finish_reason": output.finish_reason,
        "parts": list(map(_part, output.parts)),
    }


def _part(part: Part) -> dict[str, Any]:
    row: dict[str, Any] = plain(part)
    return row | {name: as_json(row[name]) for name in ("media", "other") if name in row}


def _pairs(view: RequestView, side: Side) -> list[dict[str, str]] | None:
    if not view.has_headers:
        return None
    return [{"name": name, "value": value} for name, value in view.headers(side)]
