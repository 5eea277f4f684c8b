"""Read images, audio, video and files, and describe them, because they cannot be shown as text."""

import re
from typing import Any, Final

from relaybook.log.formats.conversation import Media, Part, PartKind
from relaybook.log.formats.lenient import join, text_or_none
from relaybook.log.formats.text import clean

_DATA_URL: Final = re.compile(r"data:([a-zA-Z0-9.+-]+/[a-zA-Z0-9.+-]{1,80})?[^,]{0,200}?;base64,")
_MEDIA_TYPE: Final = re.compile(r"(?i)(image|audio|video)/([a-z0-9.+-]{1,40})")
_STEP: Final = 1000
#: The first bytes of raster images and of audio files.
_MAGIC: Final = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
    (re.compile(rb"ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb]"), "audio/mpeg"),
    (re.compile(rb"RIFF....WAVE", re.DOTALL), "audio/wav"),
    (re.compile(rb"OggS"), "audio/ogg"),
    (re.compile(rb"fLaC"), "audio/flac"),
    (re.compile(rb"\xff[\xf0\xf1\xf8\xf9]"), "audio/aac"),
    (re.compile(rb"....ftyp", re.DOTALL), "audio/mp4"),
    (re.compile(rb"\x1a\x45\xdf\xa3"), "audio/webm"),
)


def media(kind: PartKind, fields: dict[str, Any]) -> tuple[Media | None, dict[str, Any]]:
    """Read a media object of any provider. Return the media, and the fields that it does not have.

    Supported fields: ``url``, ``file_url``, ``data`` or ``file_data`` (base64 or a data URL), ``media_type`` or
    ``format``, ``filename``, ``file_id``. Of several URLs or names, the media has the first; the others remain in the
    fields. The media is `None` if there is none of them.
    """
    rest = dict(fields)

    def take(*names: str) -> str | None:
        return next((rest.pop(name) for name in names if isinstance(rest.get(name), str) and rest[name]), None)

    data = take("data", "file_data", "b64_json")
    url = take("url", "file_url") if data is None else None
    if data is not None and data.startswith("data:"):
        url, data = data, None
    media_type = take("media_type", "mime_type")
    if media_type is None and (format_ := take("format")) is not None:
        media_type = f"{kind}/{format_}" if kind != "file" else format_
    name = take("filename", "file_id")
    size = None
    if data is not None:
        size = decoded_size(data)
        url = f"data:{media_type or ''};base64,{data}"
    elif url is not None and (found := _DATA_URL.match(url)) is not None:
        size = decoded_size(url, found.end())
        media_type = media_type or found[1]
    if url is None and name is None and media_type is None:
        return None, rest
    return Media(
        type=None if media_type is None else clean(media_type, 80),
        bytes=size,
        name=None if name is None else clean(name),
        url=None if url is None else join([url]),
    ), rest


def type_of(data: bytes) -> str | None:
    """Return the media type that the first bytes of a file show. `None` if it is no raster image and no audio."""
    return next((media_type for magic, media_type in _MAGIC if magic.match(data)), None)


def decoded_size(base64: str, start: int = 0) -> int:
    """Return the number of bytes that a text in base64 has from ``start`` on."""
    padding = 2 if base64.endswith("==") else 1 if base64.endswith("=") else 0
    return max(0, (len(base64) - start) * 3 // 4 - padding)


def media_part(kind: PartKind, source: object, more: dict[str, Any]) -> Part:
    """Return an image, audio, video or file. ``source`` is its URL or an object; ``more`` are the part's other fields.

    Fields of the part such as ``file_id`` may stand beside the source or in it.
    """
    fields = dict(source) if isinstance(source, dict) else {} if text_or_none(source) is None else {"url": source}
    found, rest = media(kind, more | fields)
    return Part(kind=kind, media=found or Media(), other=rest)


def describe_media(kind: PartKind, found: Media | None) -> str:
    """Describe a part in a few words, such as ``[image png 34 kB]``, or ``[image]`` if nothing is known about it."""
    words: list[str] = [kind]
    if found is not None:
        if found.name and kind == "file":
            words.append(clean(found.name, 60))
        elif found.type:
            words.append(clean(found.type.rpartition("/")[2], 20))
        if found.bytes is not None:
            words.append(format_size(found.bytes))
    return f"[{' '.join(words)}]"


def describe_body(content_type: str, size: int) -> str | None:
    """Describe a whole body, for example as ``[audio mpeg 34 kB]``.

    `None` if the body is empty or is not an image, audio or video.
    """
    match = _MEDIA_TYPE.match(content_type)
    return None if match is None or size == 0 else f"[{match[1].lower()} {match[2].lower()} {format_size(size)}]"


def format_size(size: int) -> str:
    """Format a size in decimal units, for example ``812 B``, ``34 kB`` or ``1.2 MB``."""
    if size < _STEP:
        return f"{size} B"
    number, unit = (size / _STEP, "kB") if size < 999_500 else (size / _STEP**2, "MB")
    return f"{number:.1f} {unit}" if number < 9.95 else f"{number:.0f} {unit}"
