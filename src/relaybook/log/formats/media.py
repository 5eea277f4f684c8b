"""Says in a few words what cannot be shown as text: an image, sound, a file, by its type and its size. Pure."""

import re
from typing import Any, Final

from relaybook.log.formats.text import clean

#: By a part's type: the word for it, and the fields its bytes, or its address, may be in.
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


def part_words(part: dict[str, Any]) -> str:
    """``[image png 34 kB]``; ``[image]`` where the part tells no more. ``part`` has a ``type`` that is text."""
    kind = part["type"]
    word, field = _PARTS.get(kind, (clean(kind, 40), kind))
    inner = part.get(field, part)
    if isinstance(inner, str):
        inner = {"url": inner}
    told = _of(inner) if isinstance(inner, dict) else ()
    return f"[{' '.join([word, *told])}]"


def _of(inner: dict[str, Any]) -> list[str]:
    told = []
    name, form = inner.get("filename"), inner.get("format")
    data = inner.get("data") or inner.get("file_data") or inner.get("url") or inner.get("file_url")
    if isinstance(name, str) and name:
        told.append(clean(name, 60))
    elif isinstance(form, str) and form:
        told.append(clean(form, 20))
    if isinstance(data, str):
        found = _DATA_URL.match(data)
        if found is not None and not told and found[1]:
            told.append(found[1])
        if found is not None or inner.get("data") or inner.get("file_data"):
            told.append(size_words((len(data) - (found.end() if found else 0)) * 3 // 4))
    return told


def body_words(content_type: str, size: int) -> str | None:
    """``[audio mpeg 34 kB]`` of a whole body; None for one that is no image, sound or film."""
    found = _MEDIA.match(content_type)
    return None if found is None or size == 0 else f"[{found[1].lower()} {found[2].lower()} {size_words(size)}]"


def size_words(size: int) -> str:
    """``812 B``, ``34 kB``, ``1.2 MB``."""
    if size < _STEP:
        return f"{size} B"
    number, unit = (size / _STEP, "kB") if size < _STEP**2 else (size / _STEP**2, "MB")
    return f"{number:.1f} {unit}" if number < 9.95 else f"{number:.0f} {unit}"
