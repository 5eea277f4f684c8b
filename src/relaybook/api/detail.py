"""Return everything known about one request: its row, headers, messages, response and timeline."""

import re
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.routes import Routes
from relaybook.log.ask.detail import RequestDetail
from relaybook.log.query.filters import BadFilter

routes = Routes("log")

_INDEX: Final = re.compile(r"[0-9]{1,9}")
_FIRST_MESSAGE: Final = openapi.parameter(
    "first_message", "Index of the first message to return. Earlier messages are left out."
)


@routes.get("/api/requests/{id:request_id}", openapi.describe(RequestDetail, [openapi.ANY_ID, _FIRST_MESSAGE]))
async def get_request(request: Request) -> Response:
    """Return one request with headers, messages and response.

    If several finished requests have the id, the newest is returned, and up to 20 others are in `also`.

    The data of a running request is updated once a second. Headers, messages and response of a running request are
    `null` in these cases:

    - Its bodies are not logged.
    - The bodies of request and response together exceed 512 KiB.
    - 32 newer running requests have these fields, which is the maximum.
    """
    text = arguments.only(arguments.pairs_of(request), "first_message").get("first_message", "0")
    if not _INDEX.fullmatch(text):
        raise BadFilter("first_message", f"first_message is {text[:80]!r}: expected an integer from 0.")
    return await detail_response(request, request.path_params["id"], int(text))


async def detail_response(request: Request, any_id: str, first_message: int = 0) -> Response:
    """Return the response with everything known about the request that has the id. Raises RequestNotFound."""
    body = await async_asker_of(request).run(lambda asker: msgspec.json.encode(asker.detail(any_id, first_message)))
    return Response(body, media_type="application/json")
