"""Return everything known about one request: its row, headers, messages, response and timeline."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.routes import Routes
from relaybook.log.ask.detail import RequestDetail

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
    body = await async_asker_of(request).run(lambda asker: msgspec.json.encode(asker.detail(any_id)))
    return Response(body, media_type="application/json")
