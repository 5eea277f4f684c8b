"""Derive previews from the model: one line that tells people what a request asked and what the response said."""

import re
from collections.abc import Sequence
from typing import Final

from relaybook.log.formats.conversation import Message, Output, Part, Response
from relaybook.log.formats.media import describe_media
from relaybook.log.formats.message_chain import is_from_assistant
from relaybook.log.formats.text import clean_or_none, preview
from relaybook.log.formats.tool_calls import is_client_call
from relaybook.log.formats.tool_results import looks_failed

#: Elements that agents add to what a person wrote, as a part or a piece of the user's message.
_ADDED: Final = (
    *("system-reminder", "environment_details", "environment_context", "user_instructions", "local-command-stdout"),
    *("command-message", "command-name", "command-args", "ide_selection", "ide_opened_file", "additional_data"),
    *(
        "session_context",
        "turn_aborted",
        "context",
        "workspace_info",
        "reminderInstructions",
        "editorContext",
        "INSTRUCTIONS",
    ),
)
#: Elements around what a person wrote.
_AROUND: Final = ("task", "user_query", "user_message", "userRequest", "feedback", "answer", "prompt")
_ADDED_ELEMENT: Final = re.compile(rf"<({'|'.join(map(re.escape, _ADDED))})(?:\s[^<>]{{0,200}})?>")
_SPACE: Final = re.compile(r"\s*+")
_AROUND_ELEMENT: Final = re.compile(rf"\s*<({'|'.join(_AROUND)})>(.*?)(?:</\1>|$)", re.DOTALL)
#: Only this much of a text is searched for what a person wrote.
_MAX_SEARCHED: Final = 100_000
#: Of more results, only the number is shown.
_MAX_RESULTS: Final = 2
#: Between the results of several tools, and between calls and text.
_BETWEEN: Final = " · "


def input_preview(messages: Sequence[Message]) -> str | None:
    """Return a preview of what is new in a request: what the user wrote last, or the results of tools after that.

    Elements that agents add, such as ``<system-reminder>``, are skipped. If there is no such text, the last message of
    any role with visible content is used, and then the added elements.
    """
    last = messages[-1] if messages else None
    if last is not None and last.role == "user" and (shown := _preview(last.parts, is_user=True)) is not None:
        return shown
    if (results := _results_preview(messages)) is not None:
        return results
    fallback = added = None
    for message in reversed(messages):
        is_user = message.role == "user"
        if not is_user and fallback is not None:
            continue
        shown = _preview(message.parts, is_user=is_user)
        if shown is not None and is_user:
            return shown
        fallback = fallback or shown
        if is_user and added is None:
            added = _preview(message.parts, is_user=False)
    return fallback or added


def _results_preview(messages: Sequence[Message]) -> str | None:
    """Return a preview of the results after the last response, such as ``read_file: 212 lines · grep: no output``.

    Of more than two results, the first two are shown, failed ones first.

    `None` if there are no results, or if the user has written something after the response.
    """
    results: list[tuple[Message, Part, bool]] = []
    names: dict[str, str] = {}
    is_before = False
    for message in reversed(messages):
        if is_from_assistant(message):
            if not results:
                return None
            is_before = True
            names |= {part.id: part.name for part in message.parts if part.id and part.name}
        elif is_before:
            break
        elif message.role == "user" and _preview(message.parts, is_user=True) is not None:
            return None
        else:
            found = [part for part in reversed(message.parts) if part.kind == "tool_result"]
            results += [(message, part, looks_failed(part, message.other)) for part in found]
    results.sort(key=lambda result: result[2])
    shown = [
        _result(message, part, part.name or names.get(part.id or "") or "tool", failed=failed)
        for message, part, failed in reversed(results[-_MAX_RESULTS:])
    ]
    more = [f"{len(results) - len(shown)} more"] if len(results) > len(shown) else []
    return preview(_BETWEEN.join((*shown, *more)))


def _result(message: Message, part: Part, name: str, *, failed: bool) -> str:
    text = (part.text or "").strip()
    media = [describe_media(each.kind, each.media) for each in message.parts if each.media is not None]
    if failed:
        return f"{name} failed: {preview(text.partition(chr(10))[0]) or 'no output'}"
    if "\n" in text:
        return f"{name}: {text.count(chr(10)) + 1:,} lines"
    return f"{name}: {preview(text) or ' '.join(media) or 'no output'}"


def texts_preview(messages: Sequence[Message]) -> str | None:
    """Return a preview of a list of texts, such as ``[3 texts] the first one``. Lists of token ids have no preview."""
    first = messages[0].parts if messages else []
    shown = _preview(first, is_user=False) if first and first[0].kind == "text" else None
    return shown if shown is None or len(messages) == 1 else preview(f"[{len(messages)} texts] {shown}")


def _preview(parts: Sequence[Part], *, is_user: bool) -> str | None:
    shown = []
    for part in parts:
        text = part.text if part.kind != "reasoning" and part.media is None else None
        if is_user and text is not None:
            text = written_by_person(text)
        if part.media is not None:
            text = describe_media(part.kind, part.media)
        elif part.kind == "other":
            text = None if part.type is None else part.text or f"[{part.type}]"
        if text and (one := preview(text)):
            shown.append(one)
    if len(shown) < 2:
        return shown[0] if shown else None
    return preview(" ".join(shown))


def written_by_person(text: str) -> str | None:
    """Return a text without the elements that agents add. `None` if nothing is left."""
    if "<" not in text[:_MAX_SEARCHED]:
        return text
    at = 0
    while (found := _ADDED_ELEMENT.match(text, _after_space(text, at))) is not None:
        end = text.find(f"</{found[1]}>", found.end())
        if end < 0:
            return None
        at = end + len(found[1]) + 3
    rest = text[at:]
    if (inner := _AROUND_ELEMENT.match(rest[:_MAX_SEARCHED])) is not None and inner[2].strip():
        return inner[2]
    if (later := _ADDED_ELEMENT.search(rest[:_MAX_SEARCHED])) is not None and rest[: later.start()].strip():
        return rest[: later.start()]
    return rest if rest.strip() else None


def _after_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return at if space is None else space.end()


def output_preview(response: Response) -> str | None:
    """Return a preview of the first output. `None` if it is empty.

    If the client must run a tool, the preview shows all tool calls, and the text after them. Otherwise, it shows the
    first of these that there is: text, transcript, refusal, media, tool calls, reasoning.
    """
    if not response.outputs:
        return None
    output = response.outputs[0]
    calls = " ".join(_call(part) for part in output.parts if part.kind == "tool_call")
    is_for_client = any(map(is_client_call, output.parts))
    for kind in ("text", "audio", "refusal"):
        if shown := preview("".join(texts_of(output, kind))):
            return preview(f"{calls}{_BETWEEN}{shown}") if is_for_client else shown
    if is_for_client:
        return preview(calls)
    described = [describe_media(part.kind, part.media) for part in output.parts if part.media is not None]
    for pieces in (described, [calls], texts_of(output, "reasoning"), texts_of(output, "other")):
        if shown := preview(" ".join(pieces)):
            return shown
    return None


def texts_of(output: Output, kind: str) -> list[str]:
    """Return the texts of all parts of a kind."""
    return [part.text for part in output.parts if part.kind == kind and part.text]


def _call(part: Part) -> str:
    return f"{part.name or '?'}({preview(part.arguments) or ''})"


def finish_reason(response: Response) -> str | None:
    """Return the finish reasons of all outputs. Different reasons are joined by commas."""
    reasons = dict.fromkeys(output.finish_reason for output in response.outputs if output.finish_reason)
    return clean_or_none(",".join(reasons))


def characters(response: Response) -> int:
    """Return the number of generated characters, to estimate tokens."""
    return sum(
        len(part.text or "") + len(part.name or "") + len(part.arguments or "")
        for output in response.outputs
        for part in output.parts
        if part.kind not in ("other", "tool_result")
    )
