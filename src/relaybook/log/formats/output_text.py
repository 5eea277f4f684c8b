"""Puts together what the model said, choice by choice, from a whole answer or from its chunks."""

from typing import Any, Final

import msgspec

from relaybook.log.formats import lenient
from relaybook.log.formats.wire import Answer, Choice, Function, Said, ToolCall

_NOTHING: Final = Said()


class Tool:
    """One tool call; ``arguments`` arrive in pieces."""

    __slots__ = ("arguments", "id", "name", "type")

    def __init__(self) -> None:
        self.id: str | None = None
        self.type: str | None = None
        self.name: str | None = None
        self.arguments: list[str] = []


class OutputText:
    """What one choice has said so far."""

    __slots__ = ("_by_index", "finish_reason", "reasoning", "refusal", "text", "tools", "transcript")

    def __init__(self) -> None:
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.refusal: list[str] = []
        self.transcript: list[str] = []
        self.tools: list[Tool] = []
        self.finish_reason: str | None = None
        self._by_index: dict[int, Tool] = {}

    def add(self, choice: Choice) -> None:
        """Takes in one choice of a whole answer or of a chunk."""
        said = choice.delta or choice.message or _NOTHING
        content = said.content
        if content:
            if isinstance(content, str):
                self.text.append(content)
            else:
                text, thinking = split_parts(content)
                self.text.append(text)
                self.reasoning.append(thinking)
        reasoning = said.reasoning_content or said.reasoning
        if reasoning:
            self.reasoning.append(reasoning)
        if said.tool_calls:
            self._add_calls(said.tool_calls, is_whole=choice.delta is None)
        if choice.finish_reason:
            self.finish_reason = choice.finish_reason
        if said.refusal or said.audio or said.function_call or choice.text:
            self._add_rare(choice, said)

    def characters(self) -> int:
        """Characters the model generated, for an estimate of its tokens."""
        total = 0
        for pieces in (self.text, self.reasoning, self.refusal, self.transcript):
            if pieces:
                total += sum(map(len, pieces))
        for tool in self.tools:
            total += len(tool.name or "") + sum(map(len, tool.arguments))
        return total

    def _add_rare(self, choice: Choice, said: Said) -> None:
        if said.refusal:
            self.refusal.append(said.refusal)
        if choice.text:
            self.text.append(choice.text)
        if said.audio and said.audio.transcript:
            self.transcript.append(said.audio.transcript)
        if said.function_call:
            self._add_calls([ToolCall(index=-1, type="function", function=said.function_call)], is_whole=False)

    def _add_calls(self, calls: list[ToolCall], *, is_whole: bool) -> None:
        for call in calls:
            tool = self._tool_for(call, len(self.tools) if is_whole else call.index)
            tool.id = tool.id or call.id
            tool.type = tool.type or call.type
            function = call.function or call.custom
            if function:
                tool.name = tool.name or function.name
                arguments = arguments_text(function)
                if arguments:
                    tool.arguments.append(arguments)

    def _tool_for(self, call: ToolCall, index: int | None) -> Tool:
        """The call this piece belongs to. Some providers leave out ``index`` or give every call 0: ids tell then."""
        tool = self._by_index.get(index) if index is not None else (self.tools[-1] if self.tools else None)
        if (
            tool is None
            or (call.id and tool.id and call.id != tool.id)
            or (index is None and _is_named_anew(call, tool))
        ):
            tool = Tool()
            self.tools.append(tool)
        if index is not None:
            self._by_index[index] = tool
        return tool


def _is_named_anew(call: ToolCall, tool: Tool) -> bool:
    function = call.function or call.custom
    return not call.id and bool(tool.name and function and function.name)


def arguments_text(function: Function) -> str | None:
    """The arguments as JSON text, also from providers that send an object."""
    arguments = function.arguments
    if isinstance(arguments, dict):
        return msgspec.json.encode(lenient.tidy(arguments)).decode()
    return arguments or function.input


def split_parts(parts: list[Any]) -> tuple[str, str]:
    """Text and reasoning of an answer whose content is a list of parts (Mistral's thinking models)."""
    text: list[str] = []
    thinking: list[str] = []
    for part in parts:
        if isinstance(part, str):
            text.append(part)
        elif isinstance(part, dict):
            inner = part.get("thinking")
            if isinstance(inner, list):
                thinking.append("".join(split_parts(inner)))
            elif isinstance(inner, str):
                thinking.append(inner)
            elif isinstance(part.get("text"), str):
                text.append(part["text"])
    return "".join(text), "".join(thinking)


def carries_token(piece: Answer) -> bool:
    """Whether a chunk brings anything the model generated (its role, an end or usage are not that)."""
    for choice in piece.choices or ():
        output_text = OutputText()
        output_text.add(choice)
        if (
            any(output_text.text)
            or any(output_text.reasoning)
            or output_text.refusal
            or output_text.tools
            or output_text.transcript
        ):
            return True
    return False
