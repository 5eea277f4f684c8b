"""Lists the values a field has in the log, for pickers."""

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, document
from relaybook.api.reading import reading_of
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


@routes.get("/api/values/{field:path}", document.reads(FieldValues, _PARAMETERS))
async def list_values(request: Request) -> Response:
    """Return the values of a field with counts, most frequent first. `property` returns the names of properties."""
    asked = arguments.only(arguments.pairs_of(request), "prefix", "limit")
    limit, prefix = arguments.limit_of(asked), asked.get("prefix", "")
    field = _checked_field(request.path_params["field"])
    reading = reading_of(request)
    deadline_ns = reading.deadline_ns()
    found = await reading.ask(lambda reader: reader.values(field, prefix, limit, deadline_ns))
    values = FieldValues(data=[FieldValue(value=one.value, requests=one.requests) for one in found])
    return Response(msgspec.json.encode(values), media_type="application/json")


def _checked_field(field: str) -> str:
    if field in VALUE_FIELDS:
        return field
    if field.startswith("property.") and len(field) > len("property.") and "\0" not in field:
        return field.lower().replace("_", "-")
    known = ", ".join(VALUE_FIELDS)
    raise BadFilter("field", f"{field[:80]!r} has no list of values: it takes one of {known}, property.<name>.")
