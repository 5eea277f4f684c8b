"""Tells everything about one request: its row, headers, messages, answer and timeline."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, document
from relaybook.api.errors import ApiError
from relaybook.api.reading import reading_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import DetailPart, RequestDetail, Row, Sighting
from relaybook.clock import format_timestamp
from relaybook.ids import parse_id
from relaybook.log.formats import answer, decode, messages, parameters
from relaybook.log.query.filters import Filter
from relaybook.log.record import Detail, Record, Side, to_json
from relaybook.log.store.port import Reader, Running, Stored

MAX_ALSO = 20


class Found(NamedTuple):
    """The request, and other records that carry the id asked for, latest first.

    ``so_far`` is what there is of an open request; None for a finished one, whose bodies the store has.
    """

    stored: Stored
    also: list[Record]
    so_far: Running | None = None


def look_up(reader: Reader, any_id: str) -> Found:
    """Ours first, finished or running; else the newest record that carries the id. Raises ApiError ``not_found``."""
    carriers = reader.find(any_id, MAX_ALSO + 1)
    for our_id in _our_ids(reader, any_id, carriers):
        also = [record for record in carriers if record.id != our_id][:MAX_ALSO]
        if stored := reader.get(our_id):
            return Found(stored, also)
        if so_far := reader.open_request(our_id):
            return Found(_as_stored(so_far), also, so_far)
        # It may have ended between the two looks.
        if stored := reader.get(our_id):
            return Found(stored, also)
    raise ApiError(
        "not_found",
        f"No request in this log has the id {any_id[:80]!r}: not as ours, nor as the provider's, completion's or"
        " client's id. Copy the Service-Request-Id header of its response, or look for it in GET /api/requests.",
        "id",
    )


def _our_ids(reader: Reader, any_id: str, carriers: list[Record]) -> Iterator[str]:
    """What the id may mean, as ids of ours. Each that is looked for in vain costs three questions."""
    ours = any_id.lower()  # RFC 9562 §4: written in lower case, read in either
    if parse_id(ours) is not None:
        yield ours
    yield from (record.id for record in carriers[:1])
    for record in reader.running(Filter()):
        if any_id in (record.provider_request_id, record.completion_id, record.client_request_id):
            yield record.id


def _as_stored(running: Running) -> Stored:
    return Stored(
        record=running.record,
        detail=running.detail or Detail(),
        request_size=None if running.request is None else len(running.request),
        response_size=None if running.response is None else len(running.response),
        request=running.request,
        response=running.response,
    )


routes = Routes("log")

#: Bodies beyond this are not parsed for the detail view; they can be downloaded.
MAX_PARSED_BYTES: Final = 16 << 20

#: Kinds of requests whose bodies have messages, parameters and an answer.
UNDERSTOOD: Final = frozenset({"chat", "completion", "response", "embedding"})

_ID = document.parameter("id", "Relaybook's id, or the upstream's, completion's or client's id.", place="path")


@routes.get("/api/requests/{id:path}", document.reads(RequestDetail, [_ID]))
async def get_request(request: Request) -> Response:
    """Return one request with headers, messages and response.

    If the id is not Relaybook's, the newest request that has it is returned, and the others are in `also`. A running
    request is updated once a second; its headers, messages and response are `null` if it is logged without bodies, if
    it is larger than 512 KiB, or if 32 running requests started later.
    """
    arguments.only(arguments.pairs_of(request))
    any_id: str = request.path_params["id"]

    def question(reader: Reader) -> bytes:
        found = look_up(reader, any_id)
        row: Row = to_json(found.stored.record)
        return msgspec.json.encode(row | msgspec.structs.asdict(_part(reader, found)))

    return Response(await reading_of(request).ask(question), media_type="application/json")


def content_encoding(headers: list[tuple[str, str]]) -> str | None:
    """The Content-Encoding of stored headers; several make one list (RFC 9110 §5.3)."""
    return ", ".join(value for name, value in headers if name.lower() == "content-encoding") or None


def _part(reader: Reader, found: Found) -> DetailPart:
    stored, so_far = found.stored, found.so_far
    detail, is_told = stored.detail, so_far is None or so_far.detail is not None
    asked = _readable(reader, found, "request")
    answered = _readable(reader, found, "response")
    return DetailPart(
        reason=detail.reason or None,
        request_headers=detail.request_headers if is_told else None,
        response_headers=detail.response_headers if is_told else None,
        stored_request_bytes=stored.request_size,
        stored_response_bytes=stored.response_size,
        parameters=None if asked is None else parameters(asked),
        messages=None if asked is None else messages(asked),
        answer=None if answered is None else answer(answered, stored.record.stream, stored.record.kind),
        timeline=_timeline(detail),
        also=[Sighting(id=record.id, started_at=format_timestamp(record.started_at)) for record in found.also],
    )


def _readable(reader: Reader, found: Found, side: Side) -> bytes | None:
    """The decoded body, or None when there is none, or it is of no kind we understand, or too large to be parsed."""
    stored = found.stored
    size = stored.request_size if side == "request" else stored.response_size
    if size is None or size > MAX_PARSED_BYTES or stored.record.kind not in UNDERSTOOD:
        return None
    data = _body(reader, found, side)
    if data is None:
        return None
    detail = stored.detail
    headers = detail.request_headers if side == "request" else detail.response_headers
    decoded = decode(data, content_encoding(headers), limit=MAX_PARSED_BYTES)
    return None if decoded.state in ("too_large", "undecodable") else decoded.data


def _body(reader: Reader, found: Found, side: Side) -> bytes | None:
    """What crossed, of a request that is still open so far."""
    at_hand = found.stored.request if side == "request" else found.stored.response
    if at_hand is not None or found.so_far is not None:
        return at_hand
    pieces = reader.body(found.stored.record.id, side)
    return None if pieces is None else b"".join(pieces)


def _timeline(detail: Detail) -> list[tuple[float, int]]:
    return [(at_us / 1000, size) for at_us, size in zip(detail.chunk_at_us, detail.chunk_bytes, strict=False)]
