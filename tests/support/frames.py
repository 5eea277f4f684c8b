"""Build journal frames as the relay writes them."""

from typing import Any

from relaybook.apis import match
from relaybook.journal.events import Closed, Opened, ResponseBegin, encode_event
from relaybook.journal.frame import Frame, FrameKind

WALL_NS = 1_767_225_600_000_000_000


def opened(**fields: Any) -> Opened:
    """Return the ``Opened`` event of a chat request. ``fields`` replace its defaults."""
    made: dict[str, Any] = {
        "wall_ns": WALL_NS,
        "method": b"POST",
        "target": b"/v1/chat/completions",
        "head": b"Host: localhost\r\nUser-Agent: test/1",
        "namespace": "default",
        "properties": {},
        "warnings": [],
        "route": "default",
        "upstream": "https://api.openai.com/v1",
        "client_address": "127.0.0.1",
        "log": "full",
        "key": "0123456789ab",
    }
    made |= fields
    api_path = made["target"].partition(b"?")[0].removeprefix(b"/v1")
    kind = match(made["method"].decode("latin-1"), api_path.decode("latin-1")).api.kind
    return Opened(**({"api_path": api_path, "kind": kind} | made))


class Script:
    """A list of frames. Each frame is one millisecond after the previous one."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []

    def add(self, kind: FrameKind, exchange: bytes, payload: bytes = b"") -> "Script":
        number = len(self.frames) + 1
        self.frames.append(Frame(kind, exchange, number * 1_000_000, payload, number, 1, 128 + 100 * number))
        return self

    def open(self, exchange: bytes, **fields: Any) -> "Script":
        return self.add(FrameKind.OPENED, exchange, encode_event(opened(**fields)))

    def request(self, exchange: bytes, *chunks: bytes) -> "Script":
        for chunk in chunks:
            self.add(FrameKind.SENT, exchange, chunk)
        return self.add(FrameKind.REQUEST_END, exchange)

    def respond(
        self, exchange: bytes, *chunks: bytes, status: int = 200, head: bytes = b"", made: bool = False
    ) -> "Script":
        self.add(FrameKind.RESPONSE_BEGIN, exchange, encode_event(ResponseBegin(status, b"OK", head, made)))
        for chunk in chunks:
            self.add(FrameKind.MADE if made else FrameKind.RECEIVED, exchange, chunk)
        return self

    def close(self, exchange: bytes, outcome: Any = "complete", *rest: Any) -> "Script":
        return self.add(FrameKind.CLOSED, exchange, encode_event(Closed(outcome, *rest)))
