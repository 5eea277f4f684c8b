"""Change labels: pin and unpin namespaces, and set color, group and position. Changes apply to all users."""

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.errors import ApiError
from relaybook.api.json_body import parse_body
from relaybook.api.namespaces import namespace_of
from relaybook.api.reading import async_reader_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import Namespace
from relaybook.log.namespaces import COLORS, LAST_POSITION, LabelChange, Labels, NotPinned
from relaybook.log.store.errors import StoreUnavailable

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
    labels: Labels | None = request.app.state.labels
    if labels is None:
        raise ApiError(
            "store_unavailable", "Namespaces cannot be pinned, because this program opens the log for reading only."
        )
    try:
        row = await async_reader_of(request).run(lambda _: labels.change(change))
    except NotPinned as error:
        raise ApiError("bad_body", str(error), "pinned") from None
    except StoreUnavailable as error:
        raise ApiError("store_unavailable", f"Nothing was changed: {error} Try again.") from error
    return Response(msgspec.json.encode(namespace_of(row)), media_type="application/json")


def _parse_change(body: bytes) -> LabelChange:
    """Parse the body. Raises ApiError ``bad_body`` that names the offending field."""
    change = parse_body(body, LabelChange, _EXPECTED, '{"namespace": "ios", "pinned": true}', required="namespace")
    if change == LabelChange(namespace=change.namespace):
        raise ApiError(
            "bad_body", "The body contains no change. Set at least one of pinned, color, group and position."
        )
    return change
