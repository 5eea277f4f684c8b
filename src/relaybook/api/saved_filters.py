"""List, save and delete named filters, which all users share."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook import clock
from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.errors import ApiError
from relaybook.api.routes import Routes
from relaybook.api.schemas import FilterToSave
from relaybook.log.ask.saved_filters import SavedFilterList, SavedFilterRow
from relaybook.log.query.filters import BadFilter
from relaybook.log.saved_filters import MAX_NAME, Params, SavedFilter, checked_name, checked_params

routes = Routes("log")

_NAME = openapi.parameter(
    "name",
    f"Name of the saved filter, 1 to {MAX_NAME} characters.",
    {"type": "string", "minLength": 1, "maxLength": MAX_NAME},
    place="path",
)
_EXAMPLE = '{"params": [["namespace", "staging"], ["from", "-1h"]]}'


@routes.get("/api/saved-filters", openapi.describe(SavedFilterList))
async def list_saved_filters(request: Request) -> Response:
    """Return all saved filters, sorted by name."""
    arguments.only(arguments.pairs_of(request))
    return _response(await async_asker_of(request).run(lambda asker: asker.saved_filters()))


@routes.put("/api/saved-filters/{name:path}", openapi.describe(SavedFilterRow, [_NAME], body=FilterToSave))
async def save_filter(request: Request) -> Response:
    """Save a filter under a name. A filter that already has this name is replaced."""
    arguments.only(arguments.pairs_of(request))
    name, now_us = checked_name(request.path_params["name"]), clock.wall_us()
    saved = SavedFilter(name, _parse_params(await request.body(), now_us), now_us)
    return _response(await async_asker_of(request).run(lambda asker: asker.save_filter(saved)))


@routes.delete("/api/saved-filters/{name:path}", openapi.describe(SavedFilterRow, [_NAME]))
async def delete_saved_filter(request: Request) -> Response:
    """Delete a saved filter and return it."""
    arguments.only(arguments.pairs_of(request))
    name = checked_name(request.path_params["name"])
    return _response(await async_asker_of(request).run(lambda asker: asker.delete_filter(name)))


def _parse_params(body: bytes, now_us: int) -> Params:
    """Parse the body. Raises ApiError ``bad_body`` that names the offending parameter of the filter."""
    try:
        to_save = msgspec.json.decode(body, type=FilterToSave)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ApiError("bad_body", f"Send a JSON object such as {_EXAMPLE}: {error}.", "params") from None
    try:
        return checked_params(to_save.params, now_us)
    except BadFilter as error:
        raise ApiError("bad_body", str(error), error.parameter[:80]) from None


def _response(answer: SavedFilterRow | SavedFilterList) -> Response:
    return Response(msgspec.json.encode(answer), media_type="application/json")
