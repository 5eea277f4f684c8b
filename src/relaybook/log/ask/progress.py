"""Return how the text of a response grew while its chunks arrived."""

from collections.abc import Iterator
from itertools import accumulate
from typing import Annotated, Final

from msgspec import Meta, Struct

from relaybook.apis import BY_KIND
from relaybook.log.formats.conversation import Part, Response
from relaybook.log.formats.lenient import sanitize
from relaybook.log.formats.reading import read_growing
from relaybook.log.request_view import MAX_BODY_BYTES, RequestView, decode_body
from relaybook.log.store.errors import BodyDamaged

#: Maximum number of steps. A response with more chunks has a step only after every second chunk, or every third, ….
_MAX_STEPS: Final = 500
#: An encoded body is decoded again for each step, up to this many bytes in total.
_MAX_DECODED_BYTES: Final = 100 << 20
_MIN_STEPS: Final = 10


class ResponseProgress(Struct, kw_only=True):
    """The text of a streamed response after its chunks."""

    steps: Annotated[
        list[tuple[int, int, str]],
        Meta(
            description="A triple for each step in which the text grew: the number of chunks that had arrived, how "
            "many characters of the previous text remain, and the text that follows them. Characters are Unicode code "
            "points. Empty if the response is not a stream, or cannot be read. With more than 500 chunks, there are "
            "fewer steps than chunks."
        ),
    ]


def progress(view: RequestView) -> ResponseProgress:
    """Return how the text of the first output grew: its reasoning, text and tool calls, one below the other."""
    steps: list[tuple[int, int, str]] = []
    before = ""
    for chunk, response in _responses(view):
        text = _text_of(response)
        if text != before:
            kept = _common(before, text)
            steps.append((chunk, kept, text[kept:]))
            before = text
    return ResponseProgress(steps=steps)


def _responses(view: RequestView) -> Iterator[tuple[int, Response]]:
    """Yield the number of chunks that had arrived, and the response so far."""
    record = view.record
    is_read = BY_KIND[record.kind].is_read and record.stream and (record.status or 500) < 400
    if not is_read or (view.size("response") or 0) > MAX_BODY_BYTES:
        return
    try:
        data = b"".join(view.transferred("response") or ())
    except BodyDamaged:
        return
    ends = list(enumerate(accumulate(view.detail.chunk_bytes), 1))
    coding = view.content_encoding("response")
    most = _MAX_STEPS if coding is None else max(_MIN_STEPS, _MAX_DECODED_BYTES // (10 * len(data) + 1))
    every = -(-len(ends) // min(most, _MAX_STEPS)) or 1
    chosen = [each for each in ends if each[0] % every == 0 or each[0] == len(ends)]
    sizes = (end if coding is None else len(decode_body(data[:end], coding).data) for _, end in chosen)
    decoded = decode_body(data, coding)
    if decoded.is_readable:
        numbers = (number for number, _ in chosen[:-1])
        yield from zip(numbers, read_growing(decoded.data, record.kind, sizes, is_event_stream=True), strict=False)
    if (whole := view.response()) is not None and ends:
        yield len(ends), whole


def _text_of(response: Response) -> str:
    parts = response.outputs[0].parts if response.outputs else []
    return sanitize("\n\n".join(filter(None, map(_part_text, parts))))  # type: ignore[no-any-return]


def _part_text(part: Part) -> str:
    if part.kind == "tool_call":
        return f"ƒ {part.name or ''}({part.arguments or ''})"
    return part.text or ""


def _common(before: str, text: str) -> int:
    """Return the number of equal characters at the beginning of two texts."""
    if text.startswith(before):
        return len(before)
    low, high = 0, min(len(before), len(text))
    while low < high:
        middle = (low + high + 1) // 2
        if text.startswith(before[:middle]):
            low = middle
        else:
            high = middle - 1
    return low
