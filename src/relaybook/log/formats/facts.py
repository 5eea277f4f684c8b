"""Declare the facts that are extracted from request and response bodies, in a form that is safe to store.

Texts can be encoded as UTF-8, contain no NUL and are truncated. Metadata is not truncated here, because the recorder
truncates metadata later. Texts in ``usage`` are neither cleaned nor truncated, because ``usage`` is not stored. Every
number fits a signed 64-bit column. `None` means that a value is missing or unreadable. `None` never means zero.
"""

from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

StreamEnded: TypeAlias = Literal["done", "no_done", "cut"]

NAME_CHARACTERS: Final = 256
ERROR_CHARACTERS: Final = 2000
PREVIEW_CHARACTERS: Final = 200

#: An integer that fits a store's columns.
Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**63 - 1)]

_Scalar: TypeAlias = Count | float | str | bool | None

_Counts: TypeAlias = dict[str, _Scalar | dict[str, _Scalar]]

#: The provider's ``usage`` as received, with objects of details and lists of such objects, but without deeper levels.
Usage: TypeAlias = dict[str, _Scalar | dict[str, _Scalar] | list[_Counts]]


class Origin(Struct, array_like=True, frozen=True, gc=False):
    """An earlier exchange that a request may continue; see ``message_chain``.

    ``new_from`` is the index of the first message after the response of the earlier exchange. ``key`` is a hash of the
    messages up to and including this response. ``window`` is the window key: a hash of this response and the two
    messages before it, or 0 if there are too few messages for a window key.
    """

    new_from: int
    key: int
    window: int


class MessageHashes(Struct, gc=False):
    """The hashed messages of a request; see ``message_chain``.

    ``messages`` is the number of messages. ``chain`` is a hash of all messages except system messages. ``last`` has a
    hash for each of the last two of these messages. ``previous`` is the id of the response that the request continues.
    ``conversation`` is the id of the conversation that the request continues.
    """

    messages: int
    chain: bytes
    last: list[bytes]
    origins: list[Origin]
    previous: str | None = None
    conversation: str | None = None


class RequestFacts(Struct, gc=False):
    """Facts of a request.

    ``understood`` is False if the body is not a JSON object or the kind of request is not supported.
    """

    model: str | None = None
    stream_requested: bool | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    #: Names and values as sent. Values other than strings are JSON. The texts are cleaned but not truncated, because
    #: the recorder truncates them later (see ``tags.py``).
    metadata: dict[str, str] = {}
    input_preview: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    n: int | None = None
    #: The hashed messages, to link conversations. `None` if the request has no messages.
    message_hashes: MessageHashes | None = None
    understood: bool = False


class ResponseFacts(Struct, gc=False):
    """Facts of a response. ``understood`` is False if the body has none of the expected fields."""

    response_model: str | None = None
    completion_id: str | None = None
    finish_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    usage: Usage | None = None
    service_tier: str | None = None
    error_code: str | None = None
    error_message: str | None = None
    output_preview: str | None = None
    #: Number of generated characters in all choices: text, reasoning, refusal, transcript and tool calls.
    output_characters: int = 0
    stream_ended: StreamEnded | None = None
    #: Whether the body contains an error. The status of such a response can be 200.
    has_error: bool = False
    #: The key (a hash) of each choice's output; see ``message_chain``.
    output_keys: list[bytes] = []
    understood: bool = False
