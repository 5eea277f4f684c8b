"""Write conversations as fine-tuning lines such as ``{"messages": […], "tools": […]}``.

The response is the last message. Only requests with a complete, successful response are written. All other requests are
omitted and counted by reason.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec

from relaybook.log.finish_reasons import finish_of
from relaybook.log.formats import NotChat, response_message
from relaybook.log.record import Record
from relaybook.log.request_view import RequestView
from relaybook.log.store.errors import BodyDamaged

_CHAT_KINDS: Final = ("chat", "message", "response")
#: Finish reasons that ``finish_of`` does not know. A response with one of these reasons is incomplete.
_NOT_WHOLE: Final = ("incomplete", "failed", "cancelled", "pause_turn", "error")
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
    if record.kind not in _CHAT_KINDS:
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
        request, response = view.chat_request(), view.parsed_response()
        choices = (response or {}).get("choices") or []
        if len(choices) != 1:
            raise _Omitted("with several responses" if choices else "without a response")
        choice = choices[0]
        if choice["refusal"]:
            raise _Omitted("refused by the model")
        if not (choice["text"] or choice["tool_calls"]):
            raise _Omitted("without a response")
        messages = [*request.pop("messages"), response_message(choice)]
    except BodyDamaged:
        raise _Omitted("without bodies") from None
    except NotChat:
        raise _Omitted("not expressible in chat format") from None
    return _encode({"messages": messages} | request) + b"\n"


def _is_whole(record: Record) -> bool:
    if record.stream and record.stream_ended != "done":
        return False
    return finish_of(record.finish_reason) in (None, "tool_calls") and record.finish_reason not in _NOT_WHOLE
