"""List the APIs that Relaybook knows: what can be said about a request before its bodies are read.

Each API is one row of ``APIS``. The row is found by method and by the end of the path, because the same API is served
below different paths (``/v1``, ``/openai/deployments/{model}``, ``/api/v1``). ``log/formats`` has one module for each
API whose bodies are read.
"""

import re
from typing import Final, Literal, NamedTuple, TypeAlias
from urllib.parse import unquote

Kind: TypeAlias = Literal["chat", "completion", "response", "message", "embedding", "models", "other"]


class Sdk(NamedTuple):
    """The call of an official SDK that sends a request of an API.

    The SDK appends ``path`` to its base URL.
    """

    package: Literal["openai", "anthropic"]
    method: str
    path: str


class Api(NamedTuple):
    """What is known about an API.

    ``paths`` are the ends of its paths, without slashes around them. ``{model}`` stands for one segment that names the
    model. ``name`` is the name for people.
    """

    kind: Kind
    name: str
    methods: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    #: Whether bodies are read. Bodies of other APIs are stored, but only errors are read.
    is_read: bool = False
    #: Whether a request has the messages of a conversation, which later requests continue.
    is_conversation: bool = False
    #: The response header with the provider's id of the request.
    request_id_header: str = "x-request-id"
    #: The name of the API in the prices of ``genai-prices``.
    prices: str | None = None
    sdk: Sdk | None = None


class Match(NamedTuple):
    """The API of a request, and the model in its path. ``model`` is `None` if the path names no model."""

    api: Api
    model: str | None = None


APIS: Final = (
    Api(
        "chat",
        "chat completions",
        ("POST",),
        ("deployments/{model}/chat/completions", "chat/completions"),
        is_read=True,
        is_conversation=True,
        prices="chat",
        sdk=Sdk("openai", "chat.completions", "/chat/completions"),
    ),
    Api(
        "completion",
        "text completions",
        ("POST",),
        ("deployments/{model}/completions", "completions"),
        is_read=True,
        prices="chat",
        sdk=Sdk("openai", "completions", "/completions"),
    ),
    Api(
        "response",
        "Responses API",
        ("POST",),
        ("responses",),
        is_read=True,
        is_conversation=True,
        prices="responses",
        sdk=Sdk("openai", "responses", "/responses"),
    ),
    Api(
        "message",
        "Anthropic messages",
        ("POST",),
        ("messages", "messages/count_tokens"),
        is_read=True,
        is_conversation=True,
        request_id_header="request-id",
        prices="messages",
        sdk=Sdk("anthropic", "messages", "/v1/messages"),
    ),
    Api(
        "embedding",
        "embeddings",
        ("POST",),
        ("deployments/{model}/embeddings", "embeddings"),
        is_read=True,
        prices="embeddings",
        sdk=Sdk("openai", "embeddings", "/embeddings"),
    ),
    Api("models", "list of models", ("GET", "DELETE"), ("models", "models/{model}")),
    Api("other", "all other paths"),
)
BY_KIND: Final[dict[Kind, Api]] = {api.kind: api for api in APIS}
#: The response headers that may have the provider's id of the request, in lower case.
REQUEST_ID_HEADERS: Final = tuple(dict.fromkeys(api.request_id_header for api in APIS))
_OTHER: Final = BY_KIND["other"]
#: One segment that names a model. A colon starts a method of Google's APIs.
_MODEL: Final = "([^/:]+)"


def _compile(path: str) -> "re.Pattern[str]":
    return re.compile(f"(?:^|/)/*{path.replace('{model}', _MODEL)}/*$")


_PATTERNS: Final = tuple((_compile(path), api) for api in APIS for path in api.paths)


def match(method: str, path: str) -> Match:
    """Return the API of a request. ``path`` is the path of the request target, without query."""
    for pattern, api in _PATTERNS:
        found = pattern.search(path)
        if found is not None:
            if method not in api.methods:
                break
            return Match(api, unquote(found[1]) if pattern.groups and api.is_read else None)
    return Match(_OTHER)
