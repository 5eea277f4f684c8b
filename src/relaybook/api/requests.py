"""List the requests that match a filter, page by page, together with running requests."""

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.routes import Routes
from relaybook.log.ask.asker import Asker
from relaybook.log.ask.requests import RequestPage
from relaybook.log.query.filters import SORT_FIELDS, BadFilter, Sort, parse_sort

routes = Routes("log")

_PAGING: Final = ("limit", "cursor", "around", "sort", "order")
_TOP: Final = 200
_PARAMETERS = [
    openapi.parameter(
        "sort",
        "Return the requests with the highest values of this field instead of the latest requests. The highest value "
        "comes first. With `order=asc`, return the requests with the lowest values, and the lowest value comes first. "
        "Among equal values, the newest request comes first. Running requests and requests without a "
        f"value are omitted. The response has no cursors, and `limit` is {_TOP} by default. `sort` cannot be combined "
        "with `cursor` or `around`.",
        {"type": "string", "enum": list(SORT_FIELDS)},
    ),
    openapi.parameter("order", "`asc`: lowest values first. Requires `sort`.", {"enum": ["desc", "asc"]}),
    openapi.limit(50),
    openapi.parameter("cursor", "The `next_cursor` or `newer_cursor` of an earlier response."),
    openapi.parameter("around", "A Relaybook id. The page is centered on the request with this id."),
]


@routes.get("/api/requests", openapi.describe(RequestPage, [*openapi.filter_parameters(), *_PARAMETERS]))
async def list_requests(request: Request) -> Response:
    """Return a page of the log, newest first.

    If `sort` names a field, the page contains the requests with the highest or lowest values of this field instead.
    Without `sort`, the first page also contains running requests.

    A request must match all parameters. To send several values of a parameter (at most 100), repeat the parameter. A
    request must then match at least one of the values, or all values if the description of the parameter says so.

    Full-text search finds a request shortly after the request is recorded. `indexed_to` in `GET /api/status` is the
    `seq` of the newest record that full-text search can find.
    """
    paging, rest = arguments.take(arguments.pairs_of(request), *_PAGING)
    sort = _sort_of(paging)
    limit, filter_ = arguments.limit_of(paging, _TOP if sort else 50), arguments.filter_of(rest, *_PAGING)
    cursor, around = arguments.position_of(paging)

    def question(asker: Asker) -> RequestPage:
        if sort is not None:
            return asker.top(filter_, sort, limit)
        if around is not None:
            return asker.around(around, filter_, limit)
        return asker.page(filter_, limit, cursor)

    return Response(msgspec.json.encode(await async_asker_of(request).run(question)), media_type="application/json")


def _sort_of(paging: dict[str, str]) -> Sort | None:
    if "sort" not in paging:
        if "order" in paging:
            raise BadFilter("order", "order requires sort. Add sort, or remove order.")
        return None
    position = next((name for name in ("cursor", "around") if name in paging), None)
    if position is not None:
        raise BadFilter(
            "sort",
            f"sort cannot be combined with {position}, because sort returns a single page. Remove one of the two "
            "parameters.",
        )
    return parse_sort(paging["sort"], paging.get("order", "desc"))
