"""Build the OpenAPI document from the declared routes, parameters and models.

The page's TypeScript types and docs/reference/api.md are generated from this document.
"""

import inspect
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from relaybook.api import schemas
from relaybook.api.errors import CODES
from relaybook.api.routes import ApiRoute, Operation
from relaybook.log.query import filters, language, term_values
from relaybook.log.query.parameters import MAX_VALUES

_REFS: Final = "#/components/schemas/{name}"
_ABOUT: Final = """With the API of the dashboard, you can read the request log, delete requests, pin namespaces, save
filters and give feedback. Lists contain no request or response bodies. Timestamps are RFC 3339 in UTC.

If the dashboard has a token, send the token as `Authorization: Bearer <token>`, or send the cookie that
`POST /api/session` sets. `POST /api/session`, `/healthz`, `/readyz`, `/v1` and `/assets/` do not require the token.
A browser that is not signed in gets the sign-in form with status 401 when it opens a page.
`POST /api/requests/{id}/feedback` also accepts the `feedback_token`. The `feedback_token` allows no other call.

Unknown and malformed parameters are rejected, not ignored. An error has the form
`{"error": {"message", "type", "param", "code"}}`. These are the codes:"""

_VALUE_MEANINGS: Final = {
    "outcome": "The outcome of the request.",
    "kind": "Kind of request, determined by the path.",
    "key": "Fingerprint of the API key.",
    "id": "Relaybook's id of the request.",
    "namespace_prefix": "Prefix of the namespace.",
    "status": "A status such as `200`, a class such as `4xx`, or `error` (the same as `failed=true`).",
    "failed": "`true`: requests that failed. `false`: all other requests.",
    "result": "The `code` in the field `result` of the request. For a response that ended at the token limit, the "
    "code is `truncated`, not `complete`.",
    "warning": "Code of a warning about the request's tags (headers such as `Service-Namespace`). `any`: requests with "
    "any warning.",
    "note": "Code of a note: what could not be read. `any`: requests with any note.",
    "advice": "Code of advice about the request. `any`: requests with any advice.",
    "stream_ended": "How the stream of the response ended.",
    "cost_reason": "Why the cost of the request is unknown. `any`: all requests with a reason.",
    "from": "Earliest start, inclusive. An RFC 3339 timestamp, or a relative time such as `-15m` or `-7d` (units: s, "
    "m, h, d, w).",
    "to": "Latest start, exclusive. An RFC 3339 timestamp or a relative time.",
    "words": "A word or a phrase in the prompt or the response. Case and diacritics are ignored. If repeated, all "
    "values must match.",
    "response": "A word or a phrase in the response or the error message.",
    "prompt": "A word or a phrase in the messages of the request.",
    "said_here": "A word or a phrase in the response, or in a message after the last response that the request "
    "contains. Unlike `words`, it does not find the later requests of a conversation, which contain the text again.",
    "contains": "A substring of the prompt or the response. Case is ignored. `from` is required, because the bodies of "
    "all requests since that time are scanned.",
    "duration": "A comparison of the duration, with a unit, such as `>2s` or `<=300ms`. `unknown`: still running. If "
    "repeated, all values must match.",
    "first_token": "A comparison of the time to the first token, with a unit, such as `>500ms`. `unknown`: not a "
    "stream. If repeated, all values must match.",
    "cost": "A comparison of the cost in US dollars, such as `>0.01`. `unknown`: the cost is unknown. If repeated, all "
    "values must match.",
    **dict.fromkeys(
        ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "chunks"),
        "A number such as `1000`, or a comparison such as `>1000`. `unknown`: the number is unknown. If repeated, all "
        "values must match.",
    ),
    "cached_share": "A comparison of the share of cached input tokens, such as `>50%` or `<=0.5`. `unknown`: the share "
    "is unknown. If repeated, all values must match.",
    "tokens_per_second": "A comparison of the output tokens per second, such as `<20`. `unknown`: the speed is "
    "unknown. If repeated, all values must match.",
    "relay": "A comparison of the time in the relay, with a unit, such as `>5ms`. `unknown`: the time is unknown. If "
    "repeated, all values must match.",
    **dict.fromkeys(
        ("request_bytes", "response_bytes"),
        "A size such as `0`, or a comparison such as `>100kB`. Units are B, kB, MB, GB, KiB, MiB and GiB. If repeated, "
        "all values must match.",
    ),
    "score": "A number or a comparison, such as `-1` or `>0`. At least one score in the request's feedback must match. "
    "If repeated, each value must match at least one score.",
    "label": "Exact value of a label in the request's feedback.",
    "feedback": "`any`: requests with feedback. `none`: requests without feedback.",
    "retry_count": "A number such as `2`, or a comparison. For example, `>=1` selects requests that an SDK sent as a "
    "retry. If repeated, all values must match.",
}
_QUERY_MEANING: Final = (
    'A query in the query language. A part is a word, a "phrase", a prefix of a word such as `refun*`, `name:value`, a '
    "prefix of a value such as `name:valu*`, or a comparison such as `duration:>2s`. Words and phrases are searched in "
    "the prompt and the response. `name` is the name of another filter, such as `model` or `property.<name>`. The "
    'name of a property needs quotes if it contains white space, `:`, `<`, `>` or `=`: `property."my app":x`. A `-` '
    f"before a part excludes matching requests. A query has at most {language.MAX_CHARACTERS} characters and "
    f"{language.MAX_PARTS} parts. `GET /api/query` translates a query into parameters."
)


def parameter(name: str, meaning: str, schema: dict[str, Any] | None = None, place: str = "query") -> dict[str, Any]:
    """Describe a parameter for the OpenAPI document. ``place`` is ``query``, ``path`` or ``header``."""
    schema = schema or {"type": "string"}
    return {"name": name, "in": place, "required": place == "path", "description": meaning, "schema": schema}


#: The parameter of the paths that find a request by any of its ids.
ANY_ID: Final = parameter(
    "id",
    "Any id of the request: Relaybook's id, the client's id, the provider's request id, or the id in the response "
    "body. Write a slash in an id as `%2F`, because `/api/requests/job/request` is the request body of `job`, if a "
    "request has the id `job`.",
    place="path",
)


def limit(default: int) -> dict[str, Any]:
    """Return the description of ``limit``, the page size."""
    schema = {"type": "integer", "minimum": 1, "maximum": filters.MAX_LIMIT, "default": default}
    return parameter("limit", "Maximum number of results.", schema)


def filter_parameters() -> list[dict[str, Any]]:
    """Return the descriptions of all filters. A filter that can be repeated is described as an array."""
    texts = _any_of({"type": "string"})
    known = [
        parameter(name, _VALUE_MEANINGS.get(name, f"Exact value of `{name}`."), _values_of(name))
        for name in filters.NAMES
    ]
    return [
        *known,
        parameter("q", _QUERY_MEANING),
        parameter("property.<name>", "Exact value of the property.", texts),
        parameter(
            "begins.<name>",
            "Prefix of a value of the parameter `<name>`. `<name>` is a parameter listed above that accepts any text. "
            "If a parameter has several prefixes or exact values, at least one of them must match. For `words`, "
            "`prompt`, `response` and `said_here`, all of them must match. `begins.words=my refun` matches a phrase "
            "whose last word starts with `refun`.",
            texts,
        ),
        parameter(
            "not.<name>",
            "Excludes the requests that the parameter `<name>` selects. `<name>` is any parameter listed above "
            "except `from`, `to` and `q`.",
            texts,
        ),
    ]


def _values_of(name: str) -> dict[str, Any]:
    if name in ("from", "to"):
        return {"type": "string"}
    choices = term_values.CHOICES.get(name)
    return _any_of({"type": "string", "enum": list(choices)} if choices else {"type": "string"})


def _any_of(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": MAX_VALUES}


def describe(
    response: Any,
    parameters: Iterable[dict[str, Any]] = (),
    media_type: str = "application/json",
    *,
    body: Any = None,
    status: int = 200,
) -> Operation:
    """Describe a route: its response (a model, or ``None`` for text), parameters, and the model of its JSON body."""
    return Operation(response, list(parameters), media_type, body, status)


def build(routes: Iterable[ApiRoute], version: str) -> dict[str, Any]:
    """Return the OpenAPI document of all routes that have an ``operation``, in the order of ``routes``."""
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if route.operation is not None:
            path = paths.setdefault(route.path_format, {})
            path |= {method.lower(): _operation(route, route.operation) for method in route.methods - {"HEAD"}}
    _, models = msgspec.json.schema_components(schemas.MODELS, ref_template=_REFS)
    for schema in models.values():
        schema.pop("title", None)
        if "description" in schema:
            schema["description"] = inspect.cleandoc(schema["description"])
    return {
        "openapi": "3.1.0",
        "info": {"title": "Relaybook", "description": _about(), "version": version},
        "paths": paths,
        "components": {
            "schemas": models,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _operation(route: ApiRoute, operation: Operation) -> dict[str, Any]:
    model = operation.response
    text = (model.__doc__ if model else None) or "The requested text."
    documented: dict[str, Any] = {
        "tags": [route.tag],
        "summary": route.name.replace("_", " ").title(),
        "description": inspect.getdoc(route.endpoint),
        "operationId": route.name,
        "parameters": operation.parameters,
        "responses": {
            str(operation.status): {"description": text, "content": _content(operation.media_type, model)},
            "default": {"description": "An error.", "content": _content("application/json", schemas.ErrorResponse)},
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
