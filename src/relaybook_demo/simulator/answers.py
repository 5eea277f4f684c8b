"""Decides what a chat request is answered with: text, reasoning, tool calls, finish reason, tokens.

Deterministic, and free of formats: ``completions`` and ``responses`` write what is decided here. The rules that a test
may rely on are in docs/reference/simulator.md.
"""

import re
from dataclasses import dataclass
from typing import Any

import msgspec

from relaybook_demo.simulator import texts
from relaybook_demo.simulator.requests import ChatRequest, Message, Tool, last_user_text, text_of

_REASONING_PREFIXES = ("o1", "o3", "o4")
_CACHE_FROM_TOKENS = 1024
_CACHE_STEP_TOKENS = 128
#: How much of a question is searched for the words that a schema asks for.
_READ = 1000


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A function the model wants called; ``arguments`` is JSON text."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One choice. ``tokens`` joined are the text; the pieces of ``arguments`` are not among them."""

    tokens: tuple[str, ...]
    reasoning: tuple[str, ...]
    tool_calls: tuple[ToolCall, ...]
    finish_reason: str

    @property
    def text(self) -> str:
        """The visible text."""
        return "".join(self.tokens)

    @property
    def output_tokens(self) -> int:
        """All that is billed: reasoning, text and arguments."""
        arguments = sum(len(texts.split_tokens(call.arguments)) for call in self.tool_calls)
        return len(self.tokens) + len(self.reasoning) + arguments


@dataclass(frozen=True, slots=True)
class Fixed:
    """Tokens that a test chose instead of the model's own."""

    tokens: tuple[str, ...]


def reasons(model: str) -> bool:
    """Whether a model thinks aloud before it answers."""
    return model.startswith(_REASONING_PREFIXES) or "reason" in model


def answer_chat(request: ChatRequest, index: int, fixed: Fixed | None = None) -> Answer:
    """Choice ``index`` of the answer to a chat request."""
    reasoning = texts.split_tokens(texts.reasoning_text()) if reasons(request.model or "") else ()
    calls = () if fixed else _tool_calls(request)
    if calls:
        return Answer((), reasoning, calls, "tool_calls")
    tokens = fixed.tokens if fixed else texts.split_tokens(_stopped(_text(request, index), request.stop))
    limit = request.max_completion_tokens if request.max_completion_tokens is not None else request.max_tokens
    return _limited(tokens, reasoning, limit)


def answer_prompt(prompt: str, model: str, limit: int | None, fixed: Fixed | None = None) -> Answer:
    """The answer to a bare prompt, as the responses interface sends it."""
    reasoning = texts.split_tokens(texts.reasoning_text()) if reasons(model) else ()
    return _limited(fixed.tokens if fixed else texts.split_tokens(texts.answer_text(prompt)), reasoning, limit)


def prompt_tokens(messages: list[Message]) -> int:
    """An estimate: the text, four per message, three for the answer's start."""
    return 3 + sum(4 + texts.count_tokens(text_of(message.content)) for message in messages)


def cached_tokens(input_tokens: int) -> int:
    """As the provider caches: nothing below 1024 tokens, above that whole steps of 128."""
    if input_tokens < _CACHE_FROM_TOKENS:
        return 0
    return input_tokens // _CACHE_STEP_TOKENS * _CACHE_STEP_TOKENS


def sample(schema: Any, text: str, question: str = "") -> Any:
    """A value that fits a JSON Schema: of an ``enum`` what the question names, for a ``pattern`` a word of it.

    Other strings get ``text``.
    """
    if not isinstance(schema, dict):
        return text
    for known in ("const", "default"):
        if known in schema:
            return schema[known]
    if schema.get("enum"):
        return next((value for value in schema["enum"] if str(value).lower() in question.lower()), schema["enum"][0])
    if schema.get("anyOf"):
        return sample(schema["anyOf"][0], text, question)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object":
        return {name: sample(inner, text, question) for name, inner in (schema.get("properties") or {}).items()}
    if kind == "array":
        return [sample(schema.get("items"), text, question)]
    if "pattern" in schema:
        text = _word_like(str(schema["pattern"]), question) or text
    return {"integer": 1, "number": 1.5, "boolean": True, "null": None}.get(str(kind), text)


def _word_like(pattern: str, question: str) -> str | None:
    try:
        fits = re.compile(pattern).search
    except re.error:
        return None
    return next((word for word in re.findall(r"\w+", question[:_READ]) if fits(word)), None)


def _text(request: ChatRequest, index: int) -> str:
    prompt = last_user_text(request.messages)
    last = request.messages[-1] if request.messages else None
    if last is not None and last.role == "tool":
        found = text_of(last.content)
        text = texts.result_text(_parsed(found)) or f"Here is what I found: {found}"
    else:
        text = texts.answer_text(prompt, index)
    wanted = request.response_format
    if wanted is None or wanted.type == "text":
        return text
    schema = wanted.json_schema.schema if wanted.json_schema else None
    return _json(sample(schema, text, prompt) if schema else {"answer": text})


def _stopped(text: str, stop: str | list[str] | None) -> str:
    for sequence in [stop] if isinstance(stop, str) else stop or []:
        if sequence:
            text = text.partition(sequence)[0]
    return text


def _limited(tokens: tuple[str, ...], reasoning: tuple[str, ...], limit: int | None) -> Answer:
    if limit is None or limit >= len(reasoning) + len(tokens):
        return Answer(tokens, reasoning, (), "stop")
    return Answer(tokens[: max(0, limit - len(reasoning))], reasoning[:limit], (), "length")


def _tool_calls(request: ChatRequest) -> tuple[ToolCall, ...]:
    """The first tool, or the one that ``tool_choice`` names; two tools for a question with an " and "."""
    asked = bool(request.messages) and request.messages[-1].role == "user"
    if not asked or not request.tools or request.tool_choice == "none":
        return ()
    prompt = last_user_text(request.messages)
    tools = [tool for tool in request.tools if tool.function is not None]
    wanted = _chosen_name(request.tool_choice)
    if wanted is not None:
        tools = [tool for tool in tools if tool.function is not None and tool.function.name == wanted]
    elif request.tool_choice != "required":
        tools = [tool for tool in tools if _is_asked_for(tool, prompt)]
    parallel = wanted is None and request.parallel_tool_calls is not False and " and " in prompt
    return tuple(_call(tool, prompt) for tool in tools[: 2 if parallel else 1])


def _is_asked_for(tool: Tool, prompt: str) -> bool:
    """Whether the question has a word for every required parameter with a ``pattern``."""
    parameters = (tool.function.parameters if tool.function else None) or {}
    properties, required = parameters.get("properties"), parameters.get("required")
    if not isinstance(properties, dict) or not isinstance(required, list):
        return True
    schemas = [properties.get(name) for name in required if isinstance(name, str)]
    patterns = [str(schema["pattern"]) for schema in schemas if isinstance(schema, dict) and "pattern" in schema]
    return all(_word_like(pattern, prompt) for pattern in patterns)


def _chosen_name(choice: Any) -> str | None:
    function = choice.get("function") if isinstance(choice, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return name if isinstance(name, str) else None


def _call(tool: Tool, prompt: str) -> ToolCall:
    function = tool.function
    assert function is not None  # callers keep only tools with a function
    schema = {"type": "object", **(function.parameters or {})}
    return ToolCall(function.name, _json(sample(schema, " ".join(prompt.split())[:80], prompt)))


def _parsed(text: str) -> Any:
    """The value of a JSON text; None for anything else."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
