"""Decode the chat completions that have only text, which are most of them, in half the time.

These are nearly all chunks of a stream, and whole responses with one choice. A body with any other field is rejected,
and ``chat`` reads it. The structs have a module of their own, because compiled structs lose the types of their fields.
"""

from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType


class TextDelta(Struct, forbid_unknown_fields=True, gc=False):
    """A delta with nothing but text."""

    content: str


class TextChoice(Struct, forbid_unknown_fields=True, gc=False):
    """A choice that is not finished."""

    delta: TextDelta
    index: int = 0
    logprobs: None = None
    finish_reason: None = None


class TextChunk(Struct, forbid_unknown_fields=True, gc=False):
    """A chunk that adds only text: nearly every chunk of a stream. Its other fields were in the chunks before."""

    choices: list[TextChoice]
    id: str = ""
    object: str = ""
    created: int = 0
    model: str = ""
    service_tier: str | None = None
    system_fingerprint: str | None = None
    usage: None = None
    obfuscation: str = ""


class TextMessage(Struct, forbid_unknown_fields=True):
    """The message of a whole response."""

    content: str
    role: str = ""
    refusal: None = None
    annotations: list[Any] | UnsetType = UNSET


class WholeChoice(Struct, forbid_unknown_fields=True):
    """The choice of a whole response."""

    message: TextMessage
    finish_reason: Literal["stop", "length"]
    index: Literal[0] = 0
    logprobs: None = None


class TextResponse(Struct, forbid_unknown_fields=True):
    """A whole response that has only text."""

    id: str
    model: str
    choices: tuple[WholeChoice]
    object: Literal["chat.completion"]
    usage: dict[str, Any]
    created: int | UnsetType = UNSET
    service_tier: str | None = None
    system_fingerprint: str | UnsetType | None = UNSET


decode_text_chunk: Final = msgspec.json.Decoder(TextChunk).decode
decode_text_response: Final = msgspec.json.Decoder(TextResponse).decode
