"""Choose the API of a request, and turn the request and its directives into a reply in the format of this API."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from relaybook_demo.simulator import replies
from relaybook_demo.simulator.apis import anthropic, azure, cohere, gemini, ollama, openai
from relaybook_demo.simulator.directives import Directives
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.replies import Reply, Stamp

ALLOW: Final = b"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"


class _Api(NamedTuple):
    """The functions of an API: ``respond`` handles a request, ``status_error`` returns the error with a status."""

    respond: Callable[[Request, Directives, Stamp], Reply]
    status_error: Callable[[int], Reply]


_OPENAI: Final = _Api(openai.respond, replies.status_error)
_AZURE: Final = _Api(azure.respond, azure.status_error)
_ANTHROPIC: Final = _Api(anthropic.respond, anthropic.status_error)
_GEMINI: Final = _Api(gemini.respond, gemini.status_error)
_OLLAMA: Final = _Api(ollama.respond, ollama.status_error)
_COHERE: Final = _Api(cohere.respond, cohere.status_error)


class _Metadata(msgspec.Struct):
    metadata: dict[str, Any] | None = None


def reply_to(request: Request, directives: Directives, stamp: Stamp) -> Reply:
    """Return the reply to a request. A status in the directives replaces the default status."""
    api = _api_of(request)
    status = directives.status if directives.status is not None else 413 if directives.when == "head" else None
    if status is not None and status >= 400:
        return api.status_error(status)
    reply = _default_reply(api, request, directives, stamp)
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


def _api_of(request: Request) -> _Api:
    """Return the API that the path belongs to. Paths of no API get the errors of OpenAI's API."""
    if anthropic.serves(request):
        return _ANTHROPIC
    if azure.serves(request):
        return _AZURE
    if gemini.serves(request):
        return _GEMINI
    if ollama.serves(request):
        return _OLLAMA
    return _COHERE if cohere.serves(request) else _OPENAI


def _default_reply(api: _Api, request: Request, directives: Directives, stamp: Stamp) -> Reply:
    path = request.path
    if request.method == "OPTIONS":
        return _options()
    if path == "/v1/echo" or path.startswith("/v1/echo/"):
        return Reply(body=request.body, content_type=request.header(b"content-type") or b"application/octet-stream")
    return api.respond(request, directives, stamp)


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
