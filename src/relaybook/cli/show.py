"""``relaybook show``: prints one request, found by any id it carries."""

import json
from collections.abc import Iterator
from datetime import date
from typing import Any, Final

from relaybook.cli.failure import CommandFailed
from relaybook.cli.output import UNKNOWN, clock_time, cost, duration, escape, may_be_id, model, result, today, tokens
from relaybook.cli.source import open_log
from relaybook.settings.configuration import Configuration

_LABEL_WIDTH: Final = 12
_KEPT: Final = "\n\t"
_IDS: Final = {
    "id": "id",
    "provider_request_id": "provider id",
    "completion_id": "completion",
    "client_request_id": "client id",
    "trace_id": "trace",
}
_NOT_STORED: Final = {
    "no_bodies": "Not stored: this request was logged without bodies.",
    "expired": "No longer stored: the file of its bodies is gone.",
}


def transcript(detail: dict[str, Any], day: date) -> str:
    """The text of a request as GET /api/requests/{id} tells it; ends without a line break."""
    facts = [f"{label.ljust(_LABEL_WIDTH)}{escape(text)}" for label, text in _facts(detail, day) if text]
    return "\n".join([*facts, *_conversation(detail)])


def _facts(detail: dict[str, Any], day: date) -> Iterator[tuple[str, str]]:
    yield "result", " ".join(filter(None, (result(detail), _error(detail))))
    yield "namespace", detail["namespace"]
    yield "properties", _pairs(detail["properties"])
    answered = detail["response_model"]
    yield "model", model(detail) + (f" → {answered}" if answered and answered != model(detail) else "")
    yield "started", clock_time(detail["started_at"], day)
    yield "took", _timing(detail)
    yield "tokens", _tokens(detail)
    yield "cost", cost(detail)
    yield "request", f"{detail['method']} {detail['path']} to {detail['upstream']}, {detail['request_bytes']:,} bytes"
    yield "response", f"{detail['response_bytes']:,} bytes" + (", streamed" if detail["stream"] else "")
    yield "caller", ", ".join(filter(None, (detail["client_address"], detail["user_agent"], detail["user"])))
    yield "key", detail["key"] or ""
    yield "parameters", _pairs(detail.get("parameters") or {}, leave_out=("model",))
    for name, label in _IDS.items():
        yield label, detail[name] or ""
    for kind in ("warnings", "advice"):
        for note in detail[kind]:
            yield kind.removesuffix("s"), f"{note['code']}: {note['message']}"
    for other in detail.get("also") or []:
        yield "also", f"{other['id']}, {clock_time(other['started_at'], day)}"


def _error(detail: dict[str, Any]) -> str:
    if not detail.get("is_served", True):
        return (
            "no server runs on this log; what became of the request is in the journal, and recorded at the next start"
        )
    went_well = detail["outcome"] in ("open", "complete", "client_closed") and not detail["failed"]
    reason = None if went_well else detail.get("reason")
    return ": ".join(filter(None, (detail["error_code"], detail["error_message"] or reason)))


def _timing(detail: dict[str, Any]) -> str:
    parts = [duration(detail)]
    if detail["first_token_ms"] is not None:
        parts.append(f"first token after {detail['first_token_ms'] / 1000:.2f} s")
    if detail["chunks"] > 1:
        parts.append(f"{detail['chunks']:,} pieces")
    return ", ".join(parts)


def _tokens(detail: dict[str, Any]) -> str:
    more = [f"{detail[f'{name}_tokens']:,} {name}" for name in ("cached", "reasoning") if detail[f"{name}_tokens"]]
    return tokens(detail) + (f" ({', '.join(more)})" if more else "")


def _pairs(values: dict[str, Any], leave_out: tuple[str, ...] = ()) -> str:
    shown = ((name, value if isinstance(value, str) else json.dumps(value)) for name, value in values.items())
    return "  ".join(f"{name}={_short(value)}" for name, value in shown if name not in leave_out)


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:119] + "…"


def _conversation(detail: dict[str, Any]) -> Iterator[str]:
    if detail["body_state"] in _NOT_STORED:
        yield from ("", _NOT_STORED[detail["body_state"]])
        return
    for message in detail.get("messages") or []:
        yield from _output_text(message["role"] or UNKNOWN, _message_lines(message))
    choices = (detail.get("answer") or {}).get("choices") or []
    for choice in choices:
        which = f" {choice['index'] + 1} of {len(choices)}" if len(choices) > 1 else ""
        yield from _output_text(f"answer{which} ({choice['finish_reason'] or 'not finished'})", _choice_lines(choice))


def _output_text(who: str, texts: Iterator[str]) -> Iterator[str]:
    yield from ("", f"── {escape(who)}")
    for text in texts:
        yield from ("   " + line for line in escape(text, keep=_KEPT).split("\n"))


def _message_lines(message: dict[str, Any]) -> Iterator[str]:
    if message["text"]:
        yield message["text"]
    for part in message["parts"]:
        if not part["text"]:
            yield f"[{part['type'] or 'part'}]"
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield f"ƒ {function.get('name')}({function.get('arguments')})"


def _choice_lines(choice: dict[str, Any]) -> Iterator[str]:
    if choice["reasoning"]:
        yield f"(thought) {choice['reasoning']}"
    for name in ("text", "refusal"):
        if choice[name]:
            yield choice[name]
    for call in choice["tool_calls"]:
        yield f"ƒ {call['name']}({call['arguments']})"


def show(configuration: Configuration, any_id: str, *, as_json: bool = False) -> int:
    """Ours first, else the newest that carries the id as the provider's, completion's or client's."""
    detail = open_log(configuration).find(any_id) if may_be_id(any_id) else None
    if detail is None:
        raise CommandFailed(
            f"No request in the log has the id {escape(any_id[:80])}: not as ours, nor as the provider's, completion's "
            "or client's. relaybook tail --ids tells those of the latest requests."
        )
    print(json.dumps(detail) if as_json else transcript(detail, today()))
    return 0
