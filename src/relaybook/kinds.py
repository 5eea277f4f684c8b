"""Map request paths to kinds of requests, and say how a broken stream of each kind is reported to the client. Pure.

The relay and the log share this table. ``log/formats`` has the formats of the kinds whose bodies are parsed.
"""

import json
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

Kind = Literal["chat", "completion", "response", "message", "embedding", "models", "other"]


class _Row(NamedTuple):
    """The paths of a kind below the base URL, and the error event for its streams (`None` if it has no event
    streams)."""

    kind: Kind
    paths: tuple[str, ...]
    error_event: Callable[[str, str], bytes] | None = None


def _openai_error_event(code: str, message: str) -> bytes:
    """Return an event that makes OpenAI's SDKs raise an error."""
    error = {"message": message, "type": "relay_error", "param": None, "code": code}
    return b"data: %b\n\n" % _encode({"error": error})


def _anthropic_error_event(code: str, message: str) -> bytes:
    """Return an event that makes Anthropic's SDKs raise an error. Their error format has no field for our code."""
    error = {"type": "api_error", "message": message}
    return b"event: error\ndata: %b\n\n" % _encode({"type": "error", "error": error})


def _encode(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


_TABLE: Final = (
    _Row("chat", ("chat/completions",), _openai_error_event),
    _Row("completion", ("completions",), _openai_error_event),
    _Row("response", ("responses",), _openai_error_event),
    _Row("message", ("messages", "messages/count_tokens"), _anthropic_error_event),
    _Row("embedding", ("embeddings",)),
    _Row("models", ("models",)),
)
_KINDS: Final[dict[str, Kind]] = {path: row.kind for row in _TABLE for path in row.paths}
_ERROR_EVENTS: Final = {row.kind: row.error_event for row in _TABLE if row.error_event is not None}


def kind_of(path: str) -> Kind:
    """Return the kind of a path below the base URL, such as ``/chat/completions``; ``other`` if it is not known."""
    path = path.strip("/")
    return "models" if path.startswith("models/") else _KINDS.get(path, "other")


def stream_error_event(kind: Kind, code: str, message: str) -> bytes | None:
    """Return the server-sent event that makes the official SDKs raise an error, for a stream that broke off.

    `None` if requests of this kind have no event streams with such an event.
    """
    error_event = _ERROR_EVENTS.get(kind)
    return None if error_event is None else error_event(code, message)
