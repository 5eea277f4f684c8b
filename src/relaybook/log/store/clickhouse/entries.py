"""Read requests with their bodies into memory, and read single bodies in chunks."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from relaybook.log.record import Side
from relaybook.log.store.clickhouse.connection import Database, Parameters, Row
from relaybook.log.store.clickhouse.feedback import load_feedback
from relaybook.log.store.clickhouse.rows import RECORD, decode_detail, record_of
from relaybook.log.store.errors import BodyDamaged
from relaybook.log.store.port import Body, Entry

#: Maximum size of the chunks in which a body is returned.
CHUNK: Final = 1 << 20
_BODY: Final = "r.{0}_size, r.{0}_chunks, if(ifNull(r.{0}_size, 0) <= {1}, r.{0}, '') AS {0}_rest"


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
    sizes = (
        "SELECT r.seq, r.request_size, r.response_size FROM requests AS r "
        f"WHERE {condition} ORDER BY {order} LIMIT {limit}"
    )
    chosen: list[int] = []
    remaining = max_bytes
    for seq, *both in database.query(sizes, parameters.values, deadline_ns=deadline_ns):
        remaining -= sum(size for size in both if size is not None and size <= max_bytes)
        if remaining < 0 and chosen:
            break
        chosen.append(seq)
    if not chosen:
        return []
    columns = ", ".join(
        (RECORD, "r.detail", "r.chain", *(_BODY.format(side, max_bytes) for side in ("request", "response")))
    )
    sql = f"SELECT {columns} FROM requests AS r WHERE r.seq IN ({', '.join(map(str, chosen))}) ORDER BY {order}"
    as_bytes = ("record", "detail", "chain", "request_rest", "response_rest")
    rows = database.query(sql, deadline_ns=deadline_ns, as_bytes=as_bytes)
    entries = [_entry(database, row, max_bytes, deadline_ns) for row in rows]
    load_feedback(database, [entry.record for entry in entries], deadline_ns)
    return entries


def _entry(database: Database, row: Row, max_bytes: int, deadline_ns: int | None) -> Entry:
    *record, detail, chain = row[:-6]
    bodies = [_body(database, side, max_bytes, deadline_ns) for side in (row[-6:-3], row[-3:])]
    return Entry(
        record=record_of(record), detail=decode_detail(detail), request=bodies[0], response=bodies[1], chain=chain
    )


def _body(database: Database, side: Sequence[Any], max_bytes: int, deadline_ns: int | None) -> Body | None:
    """Return a body. `None` if it is larger than ``max_bytes``, or if some of its chunks are missing."""
    size, chunks, rest = side
    if size is None or size > max_bytes:
        return None
    try:
        return Body([], [b"".join(body_chunks(database, chunks, rest, deadline_ns))])
    except BodyDamaged:
        return None


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
