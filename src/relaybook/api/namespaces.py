"""List namespaces with their counters, and change their labels: pin, color, group and position."""

from typing import Final, cast, get_args

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.errors import ApiError
from relaybook.api.json_body import parse_body
from relaybook.api.routes import Routes
from relaybook.log.ask.namespaces import Namespace, NamespacePage
from relaybook.log.namespaces import COLORS, LAST_POSITION, LabelChange, NamespaceQuery, NamespaceSort
from relaybook.log.query.filters import BadFilter, Filter

routes = Routes("log")

_SORTS = get_args(NamespaceSort)
_TIME_RANGE: Final = ("from", "to")
_PARAMETERS = [
    openapi.parameter("prefix", "The beginning of the name."),
    openapi.parameter("contains", "A part of the name. The case of ASCII letters is ignored."),
    openapi.parameter(
        "pinned", "`true`: only pinned namespaces. `false`: only namespaces that are not pinned.", {"type": "boolean"}
    ),
    openapi.parameter(
        "sort",
        "Sort by this field, descending. An unknown value comes last.",
        {"enum": list(_SORTS), "default": "last_at"},
    ),
    openapi.limit(50),
    openapi.parameter("cursor", "The `next_cursor` of an earlier response."),
    openapi.parameter("from", "Count requests that started at or after this time. Requires `pinned=true`."),
    openapi.parameter("to", "Count requests that started before this time. Requires `pinned=true`."),
]
#: Error messages use these descriptions of the valid values of each field.
_LABEL_FIELDS: Final = {
    "namespace": "a string of 1 to 256 characters without NUL",
    "pinned": "true or false",
    "color": f"an integer from 1 to {COLORS}",
    "group": "a string of 1 to 40 characters, or null",
    "position": f"an integer from 0 to {LAST_POSITION}",
}


@routes.get("/api/namespaces", openapi.describe(NamespacePage, _PARAMETERS))
async def list_namespaces(request: Request) -> Response:
    """Return namespaces with their counters, such as the number of requests.

    A namespace without requests is listed only while it is pinned. With `pinned=true` and a time range, `requests`,
    `failed` and `last_at` cover only the requests in the time range. If counting these requests takes longer than
    300 ms, it is stopped, and `complete` in the response is `false`. The time range does not change the order of the
    namespaces.
    """
    params = arguments.only(
        arguments.pairs_of(request), "prefix", "contains", "pinned", "sort", "limit", "cursor", *_TIME_RANGE
    )
    pinned = (
        {"true": True, "false": False}[_one_of(params, "pinned", ("true", "false"))] if "pinned" in params else None
    )
    sort = cast(NamespaceSort, _one_of(params, "sort", _SORTS) if "sort" in params else "last_at")
    query = NamespaceQuery(text=params.get("contains", ""), prefix=params.get("prefix", ""), pinned=pinned, sort=sort)
    limit, time_range = arguments.limit_of(params), _parse_time_range(params, pinned)
    page = await async_asker_of(request).run(
        lambda asker: asker.namespaces(query, limit, params.get("cursor"), time_range)
    )
    return Response(msgspec.json.encode(page), media_type="application/json")


@routes.patch("/api/namespaces", openapi.describe(Namespace, body=LabelChange))
async def change_label(request: Request) -> Response:
    """Pin or unpin a namespace, or change the color, group or position of a pinned namespace."""
    arguments.only(arguments.pairs_of(request))
    change = _parse_change(await request.body())
    namespace = await async_asker_of(request).run(lambda asker: asker.change_label(change))
    return Response(msgspec.json.encode(namespace), media_type="application/json")


def _parse_time_range(params: dict[str, str], pinned: bool | None) -> Filter:
    names = [name for name in _TIME_RANGE if name in params]
    if names and not pinned:
        raise BadFilter(
            names[0],
            f"{names[0]} requires pinned=true, because requests in a time range are counted only for pinned "
            "namespaces.",
        )
    return arguments.filter_of((name, params[name]) for name in names)


def _one_of(params: dict[str, str], name: str, choices: tuple[str, ...]) -> str:
    if params[name] not in choices:
        raise BadFilter(name, f"{name} is {params[name][:80]!r}: expected one of {', '.join(choices)}.")
    return params[name]


def _parse_change(body: bytes) -> LabelChange:
    """Parse the body. Raises ApiError ``bad_body`` that names the offending field."""
    change = parse_body(body, LabelChange, _LABEL_FIELDS, '{"namespace": "ios", "pinned": true}', required="namespace")
    if change == LabelChange(namespace=change.namespace):
        raise ApiError(
            "bad_body", "The body contains no change. Set at least one of pinned, color, group and position."
        )
    return change
