"""Accept and list deletions. The recorder carries them out."""

import re
import sys
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook import clock
from relaybook.api import arguments, openapi
from relaybook.api.errors import ApiError
from relaybook.api.options import options_of
from relaybook.api.reading import async_reader_of
from relaybook.api.routes import Routes
from relaybook.api.status_schemas import DeletionList, DeletionRow, RequestedDeletion
from relaybook.clock import format_timestamp
from relaybook.log.deletions import Deletion, Deletions
from relaybook.log.query.filters import Filter, Term
from relaybook.log.query.parameters import parameters_of_filter
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.port import Reader
from relaybook.settings.client_address import client_address

routes = Routes("deletions")

#: Time limit for counting the matching requests. The limit is longer than the limit in ``count``, because a deletion
#: needs the exact count.
COUNT_SECONDS: Final = 10
_LATEST: Final = 100
_COUNT: Final = re.compile(r"\d{1,15}", re.ASCII)
_CONFIRM = openapi.parameter(
    "confirm",
    "The number of finished requests that match the filter. If the number is wrong, nothing is deleted, and "
    "`requests` in the error is the correct number.",
    {"type": "integer", "minimum": 0},
)
_REQUEST_ID = openapi.parameter("id", "Relaybook's id of the request.", place="path")
_DELETION_ID = openapi.parameter("id", "The id of the deletion.", place="path")


@routes.delete(
    "/api/requests", openapi.describe(RequestedDeletion, [*openapi.filter_parameters(), _CONFIRM], status=202)
)
async def delete_requests(request: Request) -> Response:
    """Delete all finished requests that match the filter. A deletion cannot be undone.

    At least one filter parameter is required. `from=1970-01-01T00:00:00Z` matches all requests. `confirm` must be the
    number of finished requests that match. If new requests are being logged, set `to` (the end of the time range), so
    that this number does not change. If the filter contains words, the deletion includes matching requests that are not
    in the full-text index yet.

    Running requests are not deleted. `running` in the response is the number of running requests that match.

    The deletion is carried out in the background and continues after a restart. See `GET /api/deletions/{id}`.
    """
    values, rest = arguments.take(arguments.pairs_of(request), "confirm")
    confirm = _parse_count(values.get("confirm"))
    filter_ = arguments.filter_of(rest, "confirm")
    if not filter_.terms:
        message = "A filter is required, so that nothing is deleted by mistake. To delete all requests, send"
        raise ApiError("bad_parameter", f"{message} from=1970-01-01T00:00:00Z.")
    deletions = _deletions_of(request)
    by = _address_of(request)
    deadline_ns = clock.monotonic_ns() + COUNT_SECONDS * clock.NANOSECONDS

    def query(reader: Reader) -> RequestedDeletion:
        running = len(reader.running(filter_))
        count = reader.count(filter_, deadline_ns)
        if not count.complete:
            raise ApiError(
                "deadline",
                f"The requests could not be counted within {COUNT_SECONDS} seconds, so nothing was deleted. Delete the "
                "requests in parts, each with a shorter time range (from=, to=), or use filters other than words= "
                "and contains=.",
            )
        if count.requests != confirm:
            message = f"{count.requests} requests match. Send confirm={count.requests} to delete them."
            if confirm is not None:
                message = f"confirm is {confirm}, but {message}"
            raise ApiError("wrong_count", message, "confirm", requests=count.requests)
        return _requested(deletions, filter_, count.requests, by, running)

    return _accepted(await async_reader_of(request).run(query))


@routes.delete("/api/requests/{id:request_id}", openapi.describe(RequestedDeletion, [_REQUEST_ID], status=202))
async def delete_request(request: Request) -> Response:
    """Delete one finished request. A deletion cannot be undone.

    The deletion is carried out in the background. See `GET /api/deletions/{id}`.
    """
    arguments.only(arguments.pairs_of(request))
    record_id: str = request.path_params["id"].lower()
    deletions = _deletions_of(request)
    by = _address_of(request)

    async_reader = async_reader_of(request)
    deadline_ns = async_reader.deadline_ns()

    def query(reader: Reader) -> RequestedDeletion:
        # Only count the request. Its content may be damaged, so reading it could fail.
        filter_ = Filter((Term("id", (record_id,)),))
        count = reader.count(filter_, deadline_ns)
        if count.requests:
            return _requested(deletions, filter_, 1, by, 0)
        if not count.complete:
            raise ApiError("deadline", "The request could not be found in time, so nothing was deleted. Try again.")
        if reader.open_request(record_id) is not None:
            raise ApiError(
                "request_running", "The request is still running. Delete the request when it has ended.", "id"
            )
        raise ApiError(
            "not_found",
            f"No request in this log has the Relaybook id {record_id[:80]!r}. GET /api/requests/{{id}} finds a request "
            "by any of its ids.",
            "id",
        )

    return _accepted(await async_reader.run(query))


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
    found = await async_reader_of(request).run(lambda reader: reader.deletions(_LATEST))
    return _json(DeletionList(data=[row_of(each) for each in found]))


@routes.get("/api/deletions/{id}", openapi.describe(DeletionRow, [_DELETION_ID]))
async def get_deletion(request: Request) -> Response:
    """Return one deletion."""
    arguments.only(arguments.pairs_of(request))
    deletion_id: str = request.path_params["id"]
    found = await async_reader_of(request).run(lambda reader: find_deletion(reader, deletion_id))
    if found is None:
        raise ApiError("not_found", f"No deletion has the id {deletion_id[:80]!r}. See GET /api/deletions.", "id")
    return _json(row_of(found))


def find_deletion(reader: Reader, deletion_id: str) -> Deletion | None:
    """Return the deletion with this id, or `None` if it does not exist. The latest deletions are searched first."""
    for limit in (_LATEST, sys.maxsize):
        deletions = reader.deletions(limit)
        if found := next((each for each in deletions if each.id == deletion_id), None):
            return found
        if len(deletions) < limit:
            break
    return None


def _parse_count(text: str | None) -> int | None:
    if text is None:
        return None
    if not _COUNT.fullmatch(text):
        message = f"confirm is {text[:80]!r}: expected the number of requests that match."
        raise ApiError("bad_parameter", message, "confirm")
    return int(text)


def _deletions_of(request: Request) -> Deletions:
    deletions: Deletions | None = request.app.state.deletions
    if deletions is None:
        raise ApiError(
            "store_unavailable", "Nothing can be deleted, because this program opens the log for reading only."
        )
    return deletions


def _address_of(request: Request) -> str:
    """Return the address of the client, from X-Forwarded-For if a trusted proxy sent the request."""
    remote_address = request.client.host if request.client else ""
    forwarded_for = ",".join(request.headers.getlist("x-forwarded-for"))
    return client_address(remote_address, forwarded_for, options_of(request).trusted_proxies)


def _requested(deletions: Deletions, filter_: Filter, requests: int, by: str, running: int) -> RequestedDeletion:
    try:
        deletion = deletions.request(filter_, requests, by)
    except StoreUnavailable as error:
        raise ApiError("store_unavailable", f"Nothing was deleted: {error} Try again.") from error
    return RequestedDeletion(running=running, **msgspec.structs.asdict(row_of(deletion)))


def row_of(deletion: Deletion) -> DeletionRow:
    """Convert a deletion to the model that API responses contain."""
    return DeletionRow(
        id=deletion.id,
        state=deletion.state,
        filter=parameters_of_filter(deletion.filter_),
        requests=deletion.requests,
        removed=deletion.removed,
        requested_at=format_timestamp(deletion.requested_at),
        requested_by=deletion.requested_by,
        done_at=None if deletion.done_at is None else format_timestamp(deletion.done_at),
    )


def _accepted(body: RequestedDeletion) -> Response:
    return Response(msgspec.json.encode(body), 202, media_type="application/json")


def _json(body: DeletionRow | DeletionList) -> Response:
    return Response(msgspec.json.encode(body), media_type="application/json")
