"""Describe images, audio and files by type and size, because they cannot be shown as text. Pure, without I/O."""

import re
from typing import Any, Final

from relaybook.log.formats.text import clean

#: Maps the type of a part to two texts: the name of such a part in descriptions, and the name of the field with the
#: part's bytes or URL.
_PARTS: Final = {
    "image_url": ("image", "image_url"),
    "input_image": ("image", "image_url"),
    "input_audio": ("audio", "input_audio"),
    "input_file": ("file", "input_file"),
    "file": ("file", "file"),
    "video_url": ("video", "video_url"),
}
_DATA_URL: Final = re.compile(r"data:(?:[a-z]+/)?([a-zA-Z0-9.+-]{0,40})[^,]{0,200}?;base64,")
_MEDIA: Final = re.compile(r"(?i)(image|audio|video)/([a-z0-9.+-]{1,40})")
_STEP: Final = 1000


def describe_part(part: dict[str, Any]) -> str:
    """Describe a part of a message, for example as ``[image png 34 kB]``, or as ``[image]`` if only the type is known.

    ``part`` must have a ``type`` that is a string.
    """
    kind = part["type"]
    noun, field = _PARTS.get(kind, (clean(kind, 40), "source" if "source" in part else kind))
    inner = part.get(field, part)
    if isinstance(inner, str):
        inner = {"url": inner}
    details = _details(inner) if isinstance(inner, dict) else ()
    return f"[{' '.join([noun, *details])}]"


def _details(inner: dict[str, Any]) -> list[str]:
    details = []
    name, format_, media_type = inner.get("filename"), inner.get("format"), inner.get("media_type")
    if isinstance(media_type, str):
        format_ = media_type.rpartition("/")[2]
    data = inner.get("data") or inner.get("file_data") or inner.get("url") or inner.get("file_url")
    if isinstance(name, str) and name:
        details.append(clean(name, 60))
    elif isinstance(format_, str) and format_:
        details.append(clean(format_, 20))
    if isinstance(data, str):
        match = _DATA_URL.match(data)
        if match is not None and not details and match[1]:
            details.append(match[1])
        if inner.get("type") == "text":  # a document as plain text (Anthropic)
            details.append(format_size(len(data.encode(errors="replace"))))
        elif match is not None or inner.get("data") or inner.get("file_data"):
            details.append(format_size((len(data) - (match.end() if match else 0)) * 3 // 4))
    return details


def describe_body(content_type: str, size: int) -> str | None:
    """Describe a whole body, for example as ``[audio mpeg 34 kB]``.

    `None` if the body is empty or is not an image, audio or video.
    """
    match = _MEDIA.match(content_type)
    return None if match is None or size == 0 else f"[{match[1].lower()} {match[2].lower()} {format_size(size)}]"


def format_size(size: int) -> str:
    """Format a size in decimal units, for example ``812 B``, ``34 kB`` or ``1.2 MB``."""
    if size < _STEP:
        return f"{size} B"
    number, unit = (size / _STEP, "kB") if size < 999_500 else (size / _STEP**2, "MB")
    return f"{number:.1f} {unit}" if number < 9.95 else f"{number:.0f} {unit}"
