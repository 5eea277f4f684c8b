"""``relaybook show``: print one request, found by any of its ids."""

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

import msgspec

from relaybook.cli.cache_text import cache_line, cache_text
from relaybook.cli.failure import CommandFailed
from relaybook.cli.output import UNKNOWN, cost, duration, escape, local_time, model, result, route, tokens
from relaybook.cli.source import open_log
from relaybook.cli.terms import lag_hint
from relaybook.log.descriptions import COST_REASONS, FIELDS
from relaybook.log.formats.conversation import Message, Part, Response
from relaybook.log.formats.media import describe_media
from relaybook.log.record import NOTE_FIELDS
from relaybook.settings.configuration import Configuration
from relaybook.settings.definitions import is_utf8

_LABEL_WIDTH: Final = 12
_KEEP: Final = "\n\t"
_IDS: Final = {
    "id": "id",
    "provider_request_id": "provider id",
    "completion_id": "completion",
    "client_request_id": "client id",
    "trace_id": "trace",
}
_NOT_STORED: Final = {
    "no_bodies": "Not stored, because this request was logged without bodies.",
    "expired": "No longer stored, because the content of this request has expired (settings keep_bodies_days and "
    "disk_budget).",
}


def transcript(detail: dict[str, Any], report: dict[str, Any] | None = None) -> str:
    """Format a request's detail (see ``GET /api/requests/{id}``) as text, without a final newline.

    ``report`` says what was read from the provider's cache (see ``GET /api/requests/{id}/cache``).
    """
    fields = [f"{label.ljust(_LABEL_WIDTH)}{escape(text)}" for label, text in _fields(detail, report) if text]
    return "\n".join([*fields, *_conversation(detail)])


def _fields(detail: dict[str, Any], report: dict[str, Any] | None) -> Iterator[tuple[str, str]]:
    yield "result", _result(detail)
    yield "namespace", detail["namespace"]
    yield "properties", _pairs(detail["properties"])
    response_model = detail["response_model"]
    yield (
        "model",
        model(detail) + (f" → {response_model}" if response_model and response_model != model(detail) else ""),
    )
    yield "started", local_time(detail["started_at"])
    yield "duration", _timing(detail)
    yield "tokens", _tokens(detail)
    yield "cost", _cost(detail)
    yield "cache", "" if report is None else cache_line(report)
    yield "route", route(detail) or ""
    yield "request", f"{detail['method']} {detail['path']} to {detail['upstream']}, {detail['request_bytes']:,} bytes"
    yield "response", _response(detail)
    yield "client", ", ".join(filter(None, (detail["client_address"], detail["user_agent"], detail["user"])))
    yield "session", detail["session"] or ""
    yield "key", detail["key"] or ""
    yield "parameters", _pairs(detail.get("parameters") or {}, exclude=("model",))
    for name, label in _IDS.items():
        yield label, detail[name] or ""
    for name, field in NOTE_FIELDS.items():
        for note in detail[field]:
            yield name, f"{note['code']}: {note['message']}"
    for feedback in detail["feedback"]:
        yield "feedback", _feedback(feedback)
    attempts = detail.get("attempts") or []
    for number, attempt in enumerate(attempts, 1):
        mine = " (this request)" if attempt["id"] == detail["id"] else ""
        yield (
            "attempt",
            f"{number} of {len(attempts)}: {attempt['result']['text']}, {attempt['id']}{mine}",
        )
    for other in detail.get("also") or []:
        yield "also", f"{other['id']}, {local_time(other['started_at'])}"


def _result(detail: dict[str, Any]) -> str:
    if not detail.get("is_served", True):
        return (
            f"{result(detail)}: no server is running on this log. The outcome is in the journal and will be recorded "
            "when a server starts."
        )
    is_success = detail["outcome"] in ("open", "complete", "client_closed") and not detail["failed"]
    reason = None if is_success else detail.get("reason")
    code = ", ".join(filter(None, (result(detail), detail["error_code"])))
    return ": ".join(filter(None, (code, detail["error_message"] or reason)))


def _timing(detail: dict[str, Any]) -> str:
    parts = [duration(detail)]
    if detail["first_token_ms"] is not None:
        parts.append(f"first token after {detail['first_token_ms'] / 1000:.2f} s")
    if detail["chunks"] > 1:
        parts.append(f"{detail['chunks']:,} chunks")
    return ", ".join(parts)


def _tokens(detail: dict[str, Any]) -> str:
    parts = [f"{detail[f'{name}_tokens']:,} {name}" for name in ("cached", "reasoning") if detail[f"{name}_tokens"]]
    return tokens(detail) + (f" ({', '.join(parts)})" if parts else "")


def _cost(detail: dict[str, Any]) -> str:
    """Return the cost, and if it is unknown, the reason in words."""
    reason = detail["cost_reason"]
    return cost(detail) if reason is None else f"{cost(detail)} ({reason}: {COST_REASONS.get(reason, '')})"


def _response(detail: dict[str, Any]) -> str:
    """Return the size of the response, whether it was streamed, and how the stream ended if it has no end marker."""
    stream_end = detail["stream_ended"]
    parts = [f"{detail['response_bytes']:,} bytes"]
    if detail["stream"]:
        parts.append("streamed")
    if stream_end not in (None, "done"):
        parts.append(FIELDS["stream_ended"].choices[stream_end])
    return ", ".join(parts)


def _pairs(values: dict[str, Any], exclude: tuple[str, ...] = ()) -> str:
    shown = ((name, value if isinstance(value, str) else json.dumps(value)) for name, value in values.items())
    return "  ".join(f"{name}={_short(value)}" for name, value in shown if name not in exclude)


def _feedback(feedback: dict[str, Any]) -> str:
    score = None if feedback["score"] is None else f"score {feedback['score']:.15g}"
    parts = ", ".join(filter(None, (score, feedback["label"], feedback["comment"])))
    return f"{feedback['source']}: {parts}"


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:119] + "…"


def _conversation(detail: dict[str, Any]) -> Iterator[str]:
    if detail["body_state"] in _NOT_STORED:
        yield from ("", _NOT_STORED[detail["body_state"]])
        return
    if detail.get("damage"):
        yield from ("", f"The content cannot be read: {detail['damage']}")
    for message in msgspec.convert(detail["messages"] or [], list[Message]):
        yield from _section(_title(message), _message_lines(message))
    response = msgspec.convert(detail["response"] or {}, Response)
    is_cut = detail["outcome"] == "open" or response.ending in ("no_done", "cut")
    for position, output in enumerate(response.outputs, 1):
        number = f" {position} of {len(response.outputs)}" if len(response.outputs) > 1 else ""
        end = output.finish_reason or ("not finished" if is_cut else "")
        yield from _section(f"response{number}{f' ({end})' if end else ''}", _part_lines(output.parts, is_joined=True))


def _section(title: str, texts: Iterator[str]) -> Iterator[str]:
    yield from ("", f"── {escape(title)}")
    for text in texts:
        yield from ("   " + line for line in escape(text, keep=_KEEP).split("\n"))


def _title(message: Message) -> str:
    """Return the role, or the type of an item that is not a message, such as ``shell_call``.

    The title of a tool's result has the name of the tool.
    """
    part = message.parts[0] if message.parts else None
    if part is not None and part.kind == "tool_result" and part.name:
        return f"{part.name} → result{' ✗ error' if part.failed else ''}"
    return message.role or next((part.type for part in message.parts if part.type), None) or UNKNOWN


def _message_lines(message: Message) -> Iterator[str]:
    if message.role is None:
        for part in message.parts:
            yield part.text or _pairs(part.other)
    else:
        yield from _part_lines(message.parts, is_joined=message.role == "assistant")


def _part_lines(parts: list[Part], *, is_joined: bool) -> Iterator[str]:
    """Yield the texts of parts. With ``is_joined``, adjacent texts are one text.

    Providers split a sentence of the model into several parts to attach citations.
    """
    for is_text, group in groupby(parts, lambda part: part.kind == "text"):
        texts = [text for part in group for text in _texts(part) if text]
        yield from filter(None, ["".join(texts)] if is_text and is_joined else texts)


def _texts(part: Part) -> Iterator[str | None]:
    match part.kind:
        case "reasoning" | "refusal":
            yield f"({part.kind}) {part.text}" if part.text else f"[{part.kind}]"
        case "tool_call":
            yield f"ƒ {part.name or UNKNOWN}({part.arguments or ''})"
        case "image" | "audio" | "video" | "file":
            yield describe_media(part.kind, part.media)
            yield part.text
        case "other" if not part.text:
            yield " ".join(filter(None, (f"[{part.type or part.kind}]", _pairs(part.other))))
        case _:
            yield part.text


def show(configuration: Configuration, any_id: str, *, as_json: bool = False, only_cache: bool = False) -> int:
    """Print the request with this Relaybook id, or else the newest request with this foreign id.

    Foreign ids are provider request ids, completion ids and client request ids. With ``only_cache``, print what was
    read from the provider's cache instead. Raises CommandFailed if no request has the id.
    """
    log = open_log(configuration)
    detail = log.find(any_id) if is_utf8(any_id) else None
    if detail is None:
        raise CommandFailed(
            f"No request in the log has the id {escape(any_id[:80])}.{lag_hint(log)} "
            "relaybook tail --ids prints the ids of the latest requests."
        )
    if only_cache:
        report = log.cache(detail["id"])
        print(json.dumps(report) if as_json else cache_text(report))
    else:
        print(json.dumps(detail) if as_json else transcript(detail, log.cache(detail["id"])))
    return 0
