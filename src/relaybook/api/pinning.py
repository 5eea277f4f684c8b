"""Change labels: pin and unpin namespaces, and set color, group and position. Changes apply to all users."""

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.errors import ApiError
from relaybook.api.json_body import parse_body
from relaybook.api.routes import Routes
from relaybook.log.ask.namespaces import Namespace
from relaybook.log.namespaces import COLORS, LAST_POSITION, LabelChange

routes = Routes("log")

#: Error messages use these descriptions of the valid values of each field.
_EXPECTED: Final = {
    "namespace": "a string of 1 to 256 characters without NUL",
    "pinned": "true or false",
    "color": f"an integer from 1 to {COLORS}",
    "group": "a string of 1 to 40 characters, or null",
    "position": f"an integer from 0 to {LAST_POSITION}",
}


@routes.patch("/api/namespaces", openapi.describe(Namespace, body=LabelChange))
async def change_label(request: Request) -> Response:
    """Pin or unpin a namespace, or change the color, group or position of a pinned namespace."""
    arguments.only(arguments.pairs_of(request))
    change = _parse_change(await request.body())
    namespace = await async_asker_of(request).run(lambda asker: asker.change_label(change))
    return Response(msgspec.json.encode(namespace), media_type="application/json")


def _parse_change(body: bytes) -> LabelChange:
    """Parse the body. Raises ApiError ``bad_body`` that names the offending field."""
    change = parse_body(body, LabelChange, _EXPECTED, '{"namespace": "ios", "pinned": true}', required="namespace")
    if change == LabelChange(namespace=change.namespace):
        raise ApiError(
            "bad_body", "The body contains no change. Set at least one of pinned, color, group and position."
        )
    return change
