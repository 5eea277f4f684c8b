"""Extract facts from a request body, for all supported kinds of requests."""

from itertools import islice
from typing import Final

import msgspec

from relaybook.kinds import Kind
from relaybook.log.formats import lenient, message_chain
from relaybook.log.formats.facts import MessageHashes, RequestFacts
from relaybook.log.formats.media import describe_part
from relaybook.log.formats.text import clean, clean_or_none, preview
from relaybook.log.formats.wire import REQUEST, Message, Part, Request

_UNSUPPORTED: Final = frozenset({"models", "other"})
#: Far above the number that the tag rules accept.
_MAX_METADATA: Final = 1000
_MAX_INTEGER: Final = 2**63 - 1
_MESSAGES: Final = msgspec.json.Decoder(list[Message])


def read_request(kind: Kind, data: bytes) -> RequestFacts:
    """Return the facts of a decoded request body. Never raises, whatever the bytes are."""
    if kind in _UNSUPPORTED:
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
        max_tokens=_in_range(limit),
        n=_in_range(request.n),
        message_hashes=_hash_messages(kind, request),
        understood=True,
    )


def _hash_messages(kind: Kind, request: Request) -> MessageHashes | None:
    if kind == "chat":
        return message_chain.hash_messages(request.messages) if request.messages else None
    if kind != "response" or not request.input:
        return None
    raw = bytes(request.input)
    messages = lenient.read(_MESSAGES, raw) if raw.lstrip()[:1] == b"[" else None
    text = None if messages is not None else lenient.load(raw)
    if isinstance(text, str):
        messages = [Message("user", text)]
    return message_chain.hash_messages(messages, clean_or_none(request.previous_response_id)) if messages else None


def _in_range(number: int | None) -> int | None:
    return number if number is not None and -_MAX_INTEGER <= number <= _MAX_INTEGER else None


def _metadata(pairs: dict[str, object]) -> dict[str, str]:
    some = islice(pairs.items(), _MAX_METADATA)
    return {clean(name, len(name)): _metadata_value(value) for name, value in some}


def _metadata_value(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(lenient.sanitize(value)).decode()
    return clean(text, len(text))


def _input_preview(kind: Kind, request: Request) -> str | None:
    if kind == "chat":
        return _last_message_preview(request.messages or [])
    if kind == "completion":
        return _plain_preview(request.prompt)
    return _plain_preview(request.input)


def _last_message_preview(messages: list[Message]) -> str | None:
    """Return a preview of the last user message that has one, else of the last message that has one."""
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
    return describe_part({"type": part.type} | {name: lenient.load(bytes(raw)) for name, raw in fields.items() if raw})


def _plain_preview(raw: msgspec.Raw) -> str | None:
    """Return a preview of a text, a list of texts or a list of items with roles. Lists of token ids have none."""
    value = lenient.load(bytes(raw)) if raw else None
    if isinstance(value, list):
        if value and isinstance(value[0], str):
            return preview(f"[{len(value)} texts] {value[0]}" if len(value) > 1 else value[0])
        items = lenient.read(_MESSAGES, bytes(raw))
        return _last_message_preview(items or [])
    return preview(value) if isinstance(value, str) else None
