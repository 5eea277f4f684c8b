"""Define the model of a conversation, which every format is read into.

A request has messages, a response has outputs, and both consist of parts. The facts of a record, previews, search text,
the hashes that link requests, the detail view, ``relaybook show`` and the chat export are derived from this model, once
for all formats. Formats only build the model.

Every field of a body is in the model exactly once: fields that the model does not name are in ``other``, as sent. Texts
have no lone surrogates. The structs are encoded as JSON in the API; fields that are empty are omitted.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

PartKind: TypeAlias = Literal[
    "text", "reasoning", "refusal", "image", "audio", "video", "file", "tool_call", "tool_result", "other"
]
#: How a stream ended. ``done``: the end mark of the format arrived, or every output has a finish reason. ``no_done``:
#: the whole response arrived, but the stream did not reach its end. ``cut``: the connection broke off.
Ending: TypeAlias = Literal["done", "no_done", "cut"]


class Media(Struct, omit_defaults=True, gc=False):
    """An image, audio, video or file."""

    #: Media type such as `image/png`. `None` if unknown.
    type: str | None = None
    #: Number of bytes. `None` if the body has only a URL or an id.
    bytes: int | None = None
    #: File name or file id.
    name: str | None = None
    #: The URL as sent: a data URL with the bytes, or the address of a file. Bytes without a data URL become one.
    url: str | None = None


class Part(Struct, omit_defaults=True):
    """One part of a message or of an output."""

    kind: PartKind
    #: The text. Of a tool result, the result as text or JSON; of audio, the transcript.
    text: str | None = None
    #: The name of the tool.
    name: str | None = None
    #: The id of the tool call, also in its result.
    id: str | None = None
    #: The arguments of a tool call as sent. Usually JSON, but this is not certain.
    arguments: str | None = None
    media: Media | None = None
    #: The provider's type of the part, if the kind does not say it (`web_search_call`).
    type: str | None = None
    #: All other fields, as sent.
    other: dict[str, Any] = {}


class Message(Struct, omit_defaults=True):
    """One message of a request, oldest first. The result of a tool is a message of role ``tool``.

    ``role`` is `None` for an item that is not a message. The item then has one part of the kind ``other``.
    """

    role: str | None
    parts: list[Part] = []
    #: The name of the author.
    name: str | None = None
    other: dict[str, Any] = {}


class Request(Struct):
    """A request body."""

    model: str | None = None
    messages: list[Message] = []
    #: All fields of the body except the messages, as sent.
    parameters: dict[str, Any] = {}
    #: Number of messages that are left out, because there are too many. They follow the first half of ``messages``.
    omitted: int = 0
    #: Whether later requests can continue this request. False for a request that only counts tokens.
    is_conversation: bool = False
    #: Id of the response, or of the stored conversation, that this request continues.
    previous: str | None = None
    conversation: str | None = None
    #: The user, and tags from the body. Values other than strings are JSON.
    user: str | None = None
    metadata: dict[str, str] = {}
    #: Whether the body is a JSON object.
    understood: bool = False


class Output(Struct, omit_defaults=True):
    """One output (choice) of a response."""

    index: int
    parts: list[Part] = []
    finish_reason: str | None = None
    other: dict[str, Any] = {}


class Error(Struct, omit_defaults=True):
    """An error inside a response."""

    code: str | None = None
    message: str | None = None
    #: The error as sent.
    raw: Any = None


class Response(Struct, omit_defaults=True):
    """A response body. A stream is put together from its events."""

    id: str | None = None
    model: str | None = None
    outputs: list[Output] = []
    #: The provider's usage, as sent.
    usage: dict[str, Any] | None = None
    tier: str | None = None
    error: Error | None = None
    #: `None` if the response is not a stream.
    ending: Ending | None = None
    other: dict[str, Any] = {}
