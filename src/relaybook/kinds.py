"""Map request paths to kinds of requests, for the relay and the log. Pure."""

from typing import Final, Literal

Kind = Literal["chat", "completion", "response", "embedding", "models", "other"]

#: Kinds whose bodies are parsed: they have a format in ``log/formats``.
PARSED_KINDS: Final[frozenset[Kind]] = frozenset(("chat", "completion", "response", "embedding"))
#: Kinds that stream their responses as server-sent events.
STREAMED_KINDS: Final[frozenset[Kind]] = frozenset(("chat", "completion", "response"))

_KINDS: Final[dict[str, Kind]] = {
    "chat/completions": "chat",
    "completions": "completion",
    "responses": "response",
    "embeddings": "embedding",
    "models": "models",
}


def kind_of(path: str) -> Kind:
    """Return the kind of a path below the base URL, such as ``/chat/completions``; ``other`` if it is not known."""
    path = path.strip("/")
    return "models" if path.startswith("models/") else _KINDS.get(path, "other")
