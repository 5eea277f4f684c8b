"""Accept and list deletions. The recorder carries them out."""

import re
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.errors import ApiError
from relaybook.api.options import address_of
from relaybook.api.routes import Routes
from relaybook.log.ask.deletions import DeletionList, DeletionReceipt, RequestedDeletion

routes = Routes("deletions")

_COUNT: Final = re.compile(r"\d{1,15}", re.ASCII)
_CONFIRM = openapi.parameter(
    "confirm",
    "The number of finished requests that match the filter, from `GET /api/count?exact=true`. If the number is wrong, "
    "nothing is deleted, and `requests` in the error is the correct number.",
    {"type": "integer", "minimum": 0},
) | {"required": True}
_REQUEST_ID = openapi.parameter("id", "Relaybook's id of the request.", place="path")
_DELETION_ID = openapi.parameter("id", "The id of the deletion.", place="path")


@routes.delete(
    "/api/requests", openapi.describe(RequestedDeletion, [*openapi.filter_parameters(), _CONFIRM], status=202)
)
async def delete_requests(request: Request) -> Response:
    """Delete all finished requests that match the filter. A deletion cannot be undone.

    At least one filter parameter is required. `from=1970-01-01T00:00:00Z` matches all requests. If new requests are
    being logged, set `to` (the end of the time range). The number of matching requests can then still grow while
    requests that started before `to` are running. If the filter contains words, the deletion includes matching requests
    that are not in the full-text index yet.

    Running requests are not deleted. `running` in the response is the number of running requests that match.

    The deletion is carried out in the background and continues after a restart. See `GET /api/deletions/{id}`.
    """
    values, rest = arguments.take(arguments.pairs_of(request), "confirm")
    filter_ = arguments.filter_of(rest, "confirm")
    if not filter_.terms:
        message = "A filter is required, so that nothing is deleted by mistake. To delete all requests, send"
        raise ApiError("bad_parameter", f"{message} from=1970-01-01T00:00:00Z.")
    confirm = _parse_count(values.get("confirm"))
    by = address_of(request)
    return _accepted(await async_asker_of(request).run(lambda asker: asker.delete(filter_, confirm, by)))


@routes.delete("/api/requests/{id:request_id}", openapi.describe(RequestedDeletion, [_REQUEST_ID], status=202))
async def delete_request(request: Request) -> Response:
    """Delete one finished request. A deletion cannot be undone.

    The deletion is carried out in the background. See `GET /api/deletions/{id}`.
    """
    arguments.only(arguments.pairs_of(request))
    record_id: str = request.path_params["id"].lower()
    by = address_of(request)
    return _accepted(await async_asker_of(request).run(lambda asker: asker.delete_one(record_id, by)))


@routes.get("/api/deletions", openapi.describe(DeletionList))
async def list_deletions(request: Request) -> Response:
    """Return the latest 100 deletions, newest first.

    A deletion has one of these states:

    - `removing`: requests are being removed. A removed request disappears from all lists and counts immediately.
    - `erasing`: all requests are removed, and their bytes are being erased.
    - `done`: no file of the log contains bytes of the deleted requests.

    A deletion is usually done within ten minutes. Until the deletion is done, the journal can still contain bytes of
    the requests. By default, a journal segment is closed (sealed) at most ten minutes after its first frame. The
    segment is deleted when all its requests are recorded.
    """
    arguments.only(arguments.pairs_of(request))
    return _json(await async_asker_of(request).run(lambda asker: asker.deletions()))


@routes.get("/api/deletions/{id}", openapi.describe(DeletionReceipt, [_DELETION_ID, *openapi.filter_parameters()]))
async def get_deletion(request: Request) -> Response:
    """Return the receipt of a deletion.

    If filter parameters are given, `check` says whether they are the filter of the deletion, and how many requests
    match them now. Send the parameters in `filter` of the response to the deletion.
    """
    filter_ = arguments.filter_of(arguments.pairs_of(request))
    deletion_id: str = request.path_params["id"]
    found = await async_asker_of(request).run(lambda asker: asker.deletion(deletion_id, filter_))
    if found is None:
        raise ApiError("not_found", f"No deletion has the id {deletion_id[:80]!r}. See GET /api/deletions.", "id")
    return _json(found)


def _parse_count(text: str | None) -> int:
    expected = "expected the number of requests that match. GET /api/count?exact=true returns it."
    if text is None:
        raise ApiError("bad_parameter", f"confirm is missing: {expected}", "confirm")
    if not _COUNT.fullmatch(text):
        raise ApiError("bad_parameter", f"confirm is {text[:80]!r}: {expected}", "confirm")
    return int(text)


def _accepted(body: RequestedDeletion) -> Response:
    return Response(msgspec.json.encode(body), 202, media_type="application/json")


def _json(body: DeletionReceipt | DeletionList) -> Response:
    return Response(msgspec.json.encode(body), media_type="application/json")
