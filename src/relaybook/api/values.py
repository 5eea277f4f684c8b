"""List the values that a field has in the log, for menus and completion."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.reading import async_reader_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import FieldValue, FieldValues
from relaybook.log.query.term_values import LISTED_FIELDS, listed_field
from relaybook.log.store.port import Reader

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
    async_reader = async_reader_of(request)
    deadline_ns = async_reader.deadline_ns()
    values = await async_reader.run(lambda reader: values_of(reader, field, prefix, limit, deadline_ns))
    return Response(msgspec.json.encode(values), media_type="application/json")


def values_of(reader: Reader, field: str, prefix: str, limit: int, deadline_ns: int) -> FieldValues:
    """Return the values of a field, most frequent first. Raises BadFilter if the field has no list of values."""
    rows = reader.values(listed_field(field), prefix, limit, deadline_ns)
    return FieldValues(data=[FieldValue(value=row.value, requests=row.requests) for row in rows])
