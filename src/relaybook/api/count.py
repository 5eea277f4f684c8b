"""Count the requests that match a filter."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.routes import Routes
from relaybook.log.ask.count import RequestCount
from relaybook.log.query.parameters import parse_flag

routes = Routes("log")


_EXACT = openapi.parameter(
    "exact", "`true`: stop counting after 10 seconds instead of 300 ms.", {"type": "boolean", "default": False}
)


@routes.get("/api/count", openapi.describe(RequestCount, [*openapi.filter_parameters(), _EXACT]))
async def count_requests(request: Request) -> Response:
    """Return the number of finished requests that match the filter, and how many of them failed.

    The newest requests are counted first. If counting takes longer than 300 ms, it is stopped, and `complete` in the
    response is `false`. A deletion needs the exact number: send `exact=true`.
    """
    values, rest = arguments.take(arguments.pairs_of(request), "exact")
    filter_, exact = arguments.filter_of(rest, "exact"), parse_flag("exact", values.get("exact"), default=False)
    count = await async_asker_of(request).run(
        lambda asker: asker.count_exactly(filter_) if exact else asker.count(filter_)
    )
    return Response(msgspec.json.encode(count), media_type="application/json")
