"""Read requests with their bodies into memory, and read single bodies in chunks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from relaybook import clock
from relaybook.log.record import Detail, Record, Side
from relaybook.log.store.clickhouse.connection import Database, Parameters
from relaybook.log.store.clickhouse.feedback import load_feedback
from relaybook.log.store.clickhouse.rows import RECORD, decode_detail, record_of
from relaybook.log.store.entry import Body, Entry
from relaybook.log.store.errors import BodyDamaged
from relaybook.log.store.port import StoredRecord

#: Maximum size of the chunks in which a body is returned.
CHUNK: Final = 1 << 20
#: Maximum size of all bodies that ``read_stored`` has in memory.
_BATCH_BYTES: Final = 8 << 20
#: Time after which ``read_stored`` reads a request again, because it may have been deleted.
_FRESH_NS: Final = clock.NANOSECONDS
_SIDES: Final = ("request", "response")
_BODY: Final = "r.{0}_size, r.{0}_chunks, if(ifNull(r.{0}_size, 0) <= {1}, r.{0}, '') AS {0}_rest"

#: The ``seq`` of a request, and the sizes of its bodies. `None` if a body is not stored.
Sizes = tuple[int, int | None, int | None]


class _Request(NamedTuple):
    """A request with the sizes of its bodies, and with the bodies that are in memory."""

    record: Record
    detail: Detail
    chain: bytes | None
    sizes: tuple[int | None, ...]
    bodies: tuple[bytes | None, ...]


def read_entries(
    database: Database,
    condition: str,
    parameters: Parameters,
    order: str,
    limit: int,
    max_bytes: int,
    deadline_ns: int | None = None,
) -> list[Entry]:
    """Return the requests that meet ``condition``, with their bodies in memory.

    The condition is SQL on ``requests AS r``. ``Reader.entries`` describes the limits. Raises DeadlinePassed.
    """
    sql = (
        "SELECT r.seq, r.request_size, r.response_size FROM requests AS r "
        f"WHERE {condition} ORDER BY {order} LIMIT {limit}"
    )
    seqs = _first_within(database.query(sql, parameters.values, deadline_ns=deadline_ns), max_bytes)
    found = _read(database, seqs, max_bytes, deadline_ns)
    return [_entry(found[seq]) for seq in seqs if seq in found]


def _entry(found: _Request) -> Entry:
    request, response = (None if data is None else Body([], [data]) for data in found.bodies)
    return Entry(record=found.record, detail=found.detail, request=request, response=response, chain=found.chain)


def read_stored(database: Database, requests: Sequence[Sizes]) -> Iterator[StoredRecord]:
    """Yield the requests with their details. Bodies that are not too large are in memory.

    Requests are read in batches. If a caller is slow, the rest of a batch is read again after a second, and the next
    batches have fewer requests. A request that was deleted when it was last read is omitted.
    """
    done, limit = 0, len(requests)
    while done < len(requests):
        seqs = _first_within(requests[done : done + limit], _BATCH_BYTES)
        found = _read(database, seqs, _BATCH_BYTES)
        read_ns, begun = clock.monotonic_ns(), done
        for seq in seqs:
            if done > begun and clock.monotonic_ns() - read_ns > _FRESH_NS:
                limit = done - begun
                break
            done += 1
            if seq in found:
                yield _stored(found.pop(seq))
        else:
            limit = 2 * max(limit, 1)


def _stored(found: _Request) -> StoredRecord:
    (request_size, response_size), (request, response) = found.sizes, found.bodies
    return StoredRecord(
        record=found.record,
        detail=found.detail,
        request_size=request_size,
        response_size=response_size,
        request=request,
        response=response,
    )


def _first_within(requests: Iterable[Sizes], max_bytes: int) -> list[int]:
    """Return the ``seq`` of the first requests whose bodies together have at most ``max_bytes``, but at least one.

    Bodies larger than ``max_bytes`` do not count, because they are not read into memory.
    """
    chosen: list[int] = []
    remaining = max_bytes
    for seq, *both in requests:
        remaining -= sum(size for size in both if size is not None and size <= max_bytes)
        if remaining < 0 and chosen:
            break
        chosen.append(seq)
    return chosen


def _read(
    database: Database, seqs: Sequence[int], max_bytes: int, deadline_ns: int | None = None
) -> dict[int, _Request]:
    """Return the requests that still exist, by ``seq``. Sends at most three queries.

    A body is `None` if it is larger than ``max_bytes``, or if some of its chunks are missing.
    """
    if not seqs:
        return {}
    columns = ", ".join((*(_BODY.format(side, max_bytes) for side in _SIDES), "r.detail", "r.chain", RECORD))
    sql = f"SELECT {columns} FROM requests AS r WHERE r.seq IN ({', '.join(map(str, seqs))}) AND NOT r.removed"
    as_bytes = ("record", "detail", "chain", "request_rest", "response_rest")
    rows = database.query(sql, deadline_ns=deadline_ns, as_bytes=as_bytes)
    chunks = {
        chunk for row in rows for size, ids in (row[:2], row[3:5]) if (size or 0) <= max_bytes for chunk, _ in ids
    }
    data = _chunks(database, chunks, deadline_ns)
    found: dict[int, _Request] = {}
    for row in rows:
        detail, chain, *record = row[6:]
        sizes, bodies = row[0:6:3], tuple(_body(side, max_bytes, data) for side in (row[:3], row[3:6]))
        request = _Request(record_of(record), decode_detail(detail), chain, sizes, bodies)
        found[request.record.seq or 0] = request
    load_feedback(database, [each.record for each in found.values()], deadline_ns)
    return found


def _chunks(database: Database, chunks: Iterable[int], deadline_ns: int | None) -> dict[int, bytes]:
    """Return the bytes of chunks by their ids. Missing chunks are omitted."""
    ids = ", ".join(map(str, chunks))
    if not ids:
        return {}
    sql = f"SELECT id, data FROM chunks WHERE id IN ({ids})"
    return dict(database.query(sql, deadline_ns=deadline_ns, as_bytes=("data",)))


def _body(
    side: tuple[int | None, Sequence[tuple[int, int]], bytes], max_bytes: int, data: Mapping[int, bytes]
) -> bytes | None:
    size, chunks, rest = side
    if size is None or size > max_bytes:
        return None
    if not chunks:
        return rest
    whole = b"".join([*(data.get(chunk, b"") for chunk, _ in chunks), rest])
    return whole if len(whole) == size else None


def read_body(database: Database, record_id: str, side: Side) -> Iterator[bytes] | None:
    """Return the bytes of a body in chunks. `None` if the body is not stored."""
    parameters = Parameters()
    sql = (
        f"SELECT r.{side}, r.{side}_size, r.{side}_chunks FROM requests AS r "
        f"WHERE r.id = {parameters.add(record_id)} LIMIT 1"
    )
    rows = database.query(sql, parameters.values, as_bytes=(side,))
    if not rows or rows[0][1] is None:
        return None
    rest, _, chunks = rows[0]
    return body_chunks(database, chunks, rest)


def body_chunks(
    database: Database, chunks: Sequence[tuple[int, int]], rest: bytes, deadline_ns: int | None = None
) -> Iterator[bytes]:
    """Yield the bytes of a body: first its chunks (pairs of id and size in the table ``chunks``), then ``rest``.

    Besides ``rest``, only one chunk is in memory at a time. Raises BodyDamaged and DeadlinePassed.
    """
    for chunk, size in chunks:
        sql = f"SELECT data FROM chunks WHERE id = {chunk}"
        data = b"".join(data for (data,) in database.query(sql, deadline_ns=deadline_ns, as_bytes=("data",)))
        if len(data) != size:
            raise BodyDamaged(f"{database.address} does not have all bytes of the chunk {chunk} of a body.")
        yield from _split(data)
    yield from _split(rest)


def _split(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), CHUNK):
        yield data[start : start + CHUNK]
