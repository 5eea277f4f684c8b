"""Count the requests that match a filter."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.routes import Routes
from relaybook.log.ask.count import RequestCount

routes = Routes("log")


@routes.get("/api/count", openapi.describe(RequestCount, openapi.filter_parameters()))
async def count_requests(request: Request) -> Response:
    """Return the number of finished requests that match the filter, and how many of them failed.

    The newest requests are counted first. If counting takes longer than 300 ms, it is stopped, and `complete` in the
    response is `false`.
    """
    filter_ = arguments.filter_of(arguments.pairs_of(request))
    count = await async_asker_of(request).run(lambda asker: asker.count(filter_))
    return Response(msgspec.json.encode(count), media_type="application/json")
