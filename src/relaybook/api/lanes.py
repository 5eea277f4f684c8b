"""Return the lanes of a thread: when its models ran, and when its tools ran."""

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.routes import Routes
from relaybook.api.thread import THREAD_PARAMETERS, thread_of
from relaybook.log.ask.lanes import Lanes

routes = Routes("log")

_CONVERSATION: Final = "conversation"
_PARAMETERS: Final = [
    *THREAD_PARAMETERS,
    openapi.parameter(
        _CONVERSATION, "Instead of `namespace`: any id of a request, to get only the conversation of this request."
    ),
]


@routes.get("/api/lanes", openapi.describe(Lanes, _PARAMETERS))
async def get_lanes(request: Request) -> Response:
    """Return when the models and the tools of a thread ran, without any instrumentation of the client.

    The response has the latest 2,000 finished requests of the thread, and the tool calls in their responses. Each
    conversation has a lane for its requests and one for each of its tools. Conversations of subagents have lanes of
    their own.

    A tool call runs from the end of the response that asks for it to the start of the first request that brings its
    result. So the time of a call includes the time of the client between response and request. Calls of one response
    end together, when the slowest of them has ended. Tools that the provider runs, such as its web search, are part of
    the model's time.

    A result looks like an error if the client or the tool says so: with `is_error` (Anthropic), the status `failed`
    (Responses API), a JSON object with `error`, `"success": false` or an exit code other than 0, or a text that begins
    like an error, an exception, a traceback or an exit code other than 0.
    """
    taken, rest = arguments.take(arguments.pairs_of(request), _CONVERSATION)
    selected = taken.get(_CONVERSATION) or thread_of(arguments.filter_of(rest, _CONVERSATION))
    result = await async_asker_of(request).run(lambda asker: asker.lanes(selected))
    return Response(msgspec.json.encode(result), media_type="application/json")
