"""Define the model of a conversation, which every format is read into.

A request has messages, a response has outputs, and both consist of parts. The facts of a record, previews, search text,
the hashes that link requests, the detail view, ``relaybook show`` and the chat export are derived from this model, once
for all formats. Formats only build the model.

The API's documentation has the docstrings and descriptions of the structs in it. Every field of a body is in the model
exactly once: fields that the model does not name are in ``other``, as sent. Texts have no lone surrogates, but values
as sent may hold anything that JSON can. So the API encodes the result of ``plain``, which omits empty fields.
"""

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from relaybook.log.formats.lenient import sanitize
from relaybook.log.record import StreamEnd

PartKind: TypeAlias = Literal[
    "text", "reasoning", "refusal", "image", "audio", "video", "file", "tool_call", "tool_result", "other"
]


class Media(Struct, omit_defaults=True, gc=False):
    """An image, audio, video or file."""

    type: Annotated[str | None, Meta(description="Media type, such as `image/png`.")] = None
    bytes: Annotated[int | None, Meta(description="Size in bytes. Omitted if the body has only a URL or an id.")] = None
    name: Annotated[str | None, Meta(description="File name or file id.")] = None
    url: Annotated[
        str | None,
        Meta(
            description="The URL as sent: a data URL with the bytes, or the address of a file. Bytes that were sent "
            "without a URL are a data URL."
        ),
    ] = None
    content: Annotated[
        str | None,
        Meta(
            description="Path below `/api/` that returns the bytes of an image or of audio from the stored body. The "
            "bytes can turn out to be in another format."
        ),
    ] = None


class Part(Struct, omit_defaults=True):
    """One part of a message or of an output. Empty fields are omitted."""

    kind: PartKind
    text: Annotated[
        str | None,
        Meta(
            description="The text. The text of a tool result is the result as text or JSON. The text of audio is the "
            "transcript."
        ),
    ] = None
    name: Annotated[str | None, Meta(description="Name of the tool. The name of a result is that of its call.")] = None
    id: Annotated[str | None, Meta(description="Id of the tool call. The result of the call has the same id.")] = None
    arguments: Annotated[
        str | None,
        Meta(
            description="Arguments of a tool call, as sent. They are usually JSON, but can be any text. A tool result "
            "also has the arguments of its call if the call is not in this body, but in the stored response that the "
            "request continues."
        ),
    ] = None
    call: Annotated[
        tuple[int, int] | None,
        Meta(
            description="Where the call of a tool result is: the index of the message or output, and the index of the "
            "part in it."
        ),
    ] = None
    failed: Annotated[
        bool | None,
        Meta(
            description="`true` if a tool result looks like an error: the API says so, or the result is JSON with an "
            "error, begins like an error message, or has an exit code other than 0."
        ),
    ] = None
    media: Media | None = None
    type: Annotated[
        str | None,
        Meta(description="The provider's type of the part, such as `web_search_call`, if `kind` does not say it."),
    ] = None
    other: Annotated[dict[str, Any], Meta(description="All other fields of the part, as sent.")] = {}


class Message(Struct, omit_defaults=True):
    """One message of a request. Empty fields are omitted. The result of a tool is a message with the role `tool`."""

    role: Annotated[
        str | None,
        Meta(
            description="The role, as sent. `null` for an item that is not a message. Such an item has one part of the "
            "kind `other`."
        ),
    ]
    parts: list[Part] = []
    name: Annotated[str | None, Meta(description="Name of the author.")] = None
    other: Annotated[dict[str, Any], Meta(description="All other fields of the message, as sent.")] = {}


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
    #: Whether the messages are texts that do not belong together, such as the inputs of embeddings.
    is_text_list: bool = False
    #: Whether the request asks for a stream. `None` if it does not say so.
    stream: bool | None = None
    #: Id of the response, or of the stored conversation, that this request continues.
    previous: str | None = None
    conversation: str | None = None
    user: str | None = None
    #: Id of the client's session.
    session: str | None = None
    #: Tags from the body. Values other than strings are JSON.
    metadata: dict[str, str] = {}
    #: Whether the body is a JSON object.
    understood: bool = False


class Output(Struct, omit_defaults=True):
    """One output of a response. APIs also call it a choice. Empty fields are omitted."""

    index: int
    parts: list[Part] = []
    finish_reason: Annotated[
        str | None, Meta(description="Reason why the model stopped. Omitted if it is unknown.")
    ] = None
    other: Annotated[dict[str, Any], Meta(description="All other fields of the output, as sent.")] = {}


class Error(Struct, omit_defaults=True):
    """An error inside a response. Empty fields are omitted."""

    code: str | None = None
    message: str | None = None
    raw: Annotated[Any, Meta(description="The error, as sent.")] = None


class Response(Struct, omit_defaults=True):
    """The body of a response. A stream is assembled from its events. Empty fields are omitted."""

    id: str | None = None
    model: str | None = None
    outputs: list[Output] = []
    usage: Annotated[dict[str, Any] | None, Meta(description="The provider's usage, as sent.")] = None
    tier: Annotated[str | None, Meta(description="The service tier that processed the request.")] = None
    error: Error | None = None
    ending: Annotated[
        StreamEnd | None,
        Meta(
            description="How the stream ended. `done`: the end mark arrived, or every output has a finish reason. "
            "`no_done`: the whole response arrived, but the stream did not reach its end. `cut`: the connection broke "
            "off. Omitted if the response is not a stream."
        ),
    ] = None
    other: Annotated[dict[str, Any], Meta(description="All other fields of the body, as sent.")] = {}


def plain(value: Any) -> Any:
    """Return a part of the model as JSON values that any JSON encoder and browser accepts, without empty fields."""
    if isinstance(value, Struct):
        required = len(value.__struct_fields__) - len(value.__struct_defaults__)
        fields = [(name, getattr(value, name)) for name in value.__struct_fields__]
        return {
            name: plain(item) for at, (name, item) in enumerate(fields) if at < required or item not in (None, [], {})
        }
    if isinstance(value, list) and value and isinstance(value[0], Struct):
        return list(map(plain, value))
    return sanitize(value)
