"""An answer before it is bytes: status, headers, and one body or the events of a stream; with the provider's errors."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

Header = tuple[bytes, bytes]

JSON = b"application/json"
EVENT_STREAM = b"text/event-stream; charset=utf-8"

encode_json = msgspec.json.encode


class Event(NamedTuple):
    """One server-sent event: its data (JSON, or ``[DONE]``), and its name where it has one."""

    data: bytes
    name: bytes = b""


@dataclass(slots=True)
class Reply:
    """What the provider says. ``events`` is None for a whole answer; ``output_tokens`` sets the pace of one."""

    status: int = 200
    body: bytes = b""
    content_type: bytes = JSON
    headers: list[Header] = field(default_factory=list)
    events: list[Event] | None = None
    output_tokens: int = 0


class Stamp(NamedTuple):
    """What is new in every answer: a number that is never used twice, and the second it was made."""

    unique: str
    created: int


def json_reply(value: Any, status: int = 200, output_tokens: int = 0) -> Reply:
    """A whole JSON answer."""
    return Reply(status, encode_json(value), output_tokens=output_tokens)


def error_body(message: str, kind: str, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    """The provider's error object."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def refuse(status: int, message: str, code: str | None = None, param: str | None = None) -> Reply:
    """A refused request, in the provider's shape."""
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
    """The error the provider sends with a status of 400 or more."""
    usual = "server_error" if status >= 500 else "invalid_request_error"
    message, kind, code = _STATUS_ERRORS.get(status, (f"The request failed with status {status}.", usual, None))
    return json_reply(error_body(message, kind, code), status)


def stream_error() -> bytes:
    """The data of an error that comes after the head said 200."""
    message = "The server had an error while processing your request."
    return encode_json(error_body(message, "server_error", "server_error"))


def no_key() -> Reply:
    """The answer to a request without a bearer key."""
    message = (
        "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth "
        "(i.e. Authorization: Bearer YOUR_KEY)."
    )
    return refuse(401, message)


def bad_key(key: str) -> Reply:
    """The answer to a key that the provider does not know; as there, most of it is masked."""
    masked = f"{key[:8]}{'*' * max(4, len(key) - 12)}{key[-4:]}"
    message = f"Incorrect API key provided: {masked}. You can find your API key in your account settings."
    return refuse(401, message, "invalid_api_key")


def unknown_model(model: str) -> Reply:
    """The answer to a model that does not exist."""
    return refuse(404, f"The model `{model}` does not exist or you do not have access to it.", "model_not_found")


def invalid_url(method: str, path: str) -> Reply:
    """The answer to a path the provider does not serve."""
    return refuse(404, f"Invalid URL ({method} {path})")


def not_json() -> Reply:
    """The answer to a body that is not JSON."""
    return refuse(400, "We could not parse the JSON body of your request. The API expects a JSON payload.")
