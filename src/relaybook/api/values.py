"""List the values that a field has in the log, for menus and completion."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.routes import Routes
from relaybook.log.ask.values import FieldValues
from relaybook.log.query.term_values import LISTED_FIELDS

routes = Routes("log")

_PARAMETERS = [
    openapi.parameter(
        "field", f"One of {', '.join(f'`{name}`' for name in LISTED_FIELDS)}, or `property.<name>`.", place="path"
    ),
    openapi.parameter("prefix", "Prefix of the value."),
    openapi.limit(50),
]


@routes.get("/api/values/{field:path}", openapi.describe(FieldValues, _PARAMETERS))
async def list_values(request: Request) -> Response:
    """Return the values of a field and the number of requests with each value.

    The most frequent value is first. For `property`, the values are the names of properties.
    """
    params = arguments.only(arguments.pairs_of(request), "prefix", "limit")
    limit, prefix = arguments.limit_of(params), params.get("prefix", "")
    field = request.path_params["field"]
    values = await async_asker_of(request).run(lambda asker: asker.values(field, prefix, limit))
    return Response(msgspec.json.encode(values), media_type="application/json")
