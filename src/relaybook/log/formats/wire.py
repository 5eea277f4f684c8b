"""The shapes of bodies as they cross the wire: only the fields that are read, everything else is skipped unread.

Source: OpenAI's API reference of 2026-11 with the additions seen elsewhere: ``reasoning_content`` (DeepSeek, MLX),
``reasoning`` (vLLM, OpenRouter), content as a list of parts in answers (Mistral), usage with more details.
"""

from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from relaybook.log.formats.facts import Usage


class Part(Struct, gc=False):
    """One part of a message's content in a request. What is no text is looked at only where it is shown."""

    type: str | None = None
    text: str | None = None
    refusal: str | None = None
    image_url: Raw = Raw()
    input_audio: Raw = Raw()
    file: Raw = Raw()


class Function(Struct, gc=False):
    """What a tool call calls; a custom tool has ``input`` instead of ``arguments``."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None
    input: str | None = None


class ToolCall(Struct, gc=False):
    """A tool call, or a piece of one that belongs to ``index``."""

    index: int | None = None
    id: str | None = None
    type: str | None = None
    function: Function | None = None
    custom: Function | None = None


class Message(Struct, gc=False):
    """One message of a request, or another item of a response's input (``type``)."""

    role: str | None = None
    content: str | list[Part] | None = None
    tool_calls: list[ToolCall] | None = None
    type: str | None = None
    name: str | None = None
    arguments: str | None = None
    output: Any = None


class Request(Struct, gc=False):
    """A request of any kind; ``input`` and ``prompt`` belong to kinds other than chat."""

    model: str | None = None
    messages: list[Message] | None = None
    stream: bool | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    metadata: dict[str, Any] | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    max_output_tokens: int | None = None
    n: int | None = None
    previous_response_id: str | None = None
    input: Raw = Raw()
    prompt: Raw = Raw()


class Audio(Struct, gc=False):
    """A spoken answer; only its transcript is read."""

    transcript: str | None = None


class Said(Struct, gc=False):
    """What a model said: a whole ``message`` or the ``delta`` of one."""

    content: str | list[Any] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None
    audio: Audio | None = None


class Choice(Struct, gc=False):
    """One choice of an answer or of a chunk; ``text`` is the legacy completion's."""

    index: int = 0
    delta: Said | None = None
    message: Said | None = None
    text: str | None = None
    finish_reason: str | None = None


class Embedded(Struct, gc=False):
    """One embedding: a list of numbers, or base64 of 32-bit floats."""

    embedding: Raw = Raw()


class Answer(Struct, gc=False):
    """A whole chat completion, or one chunk of a streamed one; embeddings and completions have the same head."""

    choices: list[Choice] | None = None
    usage: Usage | None = None
    error: Any = None
    id: str | None = None
    model: str | None = None
    service_tier: str | None = None
    #: Of embeddings.
    data: list[Embedded] | None = None


class OutputPart(Struct, gc=False):
    """One part of an output item's content or summary (Responses API)."""

    text: str | None = None
    refusal: str | None = None


class OutputItem(Struct, gc=False):
    """One item of a response's output: a message, a reasoning summary, a function call."""

    type: str | None = None
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    input: str | None = None
    content: list[OutputPart] | None = None
    summary: list[OutputPart] | None = None


class IncompleteDetails(Struct, gc=False):
    """Why a response is incomplete."""

    reason: str | None = None


class Response(Struct, gc=False):
    """The Responses API's object, whole or inside an event."""

    id: str | None = None
    model: str | None = None
    status: str | None = None
    output: list[OutputItem] | None = None
    usage: Usage | None = None
    service_tier: str | None = None
    incomplete_details: IncompleteDetails | None = None
    error: Any = None


class ResponseEvent(Struct, gc=False):
    """One event of a streamed response."""

    type: str | None = None
    delta: str | None = None
    output_index: int | None = None
    item: OutputItem | None = None
    response: Response | None = None
    error: Any = None
    code: str | None = None
    message: str | None = None


REQUEST: Final = msgspec.json.Decoder(Request)
ANSWER: Final = msgspec.json.Decoder(Answer)
RESPONSE: Final = msgspec.json.Decoder(Response)
RESPONSE_EVENT: Final = msgspec.json.Decoder(ResponseEvent)
