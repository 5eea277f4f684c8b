"""What is read out of a request's and an answer's body: two structs that are safe to store as they are.

Every text in them can be encoded as UTF-8, holds no NUL and is cut to a stated length; every number fits a signed
64-bit column. None means "not said" or "not readable", never zero.
"""

from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta, Struct

StreamEnded: TypeAlias = Literal["done", "no_done", "cut"]

NAME_CHARACTERS: Final = 256
ERROR_CHARACTERS: Final = 2000
PREVIEW_CHARACTERS: Final = 200

#: A whole number a store can keep.
Count: TypeAlias = Annotated[int, Meta(ge=0, le=2**63 - 1)]

_Scalar: TypeAlias = Count | float | str | bool | None

#: The provider's ``usage`` as it came: numbers, texts and one level of details; what is neither is left out.
Usage: TypeAlias = dict[str, _Scalar | dict[str, _Scalar]]


class Origin(Struct, array_like=True, frozen=True, gc=False):
    """Where a request may come from, see ``turns``. ``new_from`` is the index of its first message behind that answer.

    ``window`` 0: too few messages to tell.
    """

    new_from: int
    key: int
    window: int


class Asked(Struct, gc=False):
    """A request's messages, hashed; see ``turns``."""

    messages: int
    chain: bytes
    last: list[bytes]
    origins: list[Origin]
    previous: str | None = None


class RequestFacts(Struct, gc=False):
    """What a request asks for. ``understood`` is false when the body is no JSON object (or not of a kind we read)."""

    model: str | None = None
    stream_requested: bool | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    #: Names and values as sent (values that are no text: as JSON), clean but not cut: the tag rules do that.
    metadata: dict[str, str] = {}
    input_preview: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    n: int | None = None
    #: Its messages as a part of a conversation; of requests that have messages.
    asked: Asked | None = None
    understood: bool = False


class ResponseFacts(Struct, gc=False):
    """What an answer says. ``understood`` is false when nothing of the expected shape was found."""

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
    #: Characters of text, reasoning, refusal and tool arguments of all choices.
    output_characters: int = 0
    stream_ended: StreamEnded | None = None
    error_in_stream: bool = False
    #: The key of what each choice said, see ``turns``.
    said: list[bytes] = []
    understood: bool = False
