"""Read bodies that tests give as JSON values, and build the events of streams."""

import json
from typing import Any

import msgspec

from relaybook.apis import BY_KIND, Kind, Match
from relaybook.log.formats import Reading, read_request, read_response
from relaybook.log.formats.conversation import Output, Part, Request
from relaybook.log.formats.lenient import sanitize

DONE = b"data: [DONE]\n\n"


def data_of(body: Any) -> bytes:
    """Return a body as bytes. Any value other than bytes becomes JSON."""
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def event(value: Any, name: str = "", **more: Any) -> bytes:
    """Return an event with a JSON value. ``more`` adds fields to the value."""
    return (f"event: {name}\n".encode() if name else b"") + b"data: %b\n\n" % data_of(value | more if more else value)


def chunk(delta: Any, index: Any = 0, **choice: Any) -> bytes:
    """Return a chunk of a chat completion with one choice. ``choice`` adds fields to the choice."""
    return event({"id": "c1", "model": "m", "choices": [{"index": index, "delta": delta} | choice]})


def request_of(body: Any, kind: Kind = "chat") -> Request:
    """Return a request body in the model."""
    return read_request(data_of(body), Match(BY_KIND[kind]))


def reading_of(body: Any, kind: Kind = "chat", *, streamed: bool | None = None, complete: bool = True) -> Reading:
    """Read a response body. Bytes are a stream unless ``streamed`` says something else."""
    is_stream = isinstance(body, bytes) if streamed is None else streamed
    return read_response(data_of(body), kind, is_event_stream=is_stream, complete=complete)


def output_of(body: Any, kind: Kind = "chat") -> Output:
    """Return the only output of a response."""
    (output,) = reading_of(body, kind).response.outputs
    return output


def brief(parts: list[Part]) -> list[tuple[str, str | None]]:
    """Return the kind of each part, and its text or arguments."""
    return [(part.kind, part.text if part.arguments is None else part.arguments) for part in parts]


def check_storable(value: Any) -> None:
    """Assert that a value of the model can be encoded as JSON and MessagePack, and that its texts are UTF-8."""
    value = sanitize(msgspec.to_builtins([value] if not isinstance(value, tuple) else list(value)))
    msgspec.json.decode(msgspec.json.encode(value))
    msgspec.msgpack.decode(msgspec.msgpack.encode(value))
