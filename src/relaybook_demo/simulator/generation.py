"""Decide the text, reasoning, tool calls, finish reason and tokens of a response.

The result is deterministic and does not depend on the API. The module of each API writes the result in its
format. The rules that tests may rely on are in docs/reference/simulator.md.
"""

import json
import re
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from relaybook_demo.simulator import texts
from relaybook_demo.simulator.requests import ChatRequest, Message, Tool, last_user_text, text_of

_REASONING_PREFIXES = ("o1", "o3", "o4")
_CACHE_FROM_TOKENS = 1024
_CACHE_STEP_TOKENS = 128
#: Only this many characters of a prompt are searched for words that match a ``pattern`` in a schema.
_SEARCHED_CHARS = 1000
#: A sentence of a prompt that names a tool and its arguments.
_NAMED_CALL = re.compile(r"\bcall the tool (\S+) with (?=\{)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A function call by the model. ``arguments`` is JSON text."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Completion:
    """One choice of a response. ``tokens`` are the tokens of the text, without the arguments of tool calls."""

    tokens: tuple[str, ...]
    reasoning: tuple[str, ...]
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str

    @property
    def text(self) -> str:
        """The text of the response, without reasoning."""
        return "".join(self.tokens)

    @property
    def output_tokens(self) -> int:
        """The number of billed tokens: reasoning, text and arguments of tool calls."""
        arguments = sum(len(texts.split_tokens(call.arguments)) for call in self.tool_calls)
        return len(self.tokens) + len(self.reasoning) + arguments


@dataclass(frozen=True, slots=True)
class FixedTokens:
    """Tokens that a directive sets. They replace the tokens that the simulated model would return."""

    tokens: tuple[str, ...]


def is_reasoning_model(model: str) -> bool:
    """Return whether a model returns reasoning before its text."""
    return model.startswith(_REASONING_PREFIXES) or "reason" in model


def complete_chat(request: ChatRequest, index: int, fixed: FixedTokens | None = None) -> Completion:
    """Return choice number ``index`` in the response to a chat request."""
    reasoning = texts.split_tokens(texts.reasoning_text()) if is_reasoning_model(request.model or "") else ()
    calls = () if fixed else _tool_calls(request)
    if calls:
        return Completion((), reasoning, calls, "tool_calls")
    tokens = (
        fixed.tokens if fixed else texts.split_tokens(_truncate_at_stop(_response_text(request, index), request.stop))
    )
    limit = request.max_completion_tokens if request.max_completion_tokens is not None else request.max_tokens
    return _limit_tokens(tokens, reasoning, limit)


def complete_thinking(
    request: ChatRequest, thinks: bool, fixed: FixedTokens | None = None, index: int = 0
) -> Completion:
    """Return choice number ``index``, for APIs whose requests say whether the model thinks.

    The reasoning is never truncated, but it counts toward ``max_tokens``.
    """
    reasoning = texts.split_tokens(texts.reasoning_text()) if thinks else ()
    limit = None if request.max_tokens is None else max(0, request.max_tokens - len(reasoning))
    plain = msgspec.structs.replace(request, model=None, max_tokens=limit)
    return replace(complete_chat(plain, index, fixed), reasoning=reasoning)


def prompt_tokens(messages: list[Message]) -> int:
    """Estimate the number of prompt tokens.

    The estimate is the tokens of the texts, plus four tokens per message, plus three tokens for the start of the
    response.
    """
    return 3 + sum(4 + texts.count_tokens(text_of(message.content)) for message in messages)


def cached_tokens(input_tokens: int) -> int:
    """Return the number of cached tokens, as OpenAI counts them: 0 below 1024 tokens, then multiples of 128."""
    if input_tokens < _CACHE_FROM_TOKENS:
        return 0
    return input_tokens // _CACHE_STEP_TOKENS * _CACHE_STEP_TOKENS


def sample_value(schema: Any, text: str, prompt: str = "") -> Any:
    """Return a value that fits a JSON Schema.

    For an ``enum``, the result is the first value that the prompt contains, or else the first value. For a ``pattern``,
    the result is the first matching word of the prompt. For other strings, the result is ``text``.
    """
    if not isinstance(schema, dict):
        return text
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return next((value for value in schema["enum"] if str(value).lower() in prompt.lower()), schema["enum"][0])
    if schema.get("anyOf"):
        return sample_value(schema["anyOf"][0], text, prompt)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object":
        return {name: sample_value(inner, text, prompt) for name, inner in (schema.get("properties") or {}).items()}
    if kind == "array":
        return [sample_value(schema.get("items"), text, prompt)]
    if "pattern" in schema:
        text = _matching_word(str(schema["pattern"]), prompt) or text
    return {"integer": 1, "number": 1.5, "boolean": True, "null": None}.get(str(kind), text)


def _matching_word(pattern: str, prompt: str) -> str | None:
    try:
        matches = re.compile(pattern).search
    except re.error:
        return None
    return next((word for word in re.findall(r"\w+", prompt[:_SEARCHED_CHARS]) if matches(word)), None)


def _response_text(request: ChatRequest, index: int) -> str:
    prompt = last_user_text(request.messages)
    last = request.messages[-1] if request.messages else None
    if last is not None and last.role == "tool":
        result = text_of(last.content)
        text = texts.result_text(_parse_json(result)) or f"Here is what I found: {result}"
    else:
        text = texts.response_text(prompt, index)
    response_format = request.response_format
    if response_format is None or response_format.type == "text":
        return text
    schema = response_format.json_schema.schema if response_format.json_schema else None
    return _encode_json(sample_value(schema, text, prompt) if schema else {"answer": text})


def _truncate_at_stop(text: str, stop: str | list[str] | None) -> str:
    for sequence in [stop] if isinstance(stop, str) else stop or []:
        if sequence:
            text = text.partition(sequence)[0]
    return text


def _limit_tokens(tokens: tuple[str, ...], reasoning: tuple[str, ...], limit: int | None) -> Completion:
    if limit is None or limit >= len(reasoning) + len(tokens):
        return Completion(tokens, reasoning, (), "stop")
    return Completion(tokens[: max(0, limit - len(reasoning))], reasoning[:limit], (), "length")


def _tool_calls(request: ChatRequest) -> tuple[ToolCall, ...]:
    """Return a call of the tool that ``tool_choice`` names, or else of the first tool that matches the prompt.

    Two tools are called if ``tool_choice`` names no tool, parallel calls are allowed, and the prompt contains " and ".
    If ``tool_choice`` is ``required``, the tools need not match the prompt. If a message of the user names a call, only
    this call is made.
    """
    is_user_turn = bool(request.messages) and request.messages[-1].role == "user"
    if not is_user_turn or not request.tools or request.tool_choice == "none":
        return ()
    prompt = last_user_text(request.messages)
    tools = [tool for tool in request.tools if tool.function is not None]
    if request.tool_choice in (None, "auto") and any(map(_names_call, request.messages)):
        call = _named_call(prompt)
        return (call,) if call and call.name in {tool.function.name for tool in tools if tool.function} else ()
    chosen_name = _chosen_tool(request.tool_choice)
    if chosen_name is not None:
        tools = [tool for tool in tools if tool.function is not None and tool.function.name == chosen_name]
    elif request.tool_choice != "required":
        tools = [tool for tool in tools if _matches_prompt(tool, prompt)]
    parallel = chosen_name is None and request.parallel_tool_calls is not False and " and " in prompt
    return tuple(_call(tool, prompt) for tool in tools[: 2 if parallel else 1])


def _names_call(message: Message) -> bool:
    return message.role == "user" and _NAMED_CALL.search(text_of(message.content)) is not None


def _named_call(prompt: str) -> ToolCall | None:
    """Return the call that the prompt names. `None` if it names no call, or if the arguments are not a JSON object."""
    found = _NAMED_CALL.search(prompt)
    if found is None:
        return None
    try:
        arguments, _ = json.JSONDecoder().raw_decode(prompt, found.end())
    except (ValueError, RecursionError):
        return None
    return ToolCall(found[1], _encode_json(arguments))


def _matches_prompt(tool: Tool, prompt: str) -> bool:
    """Return whether the prompt has a matching word for every required parameter with a ``pattern``."""
    parameters = (tool.function.parameters if tool.function else None) or {}
    properties, required = parameters.get("properties"), parameters.get("required")
    if not isinstance(properties, dict) or not isinstance(required, list):
        return True
    schemas = [properties.get(name) for name in required if isinstance(name, str)]
    patterns = [str(schema["pattern"]) for schema in schemas if isinstance(schema, dict) and "pattern" in schema]
    return all(_matching_word(pattern, prompt) for pattern in patterns)


def _chosen_tool(choice: Any) -> str | None:
    function = choice.get("function") if isinstance(choice, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else None


def _call(tool: Tool, prompt: str) -> ToolCall:
    function = tool.function
    assert function is not None  # callers pass only tools with a function
    schema = {"type": "object", **(function.parameters or {})}
    return ToolCall(function.name, _encode_json(sample_value(schema, " ".join(prompt.split())[:80], prompt)))


def _parse_json(text: str) -> Any:
    """Return the value of a JSON text, or `None` if the text is not valid JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None


def _encode_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
