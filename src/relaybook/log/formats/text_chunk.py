"""Decode the chunks of a chat stream that only add text, which are nearly all of them, in half the time.

The structs have a module of their own, because compiled structs lose the types of their fields.
"""

from typing import Final

import msgspec
from msgspec import Struct


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


decode_text_chunk: Final = msgspec.json.Decoder(TextChunk).decode
