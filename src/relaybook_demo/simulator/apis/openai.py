"""Respond to requests to OpenAI's API: check the key, the path, the body and the model."""

import re
from typing import Final, Protocol

import msgspec

from relaybook_demo.simulator import replies
from relaybook_demo.simulator.apis import media, responses
from relaybook_demo.simulator.apis.completions import MAX_CHOICES, complete
from relaybook_demo.simulator.apis.embeddings import embed
from relaybook_demo.simulator.apis.models import is_known, list_models, show_model
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.replies import Reply, Stamp
from relaybook_demo.simulator.requests import ChatRequest, EmbeddingsRequest, FimRequest, ResponsesRequest

Body = ChatRequest | FimRequest | ResponsesRequest | EmbeddingsRequest

_GOOGLE_PREFIX: Final = "/v1beta/openai/"
_REQUEST_TYPES: Final[dict[str, type[Body]]] = {
    "/v1/chat/completions": ChatRequest,
    "/v1/fim/completions": FimRequest,
    "/v1/responses": ResponsesRequest,
    "/v1/embeddings": EmbeddingsRequest,
}
_FIELD_NAME: Final = re.compile(r"`\$\.([^`]*)`|field `([^`]*)`")


class _HasModel(Protocol):
    model: str | None


def respond(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    """Return the reply to a request. Google serves the same API below ``/v1beta/openai/``."""
    path = request.path
    if path.startswith(_GOOGLE_PREFIX):
        path = "/v1/" + path.removeprefix(_GOOGLE_PREFIX)
    if not path.startswith("/v1/"):
        return replies.invalid_url(request.method, path)
    error_reply = _check_key(request.header(b"authorization"))
    if error_reply is not None:
        return error_reply
    if path in _REQUEST_TYPES or path in media.PATHS:
        return _handle_post(request, path, directives, stamp)
    if request.method in ("GET", "HEAD"):
        if path == "/v1/models":
            return list_models()
        if path.startswith("/v1/models/"):
            return show_model(path.removeprefix("/v1/models/"))
    return replies.invalid_url(request.method, request.path)


def _check_key(authorization: bytes | None) -> Reply | None:
    scheme, _, key = (authorization or b"").decode("latin-1").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        return replies.no_key()
    return replies.bad_key(key.strip()) if key.strip().startswith("sk-invalid") else None


def _handle_post(request: Request, path: str, directives: Directives, stamp: Stamp) -> Reply:
    if request.method != "POST":
        message = f"Not allowed to {request.method} on {request.path}."
        return replies.invalid_request(405, message, "method_not_supported")
    if path in media.PATHS:
        return media.respond(request, path, stamp)
    try:
        parsed: Body = msgspec.json.decode(request.body, type=_REQUEST_TYPES[path])
    except msgspec.ValidationError as error:
        return _invalid(str(error))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return replies.not_json()
    error_reply = _check_model(parsed)
    if error_reply is not None:
        return error_reply
    match parsed:
        case ChatRequest():
            return _chat(parsed, directives, stamp)
        case FimRequest():
            return complete(parsed.chat(), directives, stamp)
        case ResponsesRequest():
            return responses.respond(parsed, directives, stamp)
        case _:
            return embed(parsed, stamp)


def _chat(request: ChatRequest, directives: Directives, stamp: Stamp) -> Reply:
    if not request.messages:
        return replies.invalid_request(400, "Invalid 'messages': empty array.", "empty_array", "messages")
    if request.n is not None and not 1 <= request.n <= MAX_CHOICES:
        return replies.invalid_request(400, f"Invalid 'n': expected 1 to {MAX_CHOICES}.", "invalid_value", "n")
    return complete(request, directives, stamp)


def _check_model(request: _HasModel) -> Reply | None:
    if not request.model:
        return replies.invalid_request(400, "you must provide a model parameter")
    return None if is_known(request.model) else replies.unknown_model(request.model)


def _invalid(error: str) -> Reply:
    """Return an error like OpenAI's, which names the parameter: ``Missing required parameter: 'messages'.``"""
    match = _FIELD_NAME.search(error)
    param = (match.group(1) or match.group(2)) if match else None
    if "missing required field" in error:
        return replies.invalid_request(
            400, f"Missing required parameter: '{param}'.", "missing_required_parameter", param
        )
    return replies.invalid_request(400, f"Invalid type for '{param}': {error}.", "invalid_type", param)
