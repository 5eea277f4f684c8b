"""Map request paths to kinds of requests. ``apis`` replaces this module."""

from typing import Final

from relaybook.apis import Kind

__all__ = ["Kind", "kind_of"]

_KINDS: Final[dict[str, Kind]] = {
    "chat/completions": "chat",
    "completions": "completion",
    "responses": "response",
    "messages": "message",
    "messages/count_tokens": "message",
    "embeddings": "embedding",
    "models": "models",
}


def kind_of(path: str) -> Kind:
    """Return the kind of a path such as ``/chat/completions``, relative to the base URL; ``other`` if unknown."""
    path = path.strip("/")
    return "models" if path.startswith("models/") else _KINDS.get(path, "other")
