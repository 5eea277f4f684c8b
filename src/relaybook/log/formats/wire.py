"""Declare the JSON structures of bodies. Only fields that are used are declared. All other fields are skipped.

The source is OpenAI's API reference of 2026-11. DeepSeek and MLX add ``reasoning_content``. vLLM and OpenRouter add
``reasoning``. Mistral's responses have content as a list of parts. Some providers add fields to ``usage``.
"""

from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta, Raw, Struct

from relaybook.log.formats.facts import Usage

#: A signed 64-bit integer, because the columns of an export have 64 bits.
_Index: TypeAlias = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class Part(Struct, gc=False):
    """One part of a message's content in a request.

    ``Raw`` fields are decoded only for previews. The fields from ``filename`` on describe a file (Responses API).
    """

    type: str | None = None
    text: str | None = None
    refusal: str | None = None
    image_url: Raw = Raw()
    input_audio: Raw = Raw()
    file: Raw = Raw()
    video_url: Raw = Raw()
    source: Raw = Raw()
    filename: Raw = Raw()
    file_id: Raw = Raw()
    file_url: Raw = Raw()
    file_data: Raw = Raw()


class Function(Struct, gc=False):
    """The function of a tool call. A custom tool has ``input`` instead of ``arguments``."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None
    input: str | None = None


class ToolCall(Struct, gc=False):
    """A tool call, or a delta for the tool call at ``index``."""

    index: _Index | None = None
    id: str | None = None
    type: str | None = None
    function: Function | None = None
    custom: Function | None = None


class Message(Struct, gc=False):
    """One message of a request, or an input item of the Responses API (with ``type``)."""

    role: str | None = None
    content: str | list[Part] | None = None
    refusal: str | None = None
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None
    type: str | None = None
    name: str | None = None
    arguments: str | None = None
    input: str | None = None
    output: Any = None
    execution: str | None = None


class Request(Struct, gc=False):
    """A request in one of OpenAI's formats.

    Formats other than chat have ``input`` or ``prompt`` instead of ``messages``.
    """

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
    #: The id of a conversation that the provider stores, or an object with the id (Responses API).
    conversation: Any = None
    #: A text, or rarely a list of input items (Responses API).
    instructions: Any = None
    input: Raw = Raw()
    prompt: Raw = Raw()


class Audio(Struct, gc=False):
    """An audio response. Only its transcript is read."""

    transcript: str | None = None


class AssistantMessage(Struct, gc=False):
    """A model's output, which is a whole ``message`` or the ``delta`` of a message."""

    content: str | list[Any] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None
    audio: Audio | None = None


class Choice(Struct, gc=False):
    """One choice of a response or of a chunk. Legacy completions use ``text``.

    OpenRouter adds ``error``. Moonshot adds ``usage`` to the last chunk.
    """

    index: _Index = 0
    delta: AssistantMessage | None = None
    message: AssistantMessage | None = None
    text: str | None = None
    finish_reason: str | None = None
    error: Any = None
    usage: Usage | None = None


class Groq(Struct, gc=False):
    """Fields that Groq adds to the last chunk."""

    usage: Usage | None = None
    error: Any = None


class Embedding(Struct, gc=False):
    """One embedding: a list of numbers, or base64-encoded 32-bit floats."""

    embedding: Raw = Raw()


class ChatResponse(Struct, gc=False):
    """A chat completion, or one chunk of a chat completion.

    Embeddings and legacy completions are parsed as this structure, too, because they have the same top-level fields as
    chat completions.
    """

    choices: list[Choice] | None = None
    usage: Usage | None = None
    error: Any = None
    id: str | None = None
    model: str | None = None
    service_tier: str | None = None
    x_groq: Groq | None = None
    #: Set in responses with embeddings.
    data: list[Embedding] | None = None


class OutputPart(Struct, gc=False):
    """One part of an output item's content or summary (Responses API)."""

    text: str | None = None
    refusal: str | None = None


class OutputItem(Struct, gc=False):
    """One output item of a response: a message, a reasoning summary or a call.

    A call of a tool that OpenAI defines has no name. Depending on the tool, its arguments are in one of the fields from
    ``action`` to ``queries``.
    """

    type: str | None = None
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    input: str | None = None
    action: Any = None
    operation: Any = None
    code: str | None = None
    queries: Any = None
    content: list[OutputPart] | None = None
    summary: list[OutputPart] | None = None


class IncompleteDetails(Struct, gc=False):
    """Why a response is incomplete."""

    reason: str | None = None


class Response(Struct, gc=False):
    """A response object of the Responses API, as the whole body or inside an event."""

    id: str | None = None
    model: str | None = None
    status: str | None = None
    output: list[OutputItem] | None = None
    usage: Usage | None = None
    #: What hosted tools used. It is not part of ``usage``.
    tool_usage: dict[str, Any] | None = None
    service_tier: str | None = None
    incomplete_details: IncompleteDetails | None = None
    error: Any = None


class ResponseEvent(Struct, gc=False):
    """One event of a streamed response."""

    type: str | None = None
    delta: str | None = None
    output_index: _Index | None = None
    item: OutputItem | None = None
    response: Response | None = None
    error: Any = None
    code: str | None = None
    message: str | None = None


MESSAGES: Final = msgspec.json.Decoder(list[Message])
REQUEST: Final = msgspec.json.Decoder(Request)
CHAT_RESPONSE: Final = msgspec.json.Decoder(ChatResponse)
RESPONSE: Final = msgspec.json.Decoder(Response)
RESPONSE_EVENT: Final = msgspec.json.Decoder(ResponseEvent)
