"""List the values that a field has in the log, for menus and completion."""

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, document
from relaybook.api.reading import async_reader_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import FieldValue, FieldValues
from relaybook.log.query.filters import BadFilter

routes = Routes("log")

VALUE_FIELDS: Final = ("namespace", "model", "user", "key", "finish_reason", "property")
_PARAMETERS = [
    document.parameter(
        "field", f"One of {', '.join(f'`{name}`' for name in VALUE_FIELDS)}, or `property.<name>`.", place="path"
    ),
    document.parameter("prefix", "Prefix of the value."),
    document.limit(50),
]


@routes.get("/api/values/{field:path}", document.describe(FieldValues, _PARAMETERS))
async def list_values(request: Request) -> Response:
    """Return the values of a field with counts, most frequent first. `property` returns the names of properties."""
    params = arguments.only(arguments.pairs_of(request), "prefix", "limit")
    limit, prefix = arguments.limit_of(params), params.get("prefix", "")
    field = _checked_field(request.path_params["field"])
    async_reader = async_reader_of(request)
    deadline_ns = async_reader.deadline_ns()
    rows = await async_reader.run(lambda reader: reader.values(field, prefix, limit, deadline_ns))
    values = FieldValues(data=[FieldValue(value=row.value, requests=row.requests) for row in rows])
    return Response(msgspec.json.encode(values), media_type="application/json")


def _checked_field(field: str) -> str:
    if field in VALUE_FIELDS:
        return field
    if field.startswith("property.") and len(field) > len("property.") and "\0" not in field:
        return field.lower().replace("_", "-")
    known = ", ".join(VALUE_FIELDS)
    raise BadFilter(
        "field", f"{field[:80]!r} is not a field with a list of values. Expected one of {known}, property.<name>."
    )
