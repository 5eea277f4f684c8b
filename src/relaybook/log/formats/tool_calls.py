"""Find the tool calls that a client runs, match them with their results, and say whether a result is an error.

A provider also runs tools of its own, such as a web search. Their calls and results are in one response, so their time
is part of the time of the model.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from relaybook.log.formats import lenient
from relaybook.log.formats.conversation import Message, Part

#: The types of calls that a client runs, besides calls without a type. Other calls are only calls of a client if a
#: request brings their result.
_CLIENT_TYPES: Final = frozenset(
    {"function", "custom", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call"}
)
#: Only results up to this size are parsed as JSON, to find out whether they are errors.
_MAX_PARSED: Final = 200_000
#: Fields whose value says that a tool failed, unless it is empty, and fields with an exit code.
_ERROR_FIELDS: Final = ("error", "errors", "is_error", "isError")
_EXIT_FIELDS: Final = ("exit_code", "exitCode", "returncode", "return_code")
#: Fields in which tools put their outcome, such as Codex's ``{"output": …, "metadata": {"exit_code": 1}}``.
_NESTED: Final = ("metadata", "outcome", "result", "response")
#: How texts of results begin that report an error. Codex puts the exit code into the first lines.
_ERROR_TEXT: Final = re.compile(
    r"\s*(?:<(?:tool_use_)?error>|error\b\s*[:-]|error executing|traceback \(most recent call last\)"
    r"|(?:[a-z_.]+)?(?:error|exception):\s"
    r"|(?:chunk id:.*\n)?(?:wall time:.*\n)?(?:process )?exit(?:ed with)?(?: status)? code:? (?!0\b)-?\d+)",
    re.IGNORECASE,
)


class ToolResult(NamedTuple):
    """The result of a tool call. ``message`` is the index of its message in the request that brings it."""

    message: int
    part: Part
    is_error: bool


def is_client_call(part: Part) -> bool:
    """Return whether a part is a call that the client runs, and not the provider."""
    return part.kind == "tool_call" and (part.type is None or part.type in _CLIENT_TYPES)


def match_results(
    calls: Sequence[Part], messages: Sequence[Message], start: int = 0, end: int | None = None
) -> list[ToolResult | None]:
    """Return the result of each call, or `None`, from the messages between two indexes.

    A result belongs to the first call without a result that has its id. A result without an id, as in Gemini and
    Ollama, belongs to the first such call with its name. A result with neither belongs to the first such call.
    """
    found: list[ToolResult | None] = [None] * len(calls)
    for index in range(start, len(messages) if end is None else min(end, len(messages))):
        message = messages[index]
        for part in message.parts:
            if part.kind == "tool_result" and (at := _call_of(part, calls, found)) is not None:
                found[at] = ToolResult(index, part, is_error_result(message, part))
    return found


def _call_of(result: Part, calls: Sequence[Part], found: Sequence[ToolResult | None]) -> int | None:
    for at, call in enumerate(calls):
        if found[at] is not None:
            continue
        if result.id and call.id:
            if result.id == call.id:
                return at
        elif result.name is None or result.name == call.name:
            return at
    return None


def is_error_result(message: Message, part: Part) -> bool:
    """Return whether the result of a tool looks like an error.

    A result looks like an error in these cases:

    - Its message or part has ``is_error`` (Anthropic), or the status ``failed`` or ``incomplete`` (Responses API).
    - It is a JSON object with a field ``error``, ``errors``, ``is_error`` or ``isError`` that is not empty or false,
      with ``"success": false``, or with an exit code other than 0. Objects in ``metadata``, ``outcome``, ``result``
      and ``response`` count, too.
    - It is a text that begins like an error: with ``Error:``, an exception, a traceback, or an exit code other than 0.
    """
    for fields in (message.other, part.other):
        if fields.get("is_error") is True or fields.get("status") in ("failed", "incomplete"):
            return True
    text = part.text
    if not text:
        return False
    if text.lstrip()[:1] == "{" and len(text) <= _MAX_PARSED:
        value = lenient.load(text.encode(errors="replace"))
        if lenient.is_object(value):
            return _is_error_object(value)
    return _ERROR_TEXT.match(text[:400]) is not None


def _is_error_object(value: dict[str, Any], *, is_nested: bool = False) -> bool:
    if any(value.get(name) not in (None, False, "", 0, [], {}, "false", "none", "None") for name in _ERROR_FIELDS):
        return True
    if value.get("success") is False:
        return True
    if any(isinstance(code := value.get(name), int) and code != 0 for name in _EXIT_FIELDS):
        return True
    nested = () if is_nested else (value.get(name) for name in _NESTED)
    return any(lenient.is_object(each) and _is_error_object(each, is_nested=True) for each in nested)


def calls_in(parts: Iterable[Part]) -> list[Part]:
    """Return all tool calls, in order, including those that the provider runs."""
    return [part for part in parts if part.kind == "tool_call"]
