"""Turn a request and its directives into a reply that is compatible with OpenAI's and Anthropic's APIs."""

import re
from typing import Any, Final, Protocol

import msgspec

from relaybook_demo.simulator import anthropic, replies
from relaybook_demo.simulator.completions import MAX_CHOICES, complete
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.embeddings import embed
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.models import is_known, list_models, show_model
from relaybook_demo.simulator.replies import Reply, Stamp
from relaybook_demo.simulator.requests import ChatRequest, EmbeddingsRequest, ResponsesRequest
from relaybook_demo.simulator.responses import respond

Body = ChatRequest | ResponsesRequest | EmbeddingsRequest

ALLOW: Final = b"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

_REQUEST_TYPES: Final[dict[str, type[Body]]] = {
    "/v1/chat/completions": ChatRequest,
    "/v1/responses": ResponsesRequest,
    "/v1/embeddings": EmbeddingsRequest,
}
_FIELD_NAME: Final = re.compile(r"`\$\.([^`]*)`|field `([^`]*)`")


class _HasModel(Protocol):
    model: str | None


class _Metadata(msgspec.Struct):
    metadata: dict[str, Any] | None = None


def reply_to(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    """Return the reply to a request. A status in the directives replaces the default status."""
    status = directives.status if directives.status is not None else 413 if directives.when == "head" else None
    if status is not None and status >= 400:
        is_anthropic = request.path in anthropic.PATHS
        return anthropic.status_error(status) if is_anthropic else replies.status_error(status)
    reply = _default_reply(request, directives, stamp)
    if status is not None:
        reply.status = status
        if status == 101:
            reply.headers += [(b"upgrade", b"websocket"), (b"connection", b"Upgrade")]
    return reply


def metadata_of(body: bytes) -> dict[str, Any] | None:
    """Return the ``metadata`` of a body.

    `None` if the body contains no directives or cannot be parsed.
    """
    if b'"sim_' not in body:
        return None
    try:
        return msgspec.json.decode(body, type=_Metadata).metadata
    except msgspec.DecodeError:
        return None


def _default_reply(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    path = request.path
    if request.method == "OPTIONS":
        return _options()
    if path == "/v1/echo" or path.startswith("/v1/echo/"):
        return Reply(body=request.body, content_type=request.header(b"content-type") or b"application/octet-stream")
    if path in anthropic.PATHS:
        return anthropic.respond(request, directives, stamp)
    if not path.startswith("/v1/"):
        return replies.invalid_url(request.method, path)
    error_reply = _check_key(request.header(b"authorization"))
    if error_reply is not None:
        return error_reply
    if path in _REQUEST_TYPES:
        return _handle_post(request, directives, stamp)
    if request.method in ("GET", "HEAD"):
        if path == "/v1/models":
            return list_models()
        if path.startswith("/v1/models/"):
            return show_model(path.removeprefix("/v1/models/"))
    return replies.invalid_url(request.method, path)


def _check_key(authorization: bytes | None) -> Reply | None:
    scheme, _, key = (authorization or b"").decode("latin-1").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        return replies.no_key()
    return replies.bad_key(key.strip()) if key.strip().startswith("sk-invalid") else None


def _handle_post(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    if request.method != "POST":
        message = f"Not allowed to {request.method} on {request.path}."
        return replies.invalid_request(405, message, "method_not_supported")
    try:
        parsed: Body = msgspec.json.decode(request.body, type=_REQUEST_TYPES[request.path])
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
        case ResponsesRequest():
            return respond(parsed, directives, stamp)
        case _:
            return embed(parsed)


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


def _options() -> Reply:
    return Reply(
        204,
        headers=[
            (b"allow", ALLOW),
            (b"access-control-allow-origin", b"*"),
            (b"access-control-allow-methods", ALLOW),
            (b"access-control-allow-headers", b"*"),
            (b"access-control-max-age", b"86400"),
        ],
    )
