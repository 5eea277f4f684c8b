"""Return how much of the prompts was read from the provider's cache, and where it ended."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi, thread
from relaybook.api.asking import async_asker_of
from relaybook.api.routes import Routes
from relaybook.log.ask.cache import ThreadCache
from relaybook.log.prompt_cache import CacheReport

routes = Routes("log")


@routes.get("/api/requests/{id:path}/cache", openapi.describe(CacheReport, [openapi.ANY_ID]))
async def get_request_cache(request: Request) -> Response:
    """Compare the prompt of a request with that of the request before.

    The comparison follows the order in which providers cache a prompt: model, tools, system prompt, messages. A
    provider reads a prompt from its cache only up to the first difference. Equal JSON is equal, whatever its white
    space.
    """
    arguments.only(arguments.pairs_of(request))
    any_id = request.path_params["id"]
    body = await async_asker_of(request).run(lambda asker: msgspec.json.encode(asker.cache(any_id)))
    return Response(body, media_type="application/json")


@routes.get("/api/thread/cache", openapi.describe(ThreadCache, thread.PARAMETERS))
async def get_thread_cache(request: Request) -> Response:
    """Compare the prompts of the requests of a thread, each with the one before in its conversation.

    The parameters select the same page as those of `GET /api/thread`. A request that starts a conversation is not
    compared.
    """
    page = thread.arguments_of(request)
    body = await async_asker_of(request).run(lambda asker: msgspec.json.encode(asker.thread_cache(*page)))
    return Response(body, media_type="application/json")
