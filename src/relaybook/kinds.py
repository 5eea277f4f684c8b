"""Map request paths to kinds of requests, and define the event that tells a client that its stream broke.

The relay and the log share this mapping. The module does no I/O. ``log/formats`` parses the bodies of some kinds.
"""

import json
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

Kind = Literal["chat", "completion", "response", "message", "embedding", "models", "other"]


class _Row(NamedTuple):
    """The paths of a kind, relative to the base URL, and the error event for its streams.

    The error event is `None` if the kind has no event streams.
    """

    kind: Kind
    paths: tuple[str, ...]
    error_event: Callable[[str, str], bytes] | None = None


def _openai_error_event(code: str, message: str) -> bytes:
    """Return an event that makes OpenAI's SDKs raise an error."""
    error = {"message": message, "type": "relay_error", "param": None, "code": code}
    return b"data: %b\n\n" % _encode({"error": error})


def _anthropic_error_event(code: str, message: str) -> bytes:
    """Return an event that makes Anthropic's SDKs raise an error.

    ``code`` is not used, because Anthropic's error format has no field for the relay's error code.
    """
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
    """Return the kind of a path such as ``/chat/completions``, relative to the base URL; ``other`` if unknown."""
    path = path.strip("/")
    return "models" if path.startswith("models/") else _KINDS.get(path, "other")


def stream_error_event(kind: Kind, code: str, message: str) -> bytes | None:
    """Return the server-sent event that makes the official SDKs raise an error for a broken stream.

    `None` if this kind has no error event.
    """
    error_event = _ERROR_EVENTS.get(kind)
    return None if error_event is None else error_event(code, message)
