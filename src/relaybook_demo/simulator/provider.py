"""Routes a request to what an OpenAI-style provider would answer: bytes and a wish in, a reply out."""

import re
from typing import Any, Final, Protocol

import msgspec

from relaybook_demo.simulator import replies
from relaybook_demo.simulator.completions import MOST_CHOICES, complete
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.embeddings import embed
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.models import is_known, list_models, show_model
from relaybook_demo.simulator.replies import Reply, Stamp
from relaybook_demo.simulator.requests import ChatRequest, EmbeddingsRequest, ResponsesRequest
from relaybook_demo.simulator.responses import respond

Body = ChatRequest | ResponsesRequest | EmbeddingsRequest

ALLOW: Final = b"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

_POSTED: Final[dict[str, type[Body]]] = {
    "/v1/chat/completions": ChatRequest,
    "/v1/responses": ResponsesRequest,
    "/v1/embeddings": EmbeddingsRequest,
}
_FIELD: Final = re.compile(r"`\$\.([^`]*)`|field `([^`]*)`")


class _HasModel(Protocol):
    model: str | None


class _Metadata(msgspec.Struct):
    metadata: dict[str, Any] | None = None


def reply_to(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    """What is answered; a status that was wished for replaces the natural one."""
    status = directives.status if directives.status is not None else 413 if directives.when == "head" else None
    if status is not None and status >= 400:
        return replies.status_error(status)
    reply = _natural(request, directives, stamp)
    if status is not None:
        reply.status = status
        if status == 101:
            reply.headers += [(b"upgrade", b"websocket"), (b"connection", b"Upgrade")]
    return reply


def metadata_of(body: bytes) -> dict[str, Any] | None:
    """The body's ``metadata`` if it may hold a wish; None for anything that cannot be read."""
    if b'"sim_' not in body:
        return None
    try:
        return msgspec.json.decode(body, type=_Metadata).metadata
    except msgspec.DecodeError:
        return None


def _natural(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    path = request.path
    if request.method == "OPTIONS":
        return _options()
    if path == "/v1/echo" or path.startswith("/v1/echo/"):
        return Reply(body=request.body, content_type=request.header(b"content-type") or b"application/octet-stream")
    if not path.startswith("/v1/"):
        return replies.invalid_url(request.method, path)
    refused = _check_key(request.header(b"authorization"))
    if refused is not None:
        return refused
    if path in _POSTED:
        return _posted(request, directives, stamp)
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


def _posted(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    if request.method != "POST":
        message = f"Not allowed to {request.method} on {request.path}."
        return replies.refuse(405, message, "method_not_supported")
    try:
        parsed: Body = msgspec.json.decode(request.body, type=_POSTED[request.path])
    except msgspec.ValidationError as wrong:
        return _invalid(str(wrong))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return replies.not_json()
    refused = _check_model(parsed)
    if refused is not None:
        return refused
    match parsed:
        case ChatRequest():
            return _chat(parsed, directives, stamp)
        case ResponsesRequest():
            return respond(parsed, directives, stamp)
        case _:
            return embed(parsed)


def _chat(request: ChatRequest, directives: Directives, stamp: Stamp) -> Reply:
    if not request.messages:
        return replies.refuse(400, "Invalid 'messages': empty array.", "empty_array", "messages")
    if request.n is not None and not 1 <= request.n <= MOST_CHOICES:
        return replies.refuse(400, f"Invalid 'n': expected 1 to {MOST_CHOICES}.", "invalid_value", "n")
    return complete(request, directives, stamp)


def _check_model(request: _HasModel) -> Reply | None:
    if not request.model:
        return replies.refuse(400, "you must provide a model parameter")
    return None if is_known(request.model) else replies.unknown_model(request.model)


def _invalid(wrong: str) -> Reply:
    """Names the parameter as the provider does: ``Missing required parameter: 'messages'.``"""
    found = _FIELD.search(wrong)
    param = (found.group(1) or found.group(2)) if found else None
    if "missing required field" in wrong:
        return replies.refuse(400, f"Missing required parameter: '{param}'.", "missing_required_parameter", param)
    return replies.refuse(400, f"Invalid type for '{param}': {wrong}.", "invalid_type", param)


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
