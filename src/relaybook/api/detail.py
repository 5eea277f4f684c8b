"""Tells everything about one request: its row, headers, messages, answer and timeline."""

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import document, query
from relaybook.api.answers import DetailPart, RequestDetail, Row, Sighting
from relaybook.api.lookup import Found, look_up
from relaybook.api.reading import reading_of
from relaybook.api.routes import Routes
from relaybook.bodies import answer, decode, messages, parameters
from relaybook.clock import format_moment
from relaybook.records import Detail, Side, to_json
from relaybook.stores.base import Reader

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
    query.only(query.pairs_of(request))
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
        also=[Sighting(id=record.id, started_at=format_moment(record.started_at)) for record in found.also],
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
