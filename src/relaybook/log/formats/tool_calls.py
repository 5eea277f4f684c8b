"""Find the tool calls that a client runs, and match them with their results.

A provider also runs tools of its own, such as a web search. Their calls and results are in one response, so their time
is part of the time of the model.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from relaybook.log.formats.conversation import Message, Part
from relaybook.log.formats.tool_results import looks_failed

#: The types of calls that a client runs, besides calls without a type. Other calls are only calls of a client if a
#: request brings their result.
_CLIENT_TYPES: Final = frozenset(
    {"function", "custom", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call"}
)


class ToolResult(NamedTuple):
    """The result of a tool call. ``message`` is the index of its message in the request that brings it."""

    message: int
    part: Part
    failed: bool


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
                found[at] = ToolResult(index, part, looks_failed(part, message.other))
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


def calls_in(parts: Iterable[Part]) -> list[Part]:
    """Return all tool calls, in order, including those that the provider runs."""
    return [part for part in parts if part.kind == "tool_call"]
