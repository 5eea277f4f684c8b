"""Declare the parts of OpenAI's and Anthropic's requests that a simulated response depends on.

All other parameters are accepted and ignored, so that clients with newer parameters work.
"""

from collections.abc import Sequence
from typing import Any

import msgspec


class ContentPart(msgspec.Struct):
    """One part of a message. Parts without text count as 0 tokens."""

    type: str = ""
    text: str | None = None


class Message(msgspec.Struct):
    """One message of a chat request."""

    role: str = ""
    content: str | list[ContentPart] | None = None


class Function(msgspec.Struct):
    """A function that the model can call."""

    name: str
    parameters: dict[str, Any] | None = None


class Tool(msgspec.Struct):
    """A tool. The simulated model calls only tools of type ``function``."""

    type: str = "function"
    function: Function | None = None


class JsonSchema(msgspec.Struct):
    """The schema of a structured output."""

    schema: dict[str, Any] | None = None


class ResponseFormat(msgspec.Struct):
    """The format of the response: ``text``, ``json_object`` or ``json_schema``."""

    type: str = "text"
    json_schema: JsonSchema | None = None


class StreamOptions(msgspec.Struct):
    """Options of a streamed response."""

    include_usage: bool = False


class ChatRequest(msgspec.Struct):
    """The body of ``POST /v1/chat/completions``."""

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


class FimRequest(msgspec.Struct):
    """The body of Mistral's ``POST /v1/fim/completions``, which completes code between a prompt and a suffix."""

    prompt: str
    model: str | None = None
    suffix: str | None = None
    stream: bool | None = None
    max_tokens: int | None = None
    stop: str | list[str] | None = None
    metadata: dict[str, Any] | None = None

    def chat(self) -> ChatRequest:
        """Return the request as a chat request."""
        prompt = f"{self.prompt}\n{self.suffix}" if self.suffix else self.prompt
        return ChatRequest(
            messages=[Message("user", prompt)],
            model=self.model,
            stream=self.stream,
            max_tokens=self.max_tokens,
            stop=self.stop,
        )


class ResponsesTool(msgspec.Struct):
    """A tool of a Responses request, or a namespace with ``tools``."""

    type: str = ""
    name: str = ""
    parameters: dict[str, Any] | None = None
    tools: "list[ResponsesTool] | None" = None


class InputItem(Message):
    """One input item of a Responses request: a message, a call of a tool, its ``output``, or additional ``tools``."""

    type: str = "message"
    output: str | list[ContentPart] | None = None
    tools: list[ResponsesTool] | None = None


class ResponsesRequest(msgspec.Struct):
    """The body of ``POST /v1/responses``."""

    input: str | list[InputItem]
    model: str | None = None
    stream: bool | None = None
    max_output_tokens: int | None = None
    tools: list[ResponsesTool] | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    metadata: dict[str, Any] | None = None


class EmbeddingsRequest(msgspec.Struct):
    """The body of ``POST /v1/embeddings``. The input may consist of token ids."""

    input: str | list[Any]
    model: str | None = None
    dimensions: int | None = None
    encoding_format: str | None = None


class Block(ContentPart):
    """One block of an Anthropic message. ``content`` is set in tool results."""

    content: str | list[ContentPart] | None = None


class BlockMessage(msgspec.Struct):
    """One message of a Messages request."""

    role: str
    content: str | list[Block]


class SchemaTool(msgspec.Struct):
    """An Anthropic tool. Tools that run on the server have no schema."""

    name: str = ""
    input_schema: dict[str, Any] | None = None


class MessagesRequest(msgspec.Struct):
    """The body of ``POST /v1/messages`` and, without ``max_tokens``, of ``POST /v1/messages/count_tokens``."""

    model: str
    messages: list[BlockMessage]
    max_tokens: int | None = None
    system: str | list[Block] | None = None
    stream: bool | None = None
    stop_sequences: list[str] | None = None
    tools: list[SchemaTool] | None = None
    tool_choice: dict[str, Any] | None = None
    thinking: dict[str, Any] | None = None


def text_of(content: str | list[ContentPart] | None) -> str:
    """Return the text of a message. The parts of the message are joined by newlines."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part.text for part in content if part.text is not None)


def last_user_text(messages: Sequence[Message]) -> str:
    """Return the text of the last user message, or an empty text."""
    return next((text_of(message.content) for message in reversed(messages) if message.role == "user"), "")
