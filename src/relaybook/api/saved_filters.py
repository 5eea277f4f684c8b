"""List, save and delete named filters, which all users share."""

from collections.abc import Callable
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook import clock
from relaybook.api import arguments, openapi, schemas
from relaybook.api.errors import ApiError
from relaybook.api.reading import async_reader_of
from relaybook.api.routes import Routes
from relaybook.clock import format_timestamp
from relaybook.log.query.filters import BadFilter
from relaybook.log.saved_filters import (
    MAX_NAME,
    MAX_SAVED_FILTERS,
    Params,
    SavedFilter,
    SavedFilters,
    TooManySavedFilters,
    checked_name,
    checked_params,
)
from relaybook.log.store.errors import StoreUnavailable

routes = Routes("log")

_NAME = openapi.parameter(
    "name",
    f"Name of the saved filter, 1 to {MAX_NAME} characters.",
    {"type": "string", "minLength": 1, "maxLength": MAX_NAME},
    place="path",
)
_EXAMPLE = '{"params": [["namespace", "staging"], ["from", "-1h"]]}'


@routes.get("/api/saved-filters", openapi.describe(schemas.SavedFilterList))
async def list_saved_filters(request: Request) -> Response:
    """Return all saved filters, sorted by name."""
    arguments.only(arguments.pairs_of(request))
    saved = await async_reader_of(request).run(lambda reader: reader.saved_filters())
    return _response(schemas.SavedFilterList(data=[_model(one) for one in saved]))


@routes.put("/api/saved-filters/{name:path}", openapi.describe(schemas.SavedFilter, [_NAME], body=schemas.FilterToSave))
async def save_filter(request: Request) -> Response:
    """Save a filter under a name. A filter that already has this name is replaced."""
    arguments.only(arguments.pairs_of(request))
    name, now_us = checked_name(request.path_params["name"]), clock.wall_us()
    saved = SavedFilter(name, _parse_params(await request.body(), now_us), now_us)
    try:
        return _response(_model(await _change(request, lambda filters: filters.save_filter(saved))))
    except TooManySavedFilters:
        message = f"There are already {MAX_SAVED_FILTERS} saved filters. Delete a saved filter first."
        raise ApiError("too_many_saved_filters", message, "name") from None


@routes.delete("/api/saved-filters/{name:path}", openapi.describe(schemas.SavedFilter, [_NAME]))
async def delete_saved_filter(request: Request) -> Response:
    """Delete a saved filter and return it."""
    arguments.only(arguments.pairs_of(request))
    name = checked_name(request.path_params["name"])
    deleted: SavedFilter | None = await _change(request, lambda filters: filters.delete_filter(name))
    if deleted is None:
        raise ApiError("not_found", f"No saved filter has the name {name!r}.", "name")
    return _response(_model(deleted))


async def _change(request: Request, change: Callable[[SavedFilters], Any]) -> Any:
    filters: SavedFilters | None = request.app.state.saved_filters
    if filters is None:
        raise ApiError(
            "store_unavailable", "Saved filters cannot be changed, because this program opens the log for reading only."
        )
    try:
        return await async_reader_of(request).run(lambda _: change(filters))
    except StoreUnavailable as error:
        raise ApiError("store_unavailable", f"Nothing was changed: {error} Try again.") from error


def _parse_params(body: bytes, now_us: int) -> Params:
    """Parse the body. Raises ApiError ``bad_body`` that names the offending parameter of the filter."""
    try:
        to_save = msgspec.json.decode(body, type=schemas.FilterToSave)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ApiError("bad_body", f"Send a JSON object such as {_EXAMPLE}: {error}.", "params") from None
    try:
        return checked_params(to_save.params, now_us)
    except BadFilter as error:
        raise ApiError("bad_body", str(error), error.parameter[:80]) from None


def _model(saved: SavedFilter) -> schemas.SavedFilter:
    return schemas.SavedFilter(
        name=saved.name, params=list(saved.params), created_at=format_timestamp(saved.created_at)
    )


def _response(model: schemas.SavedFilter | schemas.SavedFilterList) -> Response:
    return Response(msgspec.json.encode(model), media_type="application/json")
