"""The parts of an OpenAI request that a simulated answer depends on.

Only what is read is declared; every other parameter is accepted, as a provider with newer parameters would.
"""

from typing import Any

import msgspec


class ContentPart(msgspec.Struct):
    """One part of a message; parts that are not text are counted as nothing."""

    type: str = ""
    text: str | None = None


class Message(msgspec.Struct):
    """One message of a chat, or one input item of a response."""

    role: str = ""
    content: str | list[ContentPart] | None = None


class Function(msgspec.Struct):
    """A function that a tool call can name."""

    name: str
    parameters: dict[str, Any] | None = None


class Tool(msgspec.Struct):
    """A tool; only functions are called."""

    type: str = "function"
    function: Function | None = None


class JsonSchema(msgspec.Struct):
    """The schema of a structured answer."""

    schema: dict[str, Any] | None = None


class ResponseFormat(msgspec.Struct):
    """``text``, ``json_object`` or ``json_schema``."""

    type: str = "text"
    json_schema: JsonSchema | None = None


class StreamOptions(msgspec.Struct):
    """Options of a streamed answer."""

    include_usage: bool = False


class ChatRequest(msgspec.Struct):
    """``POST /v1/chat/completions``."""

    messages: list[Message]
    model: str | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    stop: str | list[str] | None = None
    tools: list[Tool] | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    metadata: dict[str, Any] | None = None


class ResponsesRequest(msgspec.Struct):
    """``POST /v1/responses``."""

    input: str | list[Message]
    model: str | None = None
    stream: bool | None = None
    max_output_tokens: int | None = None
    metadata: dict[str, Any] | None = None


class EmbeddingsRequest(msgspec.Struct):
    """``POST /v1/embeddings``; token ids are accepted and counted."""

    input: str | list[Any]
    model: str | None = None
    dimensions: int | None = None
    encoding_format: str | None = None


def text_of(content: str | list[ContentPart] | None) -> str:
    """The text of a message; parts are joined by line ends."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part.text for part in content if part.text is not None)


def last_user_text(messages: list[Message]) -> str:
    """What the user said last, or nothing."""
    return next((text_of(message.content) for message in reversed(messages) if message.role == "user"), "")
