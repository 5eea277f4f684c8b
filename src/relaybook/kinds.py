"""The kinds of requests, and the paths that tell them: one table for the relay and for the log. Pure."""

from typing import Final, Literal

Kind = Literal["chat", "completion", "response", "embedding", "models", "other"]

_KINDS: Final[dict[str, Kind]] = {
    "chat/completions": "chat",
    "completions": "completion",
    "responses": "response",
    "embeddings": "embedding",
    "models": "models",
}


def kind_of(path: str) -> Kind:
    """What a path below a route's base URL is about (``/chat/completions``); everything not known is ``other``."""
    path = path.strip("/")
    return "models" if path.startswith("models/") else _KINDS.get(path, "other")
