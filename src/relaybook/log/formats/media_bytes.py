"""Find the bytes of images and audio in stored bodies, and recognize what a browser can show or play.

The model describes media, but does not have the bytes of uploads and of audio in responses. A type is what the bytes
begin with, never what a client or an upstream calls them. Only raster images and audio have a type here, so nothing
that a browser could run is ever served as media.
"""

import base64
import binascii
import re
import struct
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from relaybook.apis import Kind
from relaybook.log.formats import audio, lenient, multipart, sse
from relaybook.log.formats.conversation import Media, Part
from relaybook.log.formats.lenient import is_object
from relaybook.log.formats.media import type_of

#: Samples of 16 bits without a header. The APIs send them at 24 kHz unless the type says something else.
_SAMPLES: Final = re.compile(r"(?i)audio/(?:pcm(?:16)?|l16|s16le)\b(?:.*?\brate=(\d{4,6}))?")
_SAMPLE_RATE: Final = 24_000
#: As many characters of base64 as are needed to recognize a type.
_START: Final = 64


class MediaFile(NamedTuple):
    """The bytes of an image or of audio, and their type."""

    type: str
    data: bytes


def recognize(data: bytes, declared: str | None) -> MediaFile | None:
    """Return bytes with their type. `None` if they are neither a raster image nor audio that browsers can play.

    Samples without a header get the header of a WAV file.
    """
    if (found := type_of(data)) is not None:
        return MediaFile(found, data)
    samples = _SAMPLES.match(declared or "")
    return MediaFile("audio/wav", _with_header(data, int(samples[1] or _SAMPLE_RATE))) if samples and data else None


def _with_header(samples: bytes, rate: int) -> bytes:
    fields = struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16)
    size = len(samples)
    return b"RIFF" + struct.pack("<I", 36 + size) + b"WAVEfmt " + fields + b"data" + struct.pack("<I", size) + samples


def is_shown(part: Part, *, has_body: bool) -> bool:
    """Return whether a part of a body is an image or audio that can be served.

    ``has_body`` tells whether the bytes of media without a data URL are in the stored body, as uploads are.
    """
    media = part.media
    if part.kind not in ("image", "audio") or media is None:
        return False
    if media.url is None:
        return has_body
    start = media.url.find(";base64,", 0, 300)
    if not media.url.startswith("data:") or start < 0:
        return False
    found = recognize(_decoded(media.url[start + 8 : start + 8 + _START]), media.type)
    return found is not None and found.type.startswith(part.kind)


def bytes_of_url(media: Media) -> bytes | None:
    """Return the bytes in a data URL. `None` if the media has no data URL."""
    url = media.url or ""
    start = url.find(";base64,", 0, 300)
    return _decoded(url[start + 8 :]) if url.startswith("data:") and start >= 0 else None


def bytes_of_upload(body: bytes, media: Media, before: int) -> bytes | None:
    """Return a file of a form with this name and size. ``before`` is the number of such files before it."""
    found = [
        (start, end) for name, start, end in multipart.files(body) if name == media.name and end - start == media.bytes
    ]
    return body[slice(*found[before])] if before < len(found) else None


def audio_of_response(body: bytes, kind: Kind, index: int) -> bytes:
    """Return the audio of an output, which the model omits: of a speech, or of a message of chat completions."""
    if kind == "audio" and audio.read_plain_response(body) is not None:
        return body
    return b"".join(map(_decoded, _fragments(body, index)))


def _fragments(body: bytes, index: int) -> Iterator[str]:
    for event in _events(body):
        if event.get("type") == "speech.audio.delta":
            yield _text(event.get("audio"))
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if is_object(choice) and choice.get("index", 0) == index:
                for name in ("message", "delta"):
                    if is_object(message := choice.get(name)) and is_object(found := message.get("audio")):
                        yield _text(found.get("data"))


def _events(body: bytes) -> Iterator[dict[str, Any]]:
    if not sse.starts_as_stream(body):
        if is_object(value := lenient.load(body)):
            yield value
        return
    for _, payload, _ in sse.events(sse.normalized(body)):
        if payload.startswith(b"{") and is_object(value := lenient.load(payload)):
            yield value


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _decoded(text: str) -> bytes:
    """Decode base64, as far as it is valid. Fragments of a stream are decoded one by one."""
    text = text.rstrip("=\r\n ")
    try:
        return base64.b64decode(text[: len(text) - (len(text) % 4 == 1)] + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return b""
