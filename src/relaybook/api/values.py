"""List the values that a field has in the log, for menus and completion."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.routes import Routes
from relaybook.log.ask.values import FieldValues, FoundValueList
from relaybook.log.query.filters import BadFilter
from relaybook.log.query.term_values import LISTED_FIELDS

routes = Routes("log")

_PARAMETERS = [
    openapi.parameter(
        "field", f"One of {', '.join(f'`{name}`' for name in LISTED_FIELDS)}, or `property.<name>`.", place="path"
    ),
    openapi.parameter("prefix", "Prefix of the value."),
    openapi.limit(50),
]
_FIND_PARAMETERS = [
    openapi.parameter("contains", "A part of the value. The case of ASCII letters is ignored."),
    openapi.limit(50),
]


@routes.get("/api/values", openapi.describe(FoundValueList, _FIND_PARAMETERS))
async def find_values(request: Request) -> Response:
    """Return values of all fields that contain a text, such as users, namespaces and models.

    Values that are equal to the text are first, then values that begin with it, then values that contain it. Among
    these, the most frequent value is first. The search stops after 300 ms.
    """
    params = arguments.only(arguments.pairs_of(request), "contains", "limit")
    text = params.get("contains", "")
    if not text or "\0" in text:
        raise BadFilter("contains", "contains is missing or invalid: expected a text of at least one character.")
    limit = arguments.limit_of(params)
    found = await async_asker_of(request).run(lambda asker: asker.find_values(text, limit))
    return Response(msgspec.json.encode(found), media_type="application/json")


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
