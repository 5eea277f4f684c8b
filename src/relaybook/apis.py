"""List the APIs that Relaybook knows: what can be said about a request before its bodies are read.

Each API is one row of ``APIS``. The row is found by method and by the end of the path, because the same API is served
below different paths (``/v1``, ``/openai/deployments/{model}``, ``/api/v1``). ``log/formats`` has one module for each
API whose bodies are read.
"""

import re
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias
from urllib.parse import unquote

Kind: TypeAlias = Literal[
    "chat",
    "completion",
    "response",
    "message",
    "generate",
    "interaction",
    "cohere",
    "ollama",
    "embedding",
    "image",
    "audio",
    "moderation",
    "models",
    "file",
    "batch",
    "fine_tuning",
    "vector_store",
    "conversation",
    "other",
]


class Sdk(NamedTuple):
    """An official SDK. ``client`` is the name of its client class in Python and in JavaScript."""

    python_package: Literal["openai", "anthropic"]
    node_package: str
    client: str


class SdkCall(NamedTuple):
    """The call of an SDK that sends a request of an API.

    ``method`` is followed by ``.create``. The SDK appends ``path`` to its base URL. ``parameters`` are the fields of
    the body that every version of the Python SDK accepts by name; other fields must be in ``extra_body``.
    """

    sdk: Sdk
    method: str
    path: str
    parameters: frozenset[str]


class Api(NamedTuple):
    """What is known about an API.

    ``paths`` are the ends of its paths, without slashes around them. ``{model}`` stands for one segment that names the
    model, or its beginning up to a colon, and ``{id}`` for any other segment. ``name`` is the name for people.
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
    #: The request header with the API key, up to the key.
    key_header: str = "Authorization: Bearer "
    #: The environment variable from which SDKs read the API key.
    key_variable: str = "OPENAI_API_KEY"
    sdk_call: SdkCall | None = None


class Match(NamedTuple):
    """The API of a request, and what its path says.

    ``model`` is `None` if the path names no model. ``path`` is the end of the path, as in ``Api.paths``. It is empty if
    the path is not known.
    """

    api: Api
    model: str | None = None
    path: str = ""

    @property
    def operation(self) -> str:
        """The method of Google's API, such as ``countTokens``, which a colon separates from the model; else empty."""
        return self.path.partition(":")[2]

    @property
    def is_free(self) -> bool:
        """Whether providers charge nothing, because the request only counts tokens or is a moderation."""
        return self.path in _FREE or self.operation == "countTokens"


_OPENAI: Final = Sdk("openai", "openai", "OpenAI")
_ANTHROPIC: Final = Sdk("anthropic", "@anthropic-ai/sdk", "Anthropic")
_FREE: Final = frozenset({"messages/count_tokens", "responses/input_tokens", "moderations"})
#: What precedes the colon in the paths of Gemini and Vertex. Vertex serves tuned models at endpoints.
_GOOGLE_MODELS: Final = ("models/{model}", "tunedModels/{model}", "endpoints/{model}")
_GOOGLE_OPERATIONS: Final = (
    "generateContent",
    "streamGenerateContent",
    "countTokens",
    "embedContent",
    "batchEmbedContents",
)


def _call(sdk: Sdk, method: str, path: str, parameters: str) -> SdkCall:
    return SdkCall(sdk, method, path, frozenset(parameters.split()))


#: The methods of APIs that list, create, read, change and delete objects.
_ALL: Final = ("POST", "GET", "DELETE")

APIS: Final = (
    Api(
        "chat",
        "chat completions",
        ("POST",),
        ("deployments/{model}/chat/completions", "chat/completions", "agents/completions"),
        is_read=True,
        is_conversation=True,
        sdk_call=_call(
            _OPENAI,
            "chat.completions",
            "/chat/completions",
            "model messages frequency_penalty logit_bias logprobs max_completion_tokens max_tokens metadata n "
            "parallel_tool_calls presence_penalty response_format seed stop store stream stream_options temperature "
            "tool_choice tools top_logprobs top_p user",
        ),
    ),
    Api(
        "completion",
        "text completions",
        ("POST",),
        ("deployments/{model}/completions", "completions"),
        is_read=True,
        sdk_call=_call(
            _OPENAI,
            "completions",
            "/completions",
            "model prompt best_of echo frequency_penalty logit_bias logprobs max_tokens n presence_penalty seed stop "
            "stream stream_options suffix temperature top_p user",
        ),
    ),
    Api(
        "response",
        "Responses API",
        ("POST", "GET"),
        ("responses", "responses/input_tokens", "responses/compact", "responses/{id}", "responses/{id}/cancel"),
        is_read=True,
        is_conversation=True,
        sdk_call=_call(
            _OPENAI,
            "responses",
            "/responses",
            "model input include instructions max_output_tokens metadata parallel_tool_calls previous_response_id "
            "reasoning store stream temperature text tool_choice tools top_p truncation user",
        ),
    ),
    Api(
        "message",
        "Anthropic messages",
        ("POST",),
        ("messages", "messages/count_tokens"),
        is_read=True,
        is_conversation=True,
        request_id_header="request-id",
        key_header="x-api-key: ",
        key_variable="ANTHROPIC_API_KEY",
        sdk_call=_call(
            _ANTHROPIC,
            "messages",
            "/v1/messages",
            "model messages max_tokens metadata stop_sequences stream system thinking tool_choice tools",
        ),
    ),
    Api(
        "generate",
        "Gemini generateContent",
        ("POST",),
        tuple(f"{model}:{operation}" for model in _GOOGLE_MODELS for operation in _GOOGLE_OPERATIONS),
        is_read=True,
        is_conversation=True,
        key_header="x-goog-api-key: ",
        key_variable="GEMINI_API_KEY",
    ),
    Api(
        "interaction",
        "Gemini interactions",
        ("POST",),
        ("interactions",),
        is_read=True,
        is_conversation=True,
        key_header="x-goog-api-key: ",
        key_variable="GEMINI_API_KEY",
    ),
    Api(
        "cohere",
        "Cohere chat",
        ("POST",),
        ("v2/chat", "v1/chat"),
        is_read=True,
        is_conversation=True,
        key_variable="CO_API_KEY",
    ),
    Api(
        "ollama",
        "Ollama",
        ("POST",),
        ("api/chat", "api/generate", "api/embed", "api/embeddings"),
        is_read=True,
        is_conversation=True,
    ),
    Api(
        "embedding",
        "embeddings and rankings",
        ("POST",),
        ("deployments/{model}/embeddings", "v1/embed", "v2/embed", "rerank", "embeddings"),
        is_read=True,
        sdk_call=_call(_OPENAI, "embeddings", "/embeddings", "model input dimensions encoding_format user"),
    ),
    Api(
        "image",
        "images",
        ("POST",),
        (
            *("images/generations", "images/edits", "images/variations"),
            *("deployments/{model}/images/generations", "deployments/{model}/images/edits"),
        ),
        is_read=True,
    ),
    Api(
        "audio",
        "speech and transcripts",
        ("POST",),
        (
            *("audio/speech", "audio/transcriptions", "audio/translations"),
            *("deployments/{model}/audio/speech", "deployments/{model}/audio/transcriptions"),
            "deployments/{model}/audio/translations",
        ),
        is_read=True,
    ),
    Api("moderation", "moderations", ("POST",), ("moderations",), is_read=True),
    Api("models", "list of models", ("GET", "DELETE"), ("models", "models/{model}")),
    Api("file", "files", _ALL, ("files", "files/{id}", "files/{id}/content", "uploads", "uploads/{id}/parts")),
    Api(
        "batch",
        "batches",
        _ALL,
        (
            *("batches", "batches/{id}", "batches/{id}/cancel", "messages/batches", "messages/batches/{id}"),
            *("messages/batches/{id}/cancel", "messages/batches/{id}/results"),
        ),
    ),
    Api(
        "fine_tuning",
        "fine-tuning",
        _ALL,
        (
            *("fine_tuning/jobs", "fine_tuning/jobs/{id}", "fine_tuning/jobs/{id}/cancel"),
            *("fine_tuning/jobs/{id}/events", "fine_tuning/jobs/{id}/checkpoints"),
        ),
    ),
    Api(
        "vector_store",
        "vector stores",
        _ALL,
        (
            *("vector_stores", "vector_stores/{id}", "vector_stores/{id}/files", "vector_stores/{id}/files/{id}"),
            *("vector_stores/{id}/search", "vector_stores/{id}/file_batches"),
        ),
    ),
    Api(
        "conversation",
        "stored conversations",
        _ALL,
        ("conversations", "conversations/{id}", "conversations/{id}/items", "conversations/{id}/items/{id}"),
    ),
    # These paths end like those of other APIs: OpenAI's Assistants, Perplexity's jobs, and LM Studio's own API.
    Api("other", "all other paths", ("POST",), ("threads/{model}/messages", "async/chat/completions", "api/v1/chat")),
)
#: The kind of nearly all requests. Indexes omit it.
MOST_COMMON: Final[Kind] = "chat"
BY_KIND: Final[dict[Kind, Api]] = {api.kind: api for api in APIS}
#: The response headers that may have the provider's id of the request, in lower case.
REQUEST_ID_HEADERS: Final = tuple(dict.fromkeys(api.request_id_header for api in APIS))
_OTHER: Final = BY_KIND["other"]
#: One segment that names a model. A colon starts a method of Google's APIs.
_MODEL: Final = "([^/:]+)"


#: The ends of the paths of Ollama's own API.
_OLLAMA: Final = re.compile(
    r"/api/(?:chat|generate|embed(?:dings)?|tags|show|ps|version|pull|push|create|copy|delete)/?$"
)


def expects_text_error(path: str) -> bool:
    """Return whether clients of a path show only errors that are a text, not an object: those of Ollama."""
    return _OLLAMA.search(path) is not None


def _compile(path: str) -> "re.Pattern[str]":
    return re.compile(path.replace("{model}", _MODEL).replace("{id}", "[^/]+"))


_Pattern: TypeAlias = "tuple[re.Pattern[str], str, Api]"
#: The paths by their number of segments. Longer paths come first, because they can end with a shorter one.
_BY_LENGTH: Final[dict[int, list[_Pattern]]] = {}
for _count in sorted({path.count("/") + 1 for api in APIS for path in api.paths}, reverse=True):
    _BY_LENGTH[_count] = [
        (_compile(path), path, api) for api in APIS for path in api.paths if path.count("/") + 1 == _count
    ]


@lru_cache(1024)
def match(method: str, path: str) -> Match:
    """Return the API of a request. ``path`` is the path below the mount of the route, without query.

    Only the last segments are compared, so that a long path takes no longer. Empty segments are ignored.
    """
    segments = [segment for segment in path.split("/") if segment]
    for count, patterns in _BY_LENGTH.items():
        end = "/".join(segments[-count:]) if count <= len(segments) else ""
        for pattern, api_path, api in patterns:
            found = pattern.fullmatch(end)
            if found is not None:
                if method not in api.methods:
                    return Match(_OTHER)
                return Match(api, unquote(found[1]) if pattern.groups and api.is_read else None, api_path)
    return Match(_OTHER)
