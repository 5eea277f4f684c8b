"""Return everything known about one request: its row, headers, messages, response and timeline."""

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.errors import ApiError
from relaybook.api.reading import async_reader_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import DetailPart, RequestDetail, Row, Sighting
from relaybook.clock import format_timestamp
from relaybook.log.formats.conversation import plain
from relaybook.log.formats.lenient import sanitize
from relaybook.log.record import Detail, Record
from relaybook.log.request_view import RequestView, find_request
from relaybook.log.row import to_json
from relaybook.log.store.errors import BodyDamaged
from relaybook.log.store.port import Reader

MAX_ALSO: Final = 20


class RequestNotFound(ApiError):
    """No request in the log has the id."""

    def __init__(self, any_id: str) -> None:
        super().__init__(
            "not_found",
            f"No request in this log has the id {any_id[:80]!r}. The id can be Relaybook's id (the response header "
            "Service-Request-Id), the client's id, the provider's request id, or the id in the response body. To list "
            "requests, use GET /api/requests.",
            "id",
        )


def find_or_raise(reader: Reader, any_id: str) -> tuple[RequestView, list[Record]]:
    """Return the best match for an id (see ``find_request``), and up to MAX_ALSO other records that have the id.

    Raises RequestNotFound.
    """
    found = find_request(reader, any_id, MAX_ALSO)
    if found is None:
        raise RequestNotFound(any_id)
    return found


routes = Routes("log")


@routes.get("/api/requests/{id:request_id}", openapi.describe(RequestDetail, [openapi.ANY_ID]))
async def get_request(request: Request) -> Response:
    """Return one request with headers, messages and response.

    If several finished requests have the id, the newest is returned, and up to 20 others are in `also`.

    The data of a running request is updated once a second. Headers, messages and response of a running request are
    `null` in these cases:

    - Its bodies are not logged.
    - The bodies of request and response together exceed 512 KiB.
    - 32 newer running requests have these fields, which is the maximum.
    """
    arguments.only(arguments.pairs_of(request))
    return await detail_response(request, request.path_params["id"])


async def detail_response(request: Request, any_id: str) -> Response:
    """Return the response with everything known about the request that has the id. Raises RequestNotFound."""
    body = await async_reader_of(request).run(lambda reader: msgspec.json.encode(detail_of(reader, any_id)))
    return Response(body, media_type="application/json")


def detail_of(reader: Reader, any_id: str) -> Row:
    """Return the fields of the row and of DetailPart in a dict that msgspec can encode.

    Raises RequestNotFound.
    """
    view, also = find_or_raise(reader, any_id)
    return to_json(view.record) | msgspec.structs.asdict(_part(view, also))


def _part(view: RequestView, also: list[Record]) -> DetailPart:
    damage = view.damage
    request = response = None
    try:
        request, response = view.request(), view.response()
    except BodyDamaged as error:
        damage = str(error)
    return DetailPart(
        damage=damage,
        reason=view.detail.reason or None,
        request_headers=view.headers("request") if view.has_headers else None,
        response_headers=view.headers("response") if view.has_headers else None,
        stored_request_bytes=view.size("request"),
        stored_response_bytes=view.size("response"),
        parameters=None if request is None else sanitize(request.parameters),
        messages=None if request is None else plain(request.messages),
        response=plain(response),
        timeline=_timeline(view.detail),
        also=[Sighting(id=record.id, started_at=format_timestamp(record.started_at)) for record in also],
    )


def _timeline(detail: Detail) -> list[tuple[float, int]]:
    return [(at_us / 1000, size) for at_us, size in zip(detail.chunk_at_us, detail.chunk_bytes, strict=False)]
