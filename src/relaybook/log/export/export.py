"""Export the requests that match a filter, in recording order.

Requests recorded after the start of the export are omitted, and so are requests deleted during the export. If the
bodies of a request expire during the export, the request is exported like any other request without bodies. Memory use
does not depend on the number of requests.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple, Protocol

import msgspec
from msgspec import UNSET

from relaybook import clock
from relaybook.log.export.comma_separated import MAX_PROPERTIES, CommaSeparated
from relaybook.log.export.fine_tuning import FineTuning
from relaybook.log.export.json_lines import JsonLines
from relaybook.log.namespaces import LabelChange, NamespaceQuery
from relaybook.log.query.filters import BadFilter, Filter, needs_text
from relaybook.log.query.parameters import parse_flag
from relaybook.log.record import Record, Side
from relaybook.log.request_view import RequestView
from relaybook.log.store.errors import DeadlinePassed
from relaybook.log.store.port import Reader, StoredRecord

#: Approximate size in bytes of each part of the file that ``Export.chunks`` yields.
_CHUNK_BYTES: Final = 256 * 1024
_BATCH: Final = 500
_NAMES_NS: Final = 10 * clock.NANOSECONDS
#: Maximum number of labels in an EndLine.
MAX_LABELS: Final = 100
#: After this many consecutive reads without progress, the export fails, because the store is too slow.
_MAX_STALLS: Final = 5


class Encoder(Protocol):
    """Encodes requests as one file. Callers call ``begin``, then ``add`` for each request, then ``end``."""

    #: Number of requests in the file so far.
    count: int
    #: Number of requests that the format omits, by reason.
    omitted: Counter[str]

    def begin(self) -> bytes:
        """Return the beginning of the file."""

    def add(self, record: Record, view: RequestView | None) -> Iterable[bytes]:
        """Return the bytes of a request in parts. A large body is read while the caller consumes the parts.

        ``view`` is `None` if the export has no bodies.
        """

    def end(self) -> bytes:
        """Return the end of the file."""


class FileFormat(NamedTuple):
    """A file format.

    ``bodies`` is True if files always contain bodies, False if they never contain bodies, and `None` if the query
    decides.
    """

    name: str
    media_type: str
    bodies: bool | None
    open_encoder: Callable[[Reader, bool], Encoder]
    #: Whether the file is text, so that an EndLine can follow the last request.
    is_text: bool = True


def _json_lines(reader: Reader, bodies: bool) -> Encoder:
    return JsonLines()


def _comma_separated(reader: Reader, bodies: bool) -> Encoder:
    names = reader.values("property", "", MAX_PROPERTIES, clock.monotonic_ns() + _NAMES_NS)
    return CommaSeparated([each.value for each in names])


def _fine_tuning(reader: Reader, bodies: bool) -> Encoder:
    return FineTuning()


def _parquet(reader: Reader, bodies: bool) -> Encoder:
    try:
        from relaybook.log.export.parquet import Parquet
    except ImportError:
        raise BadFilter(
            "format", "parquet needs pyarrow. Run pip install 'pyarrow>=20' where Relaybook is installed."
        ) from None
    return Parquet(bodies=bodies)


FILE_FORMATS: Final = {
    each.name: each
    for each in (
        FileFormat("jsonl", "application/x-ndjson", None, _json_lines),
        FileFormat("csv", "text/csv; charset=utf-8", False, _comma_separated),
        FileFormat("chat", "application/x-ndjson", True, _fine_tuning),
        FileFormat("parquet", "application/vnd.apache.parquet", None, _parquet, is_text=False),
    )
}


class ExportQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Says which requests an export contains, and in which format.

    The export ends with the last request that the filter can find when the export starts (see ``searchable_to``). If
    ``end`` is True, the last line is an EndLine.
    """

    file_format: FileFormat
    filter_: Filter
    bodies: bool = False
    end: bool = False


class EndLine(msgspec.Struct, omit_defaults=True):
    """The last line of a complete export.

    ``omitted`` counts the requests that the format omits, by reason. ``labels`` are the labels of at most
    ``MAX_LABELS`` pinned namespaces. An export with a filter has no labels, because the names of other namespaces may
    be confidential.
    """

    end: bool
    count: int
    omitted: dict[str, int] = {}
    labels: list[LabelChange] = []


def file_format_of(name: str) -> FileFormat:
    """Return the file format with this name. Raises BadFilter if no format has the name."""
    if name not in FILE_FORMATS:
        raise BadFilter("format", f"format is {name[:80]!r}: expected one of {', '.join(FILE_FORMATS)}.")
    return FILE_FORMATS[name]


#: The parameters of an export besides those of the filter.
PARAMETERS: Final = ("format", "bodies", "end")


def parse_export_query(values: Mapping[str, str], filter_: Filter) -> ExportQuery:
    """Return the export query for a filter and the values of PARAMETERS. Raises BadFilter if a value is invalid."""
    if "format" not in values:
        raise BadFilter("format", f"format is missing: expected one of {', '.join(FILE_FORMATS)}.")
    file_format = file_format_of(values["format"])
    return ExportQuery(
        file_format=file_format,
        filter_=filter_,
        bodies=parse_flag("bodies", values.get("bodies"), default=False),
        end=file_format.is_text and parse_flag("end", values.get("end"), default=file_format.name == "jsonl"),
    )


class Export:
    """A running export."""

    def __init__(self, reader: Reader, query: ExportQuery) -> None:
        """Begin the export. Raises BadFilter if the query is not valid for this log."""
        file_format = query.file_format
        if query.bodies and file_format.bodies is False:
            raise BadFilter(
                "bodies", f"{file_format.name} has no bodies. Use jsonl or parquet, or omit the parameter bodies."
            )
        #: The ``seq`` of the last request that the export can contain.
        self._last_seq = searchable_to(reader, query.filter_)
        self._query = query
        self._reader = reader
        self._bodies = query.bodies or file_format.bodies is True
        self._encoder = file_format.open_encoder(reader, self._bodies)

    def chunks(self) -> Iterator[bytes]:
        """Yield the file in chunks, some of which may be empty. Raises the errors of ``log/store/errors.py``."""
        encoder = self._encoder
        parts, size = [encoder.begin()], 0
        for batch in self._batches():
            for record, view in batch:
                for part in encoder.add(record, view):
                    parts.append(part)
                    size += len(part)
                    if size >= _CHUNK_BYTES:
                        yield b"".join(parts)
                        parts, size = [], 0
            yield b"".join(parts)
            parts, size = [], 0
        parts.append(encoder.end())
        if self._query.end:
            end = EndLine(True, encoder.count, dict(encoder.omitted), self._labels())
            parts.append(msgspec.json.encode(end) + b"\n")
        yield b"".join(parts)

    def _labels(self) -> list[LabelChange]:
        if self._query.file_format.name != "jsonl" or self._query.filter_.terms:
            return []
        return list(islice(labels_of(self._reader), MAX_LABELS))

    def _batches(self) -> Iterator[Iterator[tuple[Record, RequestView | None]]]:
        at, stalls = 0, 0
        while at < self._last_seq and stalls < _MAX_STALLS:
            batch, reached = self._read(at)
            yield batch
            stalls = 0 if reached > at else stalls + 1
            at = reached
        if at < self._last_seq:
            raise DeadlinePassed("The log could not be read in time. Narrow the filter, or try again later.")

    def _read(self, after: int) -> tuple[Iterator[tuple[Record, RequestView | None]], int]:
        """Return the next matching requests, and the ``seq`` up to which the result is complete."""
        if not self._bodies:
            records, reached = self._reader.since(after, self._query.filter_, _BATCH)
            return ((record, None) for record in records if (record.seq or 0) <= self._last_seq), reached
        found, reached = self._reader.stored_since(after, self._query.filter_, _BATCH)
        views = map(self._view, found)
        return ((view.record, view) for view in views if (view.record.seq or 0) <= self._last_seq), reached

    def _view(self, stored: StoredRecord) -> RequestView:
        """Return a view that reads only stored bodies, and only those that are not in memory yet."""
        sizes = stored.request_size, stored.response_size

        def transferred(side: Side) -> Iterator[bytes] | None:
            size, data = (sizes[0], stored.request) if side == "request" else (sizes[1], stored.response)
            if size is None:
                return None
            if data is None:
                return self._reader.body(stored.record.id, side)
            return (data[start : start + _CHUNK_BYTES] for start in range(0, size, _CHUNK_BYTES))

        return RequestView(stored.record, stored.detail, *sizes, transferred, damage=stored.damage)


def labels_of(reader: Reader) -> Iterator[LabelChange]:
    """Yield a label change for each pinned namespace.

    The change contains the namespace's current label, so it can be applied to another log.
    """
    after: str | None = None
    while True:
        deadline_ns = clock.monotonic_ns() + _NAMES_NS
        rows, after = reader.namespaces(NamespaceQuery(pinned=True), MAX_LABELS, after, deadline_ns)
        for row in rows:
            yield LabelChange(
                namespace=row.namespace,
                pinned=True,
                color=UNSET if row.color is None else row.color,
                group=row.group,
                position=UNSET if row.position is None else row.position,
            )
        if after is None:
            return


def searchable_to(reader: Reader, filter_: Filter) -> int:
    """Return the highest ``seq`` up to which the filter can be evaluated now.

    A filter that searches text cannot be evaluated for requests that are not in the full-text index yet.
    """
    if not needs_text(filter_):
        return reader.last_seq()
    status = reader.status()
    return min(status.last_seq, status.indexed_to)
