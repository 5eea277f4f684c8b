"""Reads the facts out of a request's body, for every kind of request that is understood."""

from itertools import islice
from typing import Final

import msgspec

from relaybook.kinds import Kind
from relaybook.log.formats import lenient, message_chain
from relaybook.log.formats.facts import Asked, RequestFacts
from relaybook.log.formats.media import part_words
from relaybook.log.formats.text import clean, clean_or_none, preview
from relaybook.log.formats.wire import REQUEST, Message, Part, Request

_UNREAD: Final = frozenset({"models", "other"})
#: Far beyond what the rules for tags keep.
_MOST_METADATA: Final = 1000
_LARGEST: Final = 2**63 - 1
_MESSAGES: Final = msgspec.json.Decoder(list[Message])


def read_request(kind: Kind, data: bytes) -> RequestFacts:
    """Facts of a decoded request body. Whatever the bytes, never raises."""
    if kind in _UNREAD:
        return RequestFacts()
    request = lenient.read(REQUEST, data)
    if request is None:
        return RequestFacts()
    limit = request.max_completion_tokens
    if limit is None:
        limit = request.max_tokens if request.max_tokens is not None else request.max_output_tokens
    return RequestFacts(
        model=clean_or_none(request.model),
        stream_requested=request.stream,
        user=clean_or_none(request.user),
        safety_identifier=clean_or_none(request.safety_identifier),
        prompt_cache_key=clean_or_none(request.prompt_cache_key),
        metadata=_metadata(request.metadata) if request.metadata else {},
        input_preview=_input_preview(kind, request),
        temperature=request.temperature,
        top_p=request.top_p,
        max_tokens=_whole(limit),
        n=_whole(request.n),
        asked=_asked(kind, request),
        understood=True,
    )


def _asked(kind: Kind, request: Request) -> Asked | None:
    if kind == "chat":
        return message_chain.asked(request.messages) if request.messages else None
    if kind != "response" or not request.input:
        return None
    raw = bytes(request.input)
    messages = lenient.read(_MESSAGES, raw) if raw.lstrip()[:1] == b"[" else None
    text = None if messages is not None else lenient.load(raw)
    if isinstance(text, str):
        messages = [Message("user", text)]
    return message_chain.asked(messages, clean_or_none(request.previous_response_id)) if messages else None


def _whole(number: int | None) -> int | None:
    return number if number is not None and -_LARGEST <= number <= _LARGEST else None


def _metadata(pairs: dict[str, object]) -> dict[str, str]:
    some = islice(pairs.items(), _MOST_METADATA)
    return {clean(name, len(name)): _metadata_value(value) for name, value in some}


def _metadata_value(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(lenient.tidy(value)).decode()
    return clean(text, len(text))


def _input_preview(kind: Kind, request: Request) -> str | None:
    if kind == "chat":
        return _last_asked(request.messages or [])
    if kind == "completion":
        return _plain_preview(request.prompt)
    return _plain_preview(request.input)


def _last_asked(messages: list[Message]) -> str | None:
    """The last user message that shows anything; without one, the last message that does."""
    fallback = None
    for message in reversed(messages):
        if message.role != "user" and fallback is not None:
            continue
        shown = _content_preview(message.content)
        if shown is not None:
            if message.role == "user":
                return shown
            fallback = shown
    return fallback


def _content_preview(content: str | list[Part] | None) -> str | None:
    if isinstance(content, list):
        return preview(" ".join(shown for part in content if (shown := _part_preview(part))))
    return preview(content)


def _part_preview(part: Part) -> str | None:
    text = part.text if part.text is not None else part.refusal
    if text is not None:
        return preview(text)
    if part.type is None:
        return None
    fields = {"image_url": part.image_url, "input_audio": part.input_audio, "file": part.file}
    return part_words({"type": part.type} | {name: lenient.load(bytes(raw)) for name, raw in fields.items() if raw})


def _plain_preview(raw: msgspec.Raw) -> str | None:
    """Of a text, a list of texts, or a list of items with roles; lists of token numbers show nothing."""
    value = lenient.load(bytes(raw)) if raw else None
    if isinstance(value, list):
        if value and isinstance(value[0], str):
            return preview(f"[{len(value)} texts] {value[0]}" if len(value) > 1 else value[0])
        items = lenient.read(_MESSAGES, bytes(raw))
        return _last_asked(items or [])
    return preview(value) if isinstance(value, str) else None
