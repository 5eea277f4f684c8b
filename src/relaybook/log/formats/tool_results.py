"""Connect the results of tools with their calls, and recognize results that look like errors.

APIs name the tool only in the call. A result has the id of its call, or in Gemini's API only the name of the function.
"""

import re
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Final

from relaybook.log.formats import lenient
from relaybook.log.formats.conversation import Message, Output, Part
from relaybook.log.formats.provider_errors import is_error

#: Fields that tell whether a result is an error, in the block of the API or in the JSON of the tool.
_FLAGS: Final = ("is_error", "isError")
_EXIT_CODES: Final = ("exit_code", "exitCode", "returncode", "return_code", "exit_status")
#: Where tools put their exit code (Codex, shell calls of the Responses API).
_NESTED: Final = ("metadata", "outcome")
#: Larger results are not parsed. Only their first and last lines are searched.
_MAX_JSON: Final = 1 << 20
_SEARCHED: Final = 2000
_SEARCHED_ITEMS: Final = 20
_BEGINS_AS_ERROR: Final = re.compile(
    r"\s*(?:<tool_use_error>|(?:Error|ERROR|error)\b[^\n:]{0,40}:|Traceback \(most recent"
    r"|[\w.]{0,80}(?:Error|Exception): )"
)
#: A line that says how a command ended, as the shell tools of agents write it.
_EXIT_LINE: Final = re.compile(
    r"(?im)^[\s\[(<]*(?:the )?(?:process |command )?"
    r"(?:(?:(?:exited|finished|completed|failed) with )?(?:exit[ _-]?(?:code|status)|returncode)|exited with code)"
    r"[>:= ]\s*(-?\d{1,10})\b"
)


def link_results(spoken: Sequence[Message | Output]) -> list[Part]:
    """Set ``call``, ``name`` and ``failed`` of all results of tools. Return the results whose call is not found."""
    by_id: dict[str, tuple[int, int]] = {}
    without_id: dict[str | None, deque[tuple[int, int]]] = {}
    missing = []
    for at, each in enumerate(spoken):
        for place, part in enumerate(each.parts):
            if part.kind == "tool_call":
                if part.id:
                    by_id[part.id] = (at, place)
                else:
                    without_id.setdefault(part.name, deque()).append((at, place))
            elif part.kind == "tool_result":
                part.failed = looks_failed(part, each.other) or None
                if part.id and part.id in by_id:
                    part.call = by_id[part.id]
                elif not part.id:
                    part.call = _take(without_id, part.name)
                if part.call is None:
                    missing.append(part)
                else:
                    called = spoken[part.call[0]].parts[part.call[1]]
                    part.name = part.name or called.name
    return missing


def _take(calls: dict[str | None, deque[tuple[int, int]]], name: str | None) -> tuple[int, int] | None:
    """Remove the first call of this name, or of any name if the result has none, and return where it is."""
    waiting = calls.get(name) if name is not None else min(filter(None, calls.values()), default=None)
    return waiting.popleft() if waiting else None


def add_calls(results: Iterable[Part], calls: Iterable[Part]) -> None:
    """Set name and arguments of results whose calls are not in the same body, but for example in a stored response."""
    by_id = {call.id: call for call in calls if call.kind == "tool_call" and call.id}
    for result in results:
        if (call := by_id.get(result.id or "")) is not None:
            result.name, result.arguments = result.name or call.name, call.arguments


def looks_failed(result: Part, of_message: dict[str, Any]) -> bool:
    """Return whether the result of a tool looks like an error.

    The API says so (``is_error``), or the result is JSON with an error, or it begins like an error message, or it has
    an exit code other than 0.
    """
    if _says_failed(result.other) or _says_failed(of_message):
        return True
    text = result.text or ""
    start = text[:_SEARCHED].lstrip()
    if start.startswith(("{", "[")) and len(text) <= _MAX_JSON:
        value = lenient.load(text.encode(errors="replace"))
        if isinstance(value, dict | list):
            return _is_failed_value(value)
    if _BEGINS_AS_ERROR.match(start):
        return True
    edges = text if len(text) <= 2 * _SEARCHED else f"{text[:_SEARCHED]}\n{text[-_SEARCHED:]}"
    lines = edges.split("\n")
    found = _EXIT_LINE.search("\n".join([*lines[:4], *lines[4:][-3:]]))
    return found is not None and int(found[1]) != 0


def _says_failed(fields: dict[str, Any]) -> bool:
    if any(fields.get(name) is True for name in _FLAGS) or fields.get("success") is False:
        return True
    if fields.get("status") in ("failed", "incomplete"):  # an output of the Responses API
        return True
    # Gemini's code execution.
    code = fields.get("codeExecutionResult")
    outcome = code.get("outcome") if isinstance(code, dict) else None
    return isinstance(outcome, str) and outcome not in ("OUTCOME_OK", "OUTCOME_UNSPECIFIED")


def _is_failed_value(value: dict[str, Any] | list[Any]) -> bool:
    if isinstance(value, list):
        return any(_exit_code(item) for item in value[:_SEARCHED_ITEMS] if isinstance(item, dict))
    return bool(_says_failed(value) or ("error" in value and is_error(value["error"])) or _exit_code(value))


def _exit_code(value: dict[str, Any]) -> int | None:
    """Return the exit code in a result. `None` if it has none."""
    for fields in (value, *(value[name] for name in _NESTED if isinstance(value.get(name), dict))):
        for name in _EXIT_CODES:
            if isinstance(code := fields.get(name), int):
                return code
    return None
