"""Compare two requests, and find the last successful request to compare a request with."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.detail import detail_response
from relaybook.api.routes import Routes
from relaybook.log.ask.compare import Comparison
from relaybook.log.ask.detail import RequestNotFound
from relaybook.log.ask.last_good import LastGood
from relaybook.log.query.filters import BadFilter

routes = Routes("log")

_PARAMETERS = [
    openapi.parameter("a", "Any id of the first request, for example of the last successful request.")
    | {"required": True},
    openapi.parameter("b", "Any id of the second request, for example of a failed request.") | {"required": True},
]


@routes.get("/api/compare", openapi.describe(Comparison, _PARAMETERS))
async def compare_requests(request: Request) -> Response:
    """Return two requests, and only what differs between them.

    The bodies are compared in the structure that is the same for all APIs. Texts are compared word by word, and equal
    text is shortened. Ids and times of day are not compared. The work is limited: if two texts are very long, or too
    different to be compared word by word, `too_different` is `true`.
    """
    values = arguments.only(arguments.pairs_of(request), "a", "b")
    for name in ("a", "b"):
        if not values.get(name):
            raise BadFilter(name, f"{name} is missing: expected the id of a request.")
    result = await async_asker_of(request).run(lambda asker: msgspec.json.encode(asker.compare(**values)))
    return Response(result, media_type="application/json")


@routes.get("/api/requests/{id:path}/last-good", openapi.describe(LastGood, [openapi.ANY_ID]))
async def get_last_good(request: Request) -> Response:
    """Return the last successful request that is like this request.

    A request is successful if it has not failed, its response is complete and was not cut off by a limit or a filter,
    and it has no negative score. Two requests are alike if they have the same namespace and path, and the same prompt:
    equal messages, an earlier turn of the same conversation, or the same beginning of the prompt. A request before this
    request is preferred to a request after it, except if only the later request has equal messages.

    If no successful request is alike, the nearest one is returned: with the same namespace, path and model, or else
    with the same namespace.
    """
    arguments.only(arguments.pairs_of(request))
    any_id = request.path_params["id"]
    try:
        found = await async_asker_of(request).run(lambda asker: asker.last_good(any_id))
    except RequestNotFound:
        return await detail_response(request, f"{any_id}/last-good")
    return Response(msgspec.json.encode(found), media_type="application/json")
