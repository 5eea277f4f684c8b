"""Read the content of messages in OpenAI's formats: a text, or a list of parts of many types.

The types of chat completions and of the Responses API are read alike, and so are those that other providers add, such
as the thinking parts of Mistral.
"""

from typing import Any, Final

from relaybook.log.formats.conversation import Part, PartKind
from relaybook.log.formats.lenient import as_json, join, sanitize
from relaybook.log.formats.media import media_part

#: If a list is longer than twice this number, only this many parts (or messages) from its start and its end are read.
MAX_PER_END: Final = 5000
_REASONING: Final = ("reasoning_text", "summary_text")
#: Types of media parts: the kind, and the field with the media.
_MEDIA: Final[dict[str, tuple[PartKind, str]]] = {
    "image_url": ("image", "image_url"),
    "input_image": ("image", "image_url"),
    "computer_screenshot": ("image", "image_url"),
    "image": ("image", "source"),
    "output_image": ("image", "image_url"),
    "input_audio": ("audio", "input_audio"),
    "audio_url": ("audio", "audio_url"),
    "output_audio": ("audio", "audio"),
    "video_url": ("video", "video_url"),
    "input_video": ("video", "video_url"),
    "input_file": ("file", "file"),
    "file": ("file", "file"),
    "document": ("file", "source"),
    "file_url": ("file", "file_url"),
}


def content_parts(content: object) -> list[Part]:
    """Return the parts of a message's content. A text is one part, `None` and an empty text are none."""
    if isinstance(content, str):
        return [Part(kind="text", text=join([content]))] if content else []
    if content is None:
        return []
    if not isinstance(content, list):
        return [_part(content)]
    first, omitted, last = ends(content)
    parts = [_part(item) for item in first]
    if omitted:
        parts.append(Part(kind="other", type="omitted", text=f"[{omitted:,} parts are not shown here]"))
        parts += [_part(item) for item in last]
    return parts


def ends(items: list[Any]) -> tuple[list[Any], int, list[Any]]:
    """Return the first items, the number of omitted items, and the last items."""
    omitted = max(0, len(items) - 2 * MAX_PER_END)
    return (items[:MAX_PER_END], omitted, items[-MAX_PER_END:]) if omitted else (items, 0, [])


def _part(item: object) -> Part:
    if isinstance(item, str):
        return Part(kind="text", text=join([item]))
    if not isinstance(item, dict):
        return _other(item)
    kind = item.get("type")
    if isinstance(text := item.get("text"), str):
        of: PartKind = "reasoning" if kind in _REASONING else "text"
        return Part(kind=of, text=join([text]), other=_rest(item, "type", "text"))
    if isinstance(text := item.get("refusal"), str):
        return Part(kind="refusal", text=join([text]), other=_rest(item, "type", "refusal"))
    if "thinking" in item:
        return Part(kind="reasoning", text=thinking_of(item["thinking"]), other=_rest(item, "type", "thinking"))
    if isinstance(kind, str) and kind in _MEDIA:
        of, field = _MEDIA[kind]
        return media_part(
            of, item.get(field), {name: value for name, value in item.items() if name not in ("type", field)}
        )
    return _other(item)


def thinking_of(value: object) -> str:
    """Return the text of a thinking part, which is a text or a list of text parts (Mistral)."""
    if isinstance(value, list):
        return "".join(part.text or "" for part in map(_part, value))
    return join([value]) if isinstance(value, str) else ""


def _rest(item: dict[str, Any], *read: str) -> dict[str, Any]:
    return {} if len(item) < 3 and "type" in item else {name: item[name] for name in item if name not in read}


def _other(item: object) -> Part:
    if isinstance(item, dict):
        kind = item.get("type")
        return Part(kind="other", type=sanitize(kind) if isinstance(kind, str) else None, other=item)
    return Part(kind="other", text=as_json(item))
