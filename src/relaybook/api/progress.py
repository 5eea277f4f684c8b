"""Return how the text of a response grew while its chunks arrived."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.detail import detail_response
from relaybook.api.routes import Routes
from relaybook.log.ask.detail import RequestNotFound
from relaybook.log.ask.progress import ResponseProgress

routes = Routes("log")


@routes.get("/api/requests/{id:path}/progress", openapi.describe(ResponseProgress, [openapi.ANY_ID]))
async def get_progress(request: Request) -> Response:
    """Return the text of a streamed response after each chunk.

    The times of the chunks are in `timeline` of the request.
    """
    arguments.only(arguments.pairs_of(request))
    any_id = request.path_params["id"]
    try:
        found = await async_asker_of(request).run(lambda asker: asker.progress(any_id))
    except RequestNotFound:
        return await detail_response(request, f"{any_id}/progress")
    return Response(msgspec.json.encode(found), media_type="application/json")
