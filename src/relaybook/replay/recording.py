"""Turn a logged response into the bytes to send, each with its time, and the way in which the connection ends."""

from collections.abc import Iterable
from itertools import chain
from typing import Any, Final, Literal, NamedTuple

from relaybook.errors import UPSTREAM_DID_RESET, RelayError
from relaybook.relay.client_framing import ClientFraming
from relaybook.relay.fingerprints import Fingerprints
from relaybook.relay.response_head import ResponseHeadReader
from relaybook.replay.source import RecordedLog

#: How a response ends. ``complete``: the connection can be used again. ``close`` and ``reset`` end the connection.
#: ``hang``: nothing more is sent, because the client had left before the end.
Ending = Literal["complete", "close", "reset", "hang"]

#: The codes of an upstream that failed after the client had left. Other codes are from the response.
_UPSTREAM_FAILURES: Final = frozenset(
    error.code
    for error in (
        *(RelayError.UPSTREAM_RESET, RelayError.UPSTREAM_PROTOCOL_ERROR, RelayError.UPSTREAM_TIMEOUT),
        RelayError.UPSTREAM_STREAM_INTERRUPTED,
    )
)

_read_head: Final = ResponseHeadReader((), Fingerprints(b"")).read


class Recording(NamedTuple):
    """A response of the log: its head, and its chunks with their times in seconds since the request's headers.

    ``head`` is `None` if the log has no response. ``ends_after`` is the time from the request's headers to the end.
    """

    head: bytes | None
    chunks: list[tuple[float, bytes]]
    ending: Ending
    ends_after: float


class Step(NamedTuple):
    """Bytes to send, and the time to wait since the request's headers."""

    at: float
    data: bytes


class Delivery(NamedTuple):
    """What to send to one client, and how to end."""

    steps: list[Step]
    ending: Ending
    ends_after: float


class NotReplayable(Exception):
    """The log does not have the whole response. The message says why."""


def load(log: RecordedLog, record_id: str) -> Recording:
    """Read a response from the log. Raises NotReplayable."""
    detail = log.find(record_id)
    if detail is None:
        raise NotReplayable("the request was deleted.")
    if detail["outcome"] == "open":
        raise NotReplayable("the request is still running.")
    if detail["status"] is None:
        return Recording(None, [], _ending_of(detail, is_whole=False), _seconds(detail))
    headers, stored = detail["response_headers"], detail["stored_response_bytes"]
    if headers is None or (stored or 0) < detail["response_bytes"]:
        raise NotReplayable("the log does not have the whole response.")
    body = log.body(record_id, "response") or b""
    head = _head_bytes(detail)
    read = _read_head(head)
    has_no_body = detail["method"] == "HEAD" or read.status in (204, 304)
    is_whole = detail["outcome"] == "complete" or has_no_body or read.length == len(body)
    return Recording(head, _chunks_of(detail, body), _ending_of(detail, is_whole=is_whole), _seconds(detail))


def _head_bytes(detail: dict[str, Any]) -> bytes:
    lines = [f"{name}: {value}" for name, value in detail["response_headers"]]
    return "\r\n".join([f"HTTP/1.1 {detail['status']} {detail['reason'] or ''}", *lines, "", ""]).encode("latin-1")


def _seconds(detail: dict[str, Any]) -> float:
    return float(detail["duration_ms"] or 0) / 1000


def _chunks_of(detail: dict[str, Any], body: bytes) -> list[tuple[float, bytes]]:
    """Return the chunks with their times. Bytes without a time arrived at the end."""
    chunks, start = [], 0
    for at_ms, size in detail["timeline"]:
        chunks.append((at_ms / 1000, body[start : start + size]))
        start += size
    return [*chunks, (_seconds(detail), body[start:])] if start < len(body) else chunks


def _ending_of(detail: dict[str, Any], *, is_whole: bool) -> Ending:
    if is_whole:
        return "complete"
    code = detail["error_code"]
    if detail["outcome"] == "client_closed" and code not in _UPSTREAM_FAILURES:
        return "complete" if detail["stream_ended"] == "done" else "hang"
    was_reset = (detail["error_message"] or "").startswith(UPSTREAM_DID_RESET)
    return "reset" if was_reset or code == RelayError.LOG_UNAVAILABLE.code else "close"


def delivery(
    recording: Recording, method: str, replay_header: bytes, *, version_1_0: bool, keep_alive: bool
) -> Delivery:
    """Encode a response for a client, as the relay encoded it for the logged client. ``replay_header`` is one line.

    The head is sent with the first chunk, because the log does not have its time.
    """
    if recording.head is None:
        return Delivery([], recording.ending, recording.ends_after)
    head = _read_head(recording.head)
    framing = ClientFraming(head, method.encode("latin-1"), version_1_0=version_1_0)
    ending = recording.ending
    if framing.ends_with_close:  # the relay reset the connections of such responses when they were cut
        ending = {"complete": "close", "close": "reset"}.get(ending, ending)  # type: ignore[assignment]
    framing.begin(replay_header, keep_alive=keep_alive and ending == "complete")
    chunks: Iterable[tuple[float, bytes]] = recording.chunks if method != "HEAD" else ()
    steps = [Step(at, framing.encode(chunk)) for at, chunk in chunks]
    is_complete = recording.ending == "complete"
    end = framing.encode(b"", complete=is_complete)
    if end:  # the end of a chunked body, or a head without a body
        steps.append(Step(max(recording.ends_after, steps[-1].at if steps else 0.0), end))
    return Delivery(steps, ending, recording.ends_after)


def paced(made: Delivery, speed: float, max_wait: float) -> Delivery:
    """Return a delivery with its pauses divided by the speed, and then at most ``max_wait``. Speed 0 has no pauses."""
    steps, before, at = [], 0.0, 0.0
    for due, data in chain(made.steps, [Step(made.ends_after, b"")]):
        pause = max(0.0, due - before) / speed if speed else 0.0
        before, at = max(due, before), at + min(pause, max_wait)
        steps.append(Step(at, data))
    return Delivery(steps[:-1], made.ending, at)
