"""Write conversations as fine-tuning lines such as ``{"messages": […], "tools": […]}``.

The response is the last message. Only requests with a complete, successful response are written. All other requests are
omitted and counted by reason.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec

from relaybook.apis import BY_KIND
from relaybook.log.finish_reasons import finish_of
from relaybook.log.formats.chat_export import NotChat, response_message, to_chat
from relaybook.log.formats.lenient import sanitize
from relaybook.log.record import Record
from relaybook.log.request_view import RequestView
from relaybook.log.store.errors import BodyDamaged

#: Finish reasons that ``finish_of`` does not know. A response with one of these reasons is incomplete.
_NOT_WHOLE: Final = (
    *("incomplete", "failed", "cancelled", "pause_turn", "error", "budget_exceeded"),
    *("CONTINUATION", "OTHER"),  # Gemini
)
_encode: Final = msgspec.json.Encoder().encode


class _Omitted(Exception):
    """Raised if a request is omitted from the export.

    The message is the reason. In messages to users, the reason follows a number, as in "7 failed".
    """


class FineTuning:
    """Writes one line per request. Requests of every API are written in the structure of chat completions."""

    def __init__(self) -> None:
        self.count = 0
        self.omitted: Counter[str] = Counter()

    def begin(self) -> bytes:
        return b""

    def add(self, record: Record, view: RequestView | None) -> Iterable[bytes]:
        assert view is not None
        try:
            line = _line(record, view)
        except _Omitted as omitted:
            self.omitted[str(omitted)] += 1
            return ()
        self.count += 1
        return (line,)

    def end(self) -> bytes:
        return b""


def _line(record: Record, view: RequestView) -> bytes:
    if not BY_KIND[record.kind].is_conversation:
        raise _Omitted("of other kinds")
    if record.failed:
        raise _Omitted("incomplete" if record.error_code == "stream_incomplete" else "failed")
    if record.outcome != "complete":
        raise _Omitted("incomplete")
    if record.body_state != "stored":
        raise _Omitted("without bodies")
    if not _is_whole(record):
        raise _Omitted("incomplete")
    try:
        request, response = view.request(), view.response()
        outputs = response.outputs if response is not None else []
        if request is None:
            raise NotChat
        if len(outputs) != 1:
            raise _Omitted("with several responses" if outputs else "without a response")
        kinds = {part.kind for part in outputs[0].parts}
        if "refusal" in kinds:
            raise _Omitted("refused by the model")
        if not kinds & {"text", "audio", "tool_call"}:
            raise _Omitted("without a response")
        fields = to_chat(request)
        messages = [*fields.pop("messages"), response_message(outputs[0])]
    except BodyDamaged:
        raise _Omitted("without bodies") from None
    except NotChat:
        raise _Omitted("not expressible in chat format") from None
    return _encode(sanitize({"messages": messages} | fields)) + b"\n"


def _is_whole(record: Record) -> bool:
    if record.stream and record.stream_ended != "done":
        return False
    return finish_of(record.finish_reason) in (None, "tool_calls") and record.finish_reason not in _NOT_WHOLE
