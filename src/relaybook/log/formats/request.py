"""Turn a parsed request in one of OpenAI's formats into facts, and build message previews for all formats."""

from itertools import islice
from typing import Final

import msgspec

from relaybook.log.formats import lenient
from relaybook.log.formats.facts import MessageHashes, RequestFacts
from relaybook.log.formats.media import describe_part
from relaybook.log.formats.text import clean, clean_or_none, preview
from relaybook.log.formats.wire import MESSAGES, Message, Part, Request

#: Maximum number of metadata entries that are read. Each entry becomes a property, and a request can have far fewer
#: properties than this.
_MAX_METADATA: Final = 1000
_MAX_INTEGER: Final = 2**63 - 1


def request_facts(request: Request, input_preview: str | None, hashes: MessageHashes | None) -> RequestFacts:
    """Return the facts of a request."""
    limit = request.max_completion_tokens
    if limit is None:
        limit = request.max_tokens if request.max_tokens is not None else request.max_output_tokens
    return RequestFacts(
        model=clean_or_none(request.model),
        stream_requested=request.stream,
        user=clean_or_none(request.user),
        safety_identifier=clean_or_none(request.safety_identifier),
        prompt_cache_key=clean_or_none(request.prompt_cache_key),
        metadata=metadata_texts(request.metadata) if request.metadata else {},
        input_preview=input_preview,
        temperature=request.temperature,
        top_p=request.top_p,
        max_tokens=in_range(limit),
        n=in_range(request.n),
        message_hashes=hashes,
        understood=True,
    )


def in_range(number: int | None) -> int | None:
    """Return the number, or `None` if it does not fit 64 bits."""
    return number if number is not None and -_MAX_INTEGER <= number <= _MAX_INTEGER else None


def metadata_texts(pairs: dict[str, object]) -> dict[str, str]:
    """Return metadata as texts. Values other than strings become JSON."""
    some = islice(pairs.items(), _MAX_METADATA)
    return {clean(name, len(name)): _metadata_value(value) for name, value in some}


def _metadata_value(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(lenient.sanitize(value)).decode()
    return clean(text, len(text))


def last_message_preview(messages: list[Message]) -> str | None:
    """Return a preview of the last user message with visible content.

    If there is no such user message, the last message of any role with visible content is used.
    """
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
    fields = {
        "image_url": part.image_url,
        "input_audio": part.input_audio,
        "file": part.file,
        "video_url": part.video_url,
        "source": part.source,
        "filename": part.filename,
        "file_data": part.file_data,
    }
    return describe_part({"type": part.type} | {name: lenient.load(bytes(raw)) for name, raw in fields.items() if raw})


def plain_preview(raw: msgspec.Raw) -> str | None:
    """Return a preview of a text, a list of texts or a list of items with roles. Lists of token ids have no preview."""
    value = lenient.load(bytes(raw)) if raw else None
    if isinstance(value, list):
        if value and isinstance(value[0], str):
            return preview(f"[{len(value)} texts] {value[0]}" if len(value) > 1 else value[0])
        items = lenient.read(MESSAGES, bytes(raw))
        return last_message_preview(items or [])
    return preview(value) if isinstance(value, str) else None
