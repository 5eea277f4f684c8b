"""Collect the model's output for each choice from a whole response or from the chunks of a stream."""

from typing import Any, Final

import msgspec

from relaybook.log.formats import lenient
from relaybook.log.formats.text import preview
from relaybook.log.formats.wire import AssistantMessage, ChatResponse, Choice, Function, ToolCall

_EMPTY: Final = AssistantMessage()


class Tool:
    """One tool call. ``arguments`` has the parts in which the arguments arrived."""

    __slots__ = ("arguments", "id", "name", "type")

    def __init__(self) -> None:
        self.id: str | None = None
        self.type: str | None = None
        self.name: str | None = None
        self.arguments: list[str] = []


class OutputText:
    """The output of one choice so far: text, reasoning, refusal, transcript and tool calls.

    ``unnamed_tools`` has the calls of tools without a name, such as ``web_search_call`` (Responses API). These calls
    are only shown.
    """

    __slots__ = ("_by_index", "finish_reason", "reasoning", "refusal", "text", "tools", "transcript", "unnamed_tools")

    def __init__(self) -> None:
        self.text: list[str] = []
        self.reasoning: list[str] = []
        self.refusal: list[str] = []
        self.transcript: list[str] = []
        self.tools: list[Tool] = []
        self.unnamed_tools: list[Tool] = []
        self.finish_reason: str | None = None
        self._by_index: dict[int, Tool] = {}

    def add(self, choice: Choice) -> None:
        """Add a choice of a whole response or of a chunk."""
        message = choice.delta or choice.message or _EMPTY
        content = message.content
        if content:
            if isinstance(content, str):
                self.text.append(content)
            else:
                text, thinking = split_parts(content)
                self.text.append(text)
                self.reasoning.append(thinking)
        reasoning = message.reasoning_content or message.reasoning
        if reasoning:
            self.reasoning.append(reasoning)
        if message.tool_calls:
            self._add_calls(message.tool_calls, is_whole=choice.delta is None)
        if choice.finish_reason:
            self.finish_reason = choice.finish_reason
        if choice.text and not content:  # Together repeats the content of a delta in ``text``
            self.text.append(choice.text)
        if message.refusal or message.audio or message.function_call:
            self._add_other(message)

    def characters(self) -> int:
        """Return the number of generated characters, to estimate tokens."""
        total = 0
        for chunks in (self.text, self.reasoning, self.refusal, self.transcript):
            if chunks:
                total += sum(map(len, chunks))
        for tool in self.tools:
            total += len(tool.name or "") + sum(map(len, tool.arguments))
        return total

    def _add_other(self, message: AssistantMessage) -> None:
        if message.refusal:
            self.refusal.append(message.refusal)
        if message.audio and message.audio.transcript:
            self.transcript.append(message.audio.transcript)
        if message.function_call:
            self._add_calls([ToolCall(index=-1, type="function", function=message.function_call)], is_whole=False)

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
        """Return the tool call that the delta ``call`` belongs to. A new tool call is added to ``tools``.

        Some providers omit ``index`` or send 0 for every call. In this case, ids distinguish the calls. Calls without
        ids are distinguished by name.
        """
        tool = self._by_index.get(index) if index is not None else (self.tools[-1] if self.tools else None)
        if (
            tool is None
            or (call.id and tool.id and call.id != tool.id)
            or _starts_new_call(call, tool, has_index=index is not None)
        ):
            tool = Tool()
            self.tools.append(tool)
        if index is not None:
            self._by_index[index] = tool
        return tool


def _starts_new_call(call: ToolCall, tool: Tool, *, has_index: bool) -> bool:
    """Return whether a delta without an id starts a new call.

    Without an index, a delta with a name starts a new call. With an index, only a delta with a different name starts a
    new call, because some providers repeat the call's name in each delta.
    """
    function = call.function or call.custom
    if call.id or not tool.name or not function or not function.name:
        return False
    return not has_index or function.name != tool.name


def arguments_text(function: Function) -> str | None:
    """Return the arguments as JSON text, even if the provider sends an object. `None` if there are no arguments."""
    arguments = function.arguments
    if isinstance(arguments, dict):
        return msgspec.json.encode(lenient.sanitize(arguments)).decode()
    return arguments or function.input


def split_parts(parts: list[Any]) -> tuple[str, str]:
    """Return the text and the reasoning of content that is a list of parts (Mistral's thinking models)."""
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


def has_token(chunk: ChatResponse) -> bool:
    """Return whether a chunk has generated output. A role, a finish reason and usage do not count as output."""
    for choice in chunk.choices or ():
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


def output_preview(output_text: OutputText) -> str | None:
    """Return a preview of the output. `None` if the output is empty.

    The preview shows the first of these that is not empty: text, transcript, refusal, tool calls, reasoning.
    """
    for chunks in (output_text.text, output_text.transcript, output_text.refusal):
        if chunks and (shown := preview("".join(chunks))):
            return shown
    if tools := output_text.tools + output_text.unnamed_tools:
        return preview(" ".join(map(_call_preview, tools)))
    return preview("".join(output_text.reasoning))


def _call_preview(tool: Tool) -> str:
    return f"ƒ {tool.name or '?'}({preview(''.join(tool.arguments)) or ''})"
