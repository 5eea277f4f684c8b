"""Builds the OpenAPI document: paths from the routes, parameters and models from where they are declared.

The page's TypeScript types and docs/reference/api.md are generated from it.
"""

import inspect
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from relaybook import filter_values, filters, query_language
from relaybook.api import answers
from relaybook.api.errors import CODES
from relaybook.api.routes import ApiRoute, Operation
from relaybook.filter_parameters import MAX_VALUES

_REFS: Final = "#/components/schemas/{name}"
_ABOUT: Final = """Reads the request log, and labels its namespaces. Answers carry no bodies except where one is asked
for; times are UTC.

Unknown or malformed parameters are refused by name. With a token, send `Authorization: Bearer <token>`, or the cookie
that `POST /api/session` sets; the health paths, `/v1` and the page's own files below `/assets/` need neither. A browser
that opens a page without them gets the form that asks for the token, with status 401.

Every refusal is `{"error": {"message", "type", "param", "code"}}`."""

_VALUE_MEANINGS: Final = {
    "outcome": "How the request ended.",
    "kind": "What was asked for, by the path.",
    "key": "Fingerprint of the API key.",
    "id": "Our id of the request.",
    "namespace_prefix": "The beginning of the namespace.",
    "status": "A status such as `200`, a class such as `4xx`, or `error` (= failed).",
    "failed": "`true` or `false`.",
    "warning": "Code of a warning about the request's tags.",
    "advice": "Code of a remark on the request's parameters.",
    "from": "Started at or after: RFC 3339, or relative such as `-15m`, `-7d` (s, m, h, d, w).",
    "to": "Started before: RFC 3339, or relative.",
    "contains": "A piece of text anywhere in prompt or answer; case does not count. Reads every request since `from`, "
    "which it needs.",
    "duration": "A bound with its unit: `>2s`, `<=300ms`. Several must all hold.",
    "first_token": "A bound with its unit. Several must all hold.",
    "cost": "A bound in US dollars: `>0.01`. Several must all hold.",
    "input_tokens": "A number or a bound: `>1000`. Several must all hold.",
    "output_tokens": "A number or a bound. Several must all hold.",
    "retry_count": "A number or a bound: `>=1` are retries by an SDK. Several must all hold.",
}
_QUERY_MEANING: Final = (
    'The query language: words and "phrases" of prompt and answer (`refun*` for a beginning), `name:value` with the '
    "names here, `-` before either to exclude, `name:valu*` for the beginning of a text, `duration:>2s`. At most "
    f"{query_language.MAX_CHARACTERS} characters and {query_language.MAX_PARTS} parts."
)


def parameter(name: str, meaning: str, schema: dict[str, Any] | None = None, place: str = "query") -> dict[str, Any]:
    """One documented parameter."""
    schema = schema or {"type": "string"}
    return {"name": name, "in": place, "required": place == "path", "description": meaning, "schema": schema}


def limit(default: int) -> dict[str, Any]:
    """The documented page size."""
    schema = {"type": "integer", "minimum": 1, "maximum": filters.MAX_LIMIT, "default": default}
    return parameter("limit", "How many at most.", schema)


def filter_parameters() -> list[dict[str, Any]]:
    """Every filter there is. Those that can be repeated are arrays: any of the values."""
    texts = _any_of({"type": "string"})
    known = [
        parameter(name, _VALUE_MEANINGS.get(name, f"The record's `{name}`, exactly."), _values_of(name))
        for name in filters.NAMES
    ]
    return [
        *known,
        parameter("q", _QUERY_MEANING),
        parameter("property.<name>", "The custom property of that name, exactly.", texts),
        parameter("not.<name>", "Excludes: any name above but `from` and `to`, `not.property.<name>` too.", texts),
    ]


def _values_of(name: str) -> dict[str, Any]:
    if name in ("from", "to"):
        return {"type": "string"}
    choices = filter_values.CHOICES.get(name)
    return _any_of({"type": "string", "enum": list(choices)} if choices else {"type": "string"})


def _any_of(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": MAX_VALUES}


def reads(
    answer: Any,
    parameters: Iterable[dict[str, Any]] = (),
    media_type: str = "application/json",
    *,
    body: Any = None,
) -> Operation:
    """Document a route: its answer (a model, or ``None`` for text), its parameters and the model of its JSON body."""
    return Operation(answer, list(parameters), media_type, body)


def build(routes: Iterable[ApiRoute], version: str) -> dict[str, Any]:
    """Return the document of all routes that have an ``operation``, in their order."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if route.operation is not None:
            path = paths.setdefault(route.path_format, {})
            path |= {method.lower(): _operation(route, route.operation) for method in route.methods - {"HEAD"}}
    _, schemas = msgspec.json.schema_components(answers.MODELS, ref_template=_REFS)
    for schema in schemas.values():
        schema.pop("title", None)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Relaybook", "description": _about(), "version": version},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _operation(route: ApiRoute, operation: Operation) -> dict[str, Any]:
    model = operation.answer
    text = (model.__doc__ if model else None) or "As asked."
    documented: dict[str, Any] = {
        "tags": [route.tag],
        "summary": route.name.replace("_", " ").title(),
        "description": inspect.getdoc(route.endpoint),
        "operationId": route.name,
        "parameters": operation.parameters,
        "responses": {
            "200": {"description": text, "content": _content(operation.media_type, model)},
            "default": {"description": "A refusal.", "content": _content("application/json", answers.ErrorAnswer)},
        },
    }
    if operation.body is not None:
        documented["requestBody"] = {"required": True, "content": _content("application/json", operation.body)}
    return documented


def _content(media_type: str, model: Any) -> dict[str, Any]:
    schema = {"$ref": _REFS.format(name=model.__name__)} if model else {"type": "string"}
    return {media_type: {"schema": schema}}


def _about() -> str:
    rows = "".join(f"\n| `{code}` | {status} | {meaning} |" for code, (status, meaning) in CODES.items())
    return f"{_ABOUT}\n\n| code | status | when |\n|---|---|---|{rows}"
