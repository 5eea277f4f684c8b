"""Name the models of the simulated upstream, and list them in OpenAI's format."""

from typing import Final
from urllib.parse import unquote

from relaybook_demo.simulator.replies import Reply, json_reply, unknown_model

LISTED: Final = (
    "gpt-4o",
    "gpt-4o-mini",
    "gpt-4.1",
    "gpt-4.1-mini",
    "gpt-5",
    "gpt-5-mini",
    "chatgpt-4o-latest",
    "o3",
    "o4-mini",
    "text-embedding-3-small",
    "text-embedding-3-large",
    "sim-echo",
)
ANTHROPIC: Final = ("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-haiku-4-5")
GEMINI: Final = ("gemini-3.1-pro-preview", "gemini-3.8-flash", "gemini-2.5-flash", "gemini-2.5-flash-lite")
GEMINI_EMBEDDING: Final = ("gemini-embedding-001", "gemini-embedding-2")
#: The models that are installed in Ollama. The part after the colon is the tag.
OLLAMA: Final = ("llama3.2:latest", "qwen3:8b", "gemma3:4b", "gpt-oss:20b", "deepseek-r1:8b", "nomic-embed-text:latest")

_OPENAI_PREFIXES: Final = (
    "gpt-",
    "chatgpt-",
    "o1",
    "o3",
    "o4",
    "text-embedding-",
    "dall-e-",
    "whisper-",
    "tts-",
    "sim-",
)
_GEMINI_PREFIXES: Final = ("gemini-", "gemma-", "text-embedding-", "sim-")
_COHERE_PREFIXES: Final = ("command-", "c4ai-", "embed-", "rerank-", "sim-")
_MISTRAL_PREFIXES: Final = ("mistral-", "ministral-", "codestral-", "magistral-", "pixtral-")
#: Google, Mistral and Ollama also serve the paths of OpenAI's API.
_ON_OPENAI_PATHS: Final = (*_OPENAI_PREFIXES, "gemini-", *_MISTRAL_PREFIXES)
_CREATED: Final = 1_715_367_049


def is_known(model: str) -> bool:
    """Return whether a model exists on the paths of OpenAI's API."""
    return model.startswith(_ON_OPENAI_PATHS) or is_ollama(model)


def is_gemini(model: str) -> bool:
    """Return whether a model exists in Google's API."""
    return model.startswith(_GEMINI_PREFIXES)


def is_cohere(model: str) -> bool:
    """Return whether a model exists in Cohere's API."""
    return model.startswith(_COHERE_PREFIXES)


def is_ollama(model: str) -> bool:
    """Return whether a model is installed in Ollama, with any tag."""
    name = model.partition(":")[0]
    return name.startswith("sim-") or any(name == installed.partition(":")[0] for installed in OLLAMA)


def is_mistral(model: str) -> bool:
    """Return whether a model is Mistral's. Mistral serves the paths of OpenAI's API with small differences."""
    return model.startswith(_MISTRAL_PREFIXES)


def list_models() -> Reply:
    """Respond to ``GET /v1/models``."""
    return json_reply({"object": "list", "data": [_model(name) for name in LISTED]})


def show_model(segment: str) -> Reply:
    """Respond to ``GET /v1/models/{id}``. The segment may be percent-encoded, because SDKs encode it."""
    model = unquote(segment)
    return json_reply(_model(model)) if is_known(model) else unknown_model(model)


def _model(name: str) -> dict[str, object]:
    owner = "simulator" if name.startswith("sim-") else "openai"
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": owner}
