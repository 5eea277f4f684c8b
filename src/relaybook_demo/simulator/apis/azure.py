"""Respond to requests to Azure OpenAI: OpenAI's API with deployments in the path, and its own key and errors.

The deployments have the names of OpenAI's models. Azure says which contents its filters found: in a whole response, and
in an additional first chunk of a stream, which has no id, no model and no choices.
"""

import re
from dataclasses import replace
from typing import Any, Final
from urllib.parse import parse_qs, unquote

import msgspec

from relaybook_demo.simulator.apis import openai
from relaybook_demo.simulator.apis.models import is_known
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.replies import Event, Reply, Stamp, encode_json, json_reply

_PREFIX: Final = "/openai/"
_STATUS_ERRORS: Final = {
    429: "Requests have exceeded the call rate limit of your current pricing tier. Please retry after 1 second.",
    500: "The server had an error while processing your request. Sorry about that!",
    503: "The service is temporarily unable to process your request. Please try again later.",
}
#: The newer API, without deployments, needs no ``api-version``.
_VERSIONED_PREFIX: Final = "/openai/v1/"
_DEPLOYMENT: Final = re.compile(r"deployments/([^/]+)/(.+)")
_FILTER_RESULTS: Final[dict[str, Any]] = {
    name: {"filtered": False, "severity": "safe"} for name in ("hate", "self_harm", "sexual", "violence")
}
_PROMPT_RESULTS: Final = [{"prompt_index": 0, "content_filter_results": _FILTER_RESULTS}]


def serves(request: Request) -> bool:
    """Return whether a request belongs to this API."""
    return request.path.startswith(_PREFIX)


def respond(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    """Return OpenAI's reply to the same request. The deployment in the path replaces the model in the body."""
    return _with_request_id(_reply(request, directives, stamp), stamp)


def status_error(status: int) -> Reply:
    """Return the error that Azure sends with a status of 400 or more."""
    message = _STATUS_ERRORS.get(status, f"The request failed with status {status}.")
    return _error(status, str(status), message)


def _reply(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    authorization = _authorization(request)
    if authorization is None:
        return _error(
            *(401, "401"),
            "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for "
            "an active subscription and use a correct regional API endpoint for your resource.",
        )
    has_version = request.path.startswith(_VERSIONED_PREFIX)
    path = request.path.removeprefix(_VERSIONED_PREFIX if has_version else _PREFIX)
    if not has_version and "api-version" not in parse_qs(request.query):
        return _error(404, "404", "Resource not found")
    body = request.body
    deployment = _DEPLOYMENT.fullmatch(path)
    if deployment is not None:
        model, path = unquote(deployment[1]), deployment[2]
        if not is_known(model):
            return _error(
                *(404, "DeploymentNotFound"),
                "The API deployment for this resource does not exist. If you created the deployment within the last 5 "
                "minutes, please wait a moment and try again.",
            )
        body = _with_model(body, model)
    translated = request.translated(f"/v1/{path}".encode("latin-1"), [(b"authorization", authorization)], body)
    reply = openai.respond(translated, directives, stamp)
    return _with_filter_results(reply, stamp) if path == "chat/completions" and reply.status == 200 else reply


def _authorization(request: Request) -> bytes | None:
    """Return the key or the token of Microsoft Entra as a bearer token. `None` if there is none, or it is invalid."""
    key = request.header(b"api-key")
    value = request.header(b"authorization") if key is None else b"Bearer " + key
    scheme, _, token = (value or b"").partition(b" ")
    is_valid = scheme.lower() == b"bearer" and token.strip() and not token.startswith(b"sk-invalid")
    return value if is_valid else None


def _with_model(body: bytes, model: str) -> bytes:
    """Return the body with another model. A body that is not a JSON object is returned unchanged."""
    try:
        fields = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return body
    return encode_json({**fields, "model": model}) if isinstance(fields, dict) else body


def _with_filter_results(reply: Reply, stamp: Stamp) -> Reply:
    if reply.events is not None:
        first = {"choices": [], "created": 0, "id": "", "model": "", "object": ""}
        first["prompt_filter_results"] = _PROMPT_RESULTS
        return replace(reply, events=[Event(encode_json(first)), *reply.events])
    body = msgspec.json.decode(reply.body)
    for choice in body.get("choices") or ():
        choice["content_filter_results"] = _FILTER_RESULTS
    return replace(reply, body=encode_json({**body, "prompt_filter_results": _PROMPT_RESULTS}))


def _with_request_id(reply: Reply, stamp: Stamp) -> Reply:
    return replace(reply, headers=[*reply.headers, (b"apim-request-id", stamp.unique.encode())])


def _error(status: int, code: str, message: str) -> Reply:
    return json_reply({"error": {"code": code, "message": message}}, status)
