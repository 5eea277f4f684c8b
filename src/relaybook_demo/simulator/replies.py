"""Represent a response before encoding: the status, the headers, and a body or the events of a stream.

This module also builds error responses in OpenAI's format.
"""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

Header = tuple[bytes, bytes]

JSON = b"application/json"
EVENT_STREAM = b"text/event-stream; charset=utf-8"

encode_json = msgspec.json.encode


#: The form of a stream: server-sent events, lines of JSON, or one JSON array that arrives in parts.
StreamFormat: TypeAlias = Literal["sse", "ndjson", "json-array"]


class Event(NamedTuple):
    """One event of a stream. The data is JSON or ``[DONE]``.

    Only server-sent events have a ``name``; it is empty if the event has no name. ``is_end_mark`` is true if the event
    marks the end of the stream.
    """

    data: bytes
    name: bytes = b""
    is_end_mark: bool = False


@dataclass(slots=True)
class Reply:
    """A response. If it is not streamed, ``events`` is `None` and the delay depends on ``output_tokens``."""

    status: int = 200
    body: bytes = b""
    content_type: bytes = JSON
    headers: list[Header] = field(default_factory=list)
    events: list[Event] | None = None
    output_tokens: int = 0
    stream_format: StreamFormat = "sse"
    #: The header with the id of the request. `None` if the API sends no such header.
    request_id_header: bytes | None = b"x-request-id"
    #: The event that ends a stream with an error. `None` means OpenAI's error event.
    error_event: Event | None = None


class Stamp(NamedTuple):
    """The values that are new in each response: a unique text, and the Unix time of the response."""

    unique: str
    created: int


def json_reply(value: Any, status: int = 200, output_tokens: int = 0) -> Reply:
    """Return a JSON response that is not streamed."""
    return Reply(status, encode_json(value), output_tokens=output_tokens)


def error_body(message: str, error_type: str, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    """Return an error object in OpenAI's format."""
    return {"error": {"message": message, "type": error_type, "param": param, "code": code}}


def invalid_request(status: int, message: str, code: str | None = None, param: str | None = None) -> Reply:
    """Return an ``invalid_request_error``."""
    return json_reply(error_body(message, "invalid_request_error", code, param), status)


_STATUS_ERRORS: dict[int, tuple[str, str, str | None]] = {
    401: ("Incorrect API key provided.", "invalid_request_error", "invalid_api_key"),
    403: ("You are not allowed to sample from this model.", "invalid_request_error", None),
    404: ("The requested resource was not found.", "invalid_request_error", None),
    408: ("The request timed out.", "timeout", None),
    409: ("The request conflicts with another one.", "invalid_request_error", None),
    413: ("The request is too large.", "invalid_request_error", "request_too_large"),
    429: ("Rate limit reached for requests. Try again in 1s.", "requests", "rate_limit_exceeded"),
    500: ("The server had an error while processing your request. Sorry about that!", "server_error", None),
    503: ("The engine is currently overloaded, please try again later.", "service_unavailable", None),
}


def status_error(status: int) -> Reply:
    """Return the error that OpenAI sends with a status of 400 or more."""
    default_type = "server_error" if status >= 500 else "invalid_request_error"
    message, error_type, code = _STATUS_ERRORS.get(
        status, (f"The request failed with status {status}.", default_type, None)
    )
    return json_reply(error_body(message, error_type, code), status)


def stream_error() -> bytes:
    """Return the data of an error event for a stream that began with status 200."""
    message = "The server had an error while processing your request."
    return encode_json(error_body(message, "server_error", "server_error"))


def no_key() -> Reply:
    """Return the error for a request without a bearer token."""
    message = (
        "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth "
        "(i.e. Authorization: Bearer YOUR_KEY)."
    )
    return invalid_request(401, message)


def bad_key(key: str) -> Reply:
    """Return the error for an unknown API key. As in OpenAI's error, most of the key is masked."""
    masked = f"{key[:8]}{'*' * max(4, len(key) - 12)}{key[-4:]}"
    message = f"Incorrect API key provided: {masked}. You can find your API key in your account settings."
    return invalid_request(401, message, "invalid_api_key")


def unknown_model(model: str) -> Reply:
    """Return the error for a model that does not exist."""
    return invalid_request(
        404, f"The model `{model}` does not exist or you do not have access to it.", "model_not_found"
    )


def invalid_url(method: str, path: str) -> Reply:
    """Return the error for a path that does not exist."""
    return invalid_request(404, f"Invalid URL ({method} {path})")


def not_json() -> Reply:
    """Return the error for a body that is not JSON."""
    return invalid_request(400, "We could not parse the JSON body of your request. The API expects a JSON payload.")
