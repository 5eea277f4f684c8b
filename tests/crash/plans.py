"""What a tag stands for: the request a caller sends under it and the answer the provider gives, byte for byte.

A tag says all of it, so provider, caller and judge agree without telling each other any bytes. No two tags share a
request or an answer, and no two places of one body look alike: a piece left out, doubled or swapped is seen.
"""

import hashlib
import json
from typing import Final, Literal, NamedTuple

KIB: Final = 1 << 10
#: What an upload's request holds, besides its frame.
UPLOAD_BYTES: Final = 300 * KIB
#: How an upload and a large answer are cut into writes.
PIECE_BYTES: Final = 16 * KIB

Shape = Literal["whole", "large", "upload", "stream", "trickle"]
#: Seconds between two pieces of an answer.
_PAUSES: Final[dict[Shape, float]] = {"whole": 0, "large": 0.01, "upload": 0, "stream": 0.01, "trickle": 0.2}


class Plan(NamedTuple):
    """A tag, read. ``size`` is in events for a stream or a trickle, else the answer's bytes."""

    tag: str
    shape: Shape
    size: int

    @property
    def streamed(self) -> bool:
        """Whether the answer is server-sent events."""
        return self.shape in ("stream", "trickle")

    @property
    def pause_seconds(self) -> float:
        """Between two pieces of the answer."""
        return _PAUSES[self.shape]


def tag_of(prefix: str, shape: Shape, size: int) -> str:
    """A tag; ``prefix`` makes it unique."""
    return f"{prefix}-{shape}-{size}"


def plan_of(tag: str) -> Plan:
    """Reads what ``tag_of`` wrote. Raises ValueError."""
    _, shape, size = tag.rsplit("-", 2)
    if shape not in _PAUSES:
        raise ValueError(f"no plan for {tag!r}")
    return Plan(tag, shape, int(size))


def _text(purpose: str, tag: str, characters: int) -> str:
    return hashlib.shake_128(f"{purpose} {tag}".encode()).hexdigest(characters // 2)


def request_of(plan: Plan) -> bytes:
    """The request's body."""
    text = _text("request", plan.tag, UPLOAD_BYTES if plan.shape == "upload" else 200)
    message = {"role": "user", "content": f"{plan.tag} {text}"}
    return json.dumps({"model": "gpt-4o-mini", "stream": plan.streamed, "messages": [message]}).encode()


def answer_of(plan: Plan) -> list[bytes]:
    """The answer's body in the pieces it is sent in."""
    if plan.streamed:
        return [*(_event(plan, number) for number in range(plan.size)), b"data: [DONE]\n\n"]
    message = {"role": "assistant", "content": _text("answer", plan.tag, plan.size)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    whole = json.dumps(
        {"id": f"chatcmpl-{plan.tag}", "object": "chat.completion", "model": "gpt-4o-mini", "choices": [choice]}
    ).encode()
    return [whole[at : at + PIECE_BYTES] for at in range(0, len(whole), PIECE_BYTES)]


def _event(plan: Plan, number: int) -> bytes:
    choice = {"index": 0, "delta": {"content": f"{number} {_text(str(number), plan.tag, 32)} "}}
    chunk = {"id": f"chatcmpl-{plan.tag}", "object": "chat.completion.chunk", "choices": [choice]}
    return b"data: %b\n\n" % json.dumps(chunk).encode()
