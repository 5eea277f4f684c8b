"""Derive the request and the response of a tag, byte for byte.

Upstream, client and judge derive all bytes from the tag, so they need not exchange the bytes. Each tag has a different
request and a different response. No two parts of a body are alike, so missing, duplicated and swapped chunks are
detected.
"""

import hashlib
import json
from typing import Final, Literal, NamedTuple

KIB: Final = 1 << 10
#: Size of the text in the request of an upload, without the JSON around the text.
UPLOAD_BYTES: Final = 300 * KIB
#: Maximum size of a write, in an upload or a large response.
CHUNK_BYTES: Final = 16 * KIB

Shape = Literal["whole", "large", "upload", "stream", "trickle"]
#: Seconds between two chunks of a response.
_PAUSES: Final[dict[Shape, float]] = {"whole": 0, "large": 0.01, "upload": 0, "stream": 0.01, "trickle": 0.2}


class Plan(NamedTuple):
    """A parsed tag.

    ``size`` is the number of events in a stream or trickle, otherwise the length of the text in the response.
    """

    tag: str
    shape: Shape
    size: int

    @property
    def streamed(self) -> bool:
        """Whether the response consists of server-sent events."""
        return self.shape in ("stream", "trickle")

    @property
    def pause_seconds(self) -> float:
        """Seconds between two chunks of the response."""
        return _PAUSES[self.shape]


def tag_of(prefix: str, shape: Shape, size: int) -> str:
    """Return a tag. ``prefix`` makes the tag unique."""
    return f"{prefix}-{shape}-{size}"


def plan_of(tag: str) -> Plan:
    """Parse a tag that ``tag_of`` returned. Raises ValueError if the tag is malformed."""
    _, shape, size = tag.rsplit("-", 2)
    if shape not in _PAUSES:
        raise ValueError(f"no plan for {tag!r}")
    return Plan(tag, shape, int(size))


def _text(purpose: str, tag: str, characters: int) -> str:
    return hashlib.shake_128(f"{purpose} {tag}".encode()).hexdigest(characters // 2)


def request_of(plan: Plan) -> bytes:
    """Return the body of the request."""
    text = _text("request", plan.tag, UPLOAD_BYTES if plan.shape == "upload" else 200)
    message = {"role": "user", "content": f"{plan.tag} {text}"}
    return json.dumps({"model": "gpt-4o-mini", "stream": plan.streamed, "messages": [message]}).encode()


def response_of(plan: Plan) -> list[bytes]:
    """Return the body of the response, split into the chunks that are sent."""
    if plan.streamed:
        return [*(_event(plan, number) for number in range(plan.size)), b"data: [DONE]\n\n"]
    message = {"role": "assistant", "content": _text("answer", plan.tag, plan.size)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    whole = json.dumps(
        {"id": f"chatcmpl-{plan.tag}", "object": "chat.completion", "model": "gpt-4o-mini", "choices": [choice]}
    ).encode()
    return [whole[at : at + CHUNK_BYTES] for at in range(0, len(whole), CHUNK_BYTES)]


def _event(plan: Plan, number: int) -> bytes:
    choice = {"index": 0, "delta": {"content": f"{number} {_text(str(number), plan.tag, 32)} "}}
    chunk = {"id": f"chatcmpl-{plan.tag}", "object": "chat.completion.chunk", "choices": [choice]}
    return b"data: %b\n\n" % json.dumps(chunk).encode()
