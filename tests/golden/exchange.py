"""A stored exchange of the golden file, and the bytes of event streams."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from tests.support.frames import Script

from relaybook.recorder.fold import Fold, JournalExchange

ID = b"a" * 16
JSON_HEAD = "content-type: application/json"
STREAM_HEAD = "content-type: text/event-stream; charset=utf-8"
DONE = b"data: [DONE]\n\n"
OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com/v1"


class GoldenExchange(NamedTuple):
    """An exchange as the relay saw it. ``response`` has the chunks in which the body arrived."""

    name: str
    path: str
    request: bytes
    response: tuple[bytes, ...]
    method: str = "POST"
    upstream: str = OPENAI
    request_head: str = "user-agent: golden/1\r\ncontent-type: application/json"
    response_head: str = JSON_HEAD
    #: `None` if no response arrived.
    status: int | None = 200
    outcome: str = "complete"
    error: tuple[str | None, str | None] = (None, None)
    client_missed: bool = False
    #: Whether the relay wrote the response.
    made: bool = False
    log: str = "full"
    #: The name of the conversation, of which this exchange is a turn.
    conversation: str | None = None

    def recorded(self) -> JournalExchange:
        """Return the exchange as the recorder reads it from the journal."""
        script = Script().open(
            ID,
            target=self.path.encode(),
            method=self.method.encode(),
            head=self.request_head.encode(),
            upstream=self.upstream,
            log=self.log,
        )
        script.request(ID, *([self.request] if self.request else []))
        if self.status is not None:
            head = self.response_head.encode()
            script.respond(ID, *self.response, status=self.status, head=head, made=self.made)
        script.close(ID, self.outcome, *self.error, None, self.client_missed)
        return Fold().feed(script.frames)[0]


def encode(value: Any, *, compact: bool = False) -> bytes:
    """Return JSON, with spaces after commas and colons unless it is ``compact``."""
    return json.dumps(value, separators=(",", ":") if compact else None, ensure_ascii=not compact).encode()


def event(value: Any, name: str | None = None) -> bytes:
    """Return an event of a stream."""
    data = value if isinstance(value, bytes) else encode(value, compact=True)
    return (b"" if name is None else f"event: {name}\n".encode()) + b"data: " + data + b"\n\n"


def typed_event(kind: str, **fields: Any) -> bytes:
    """Return an event of the Responses API or of Anthropic's API, whose name is also its ``type``."""
    return event({"type": kind} | fields, kind)


def pieces(text: str, size: int = 9) -> list[str]:
    """Split a text as a model generates it."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def in_chunks(data: bytes, size: int) -> tuple[bytes, ...]:
    """Split bytes regardless of events and characters."""
    return tuple(data[start : start + size] for start in range(0, len(data), size))


def joined(chunks: Iterable[bytes]) -> bytes:
    return b"".join(chunks)
