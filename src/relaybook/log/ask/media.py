"""Return images and audio from stored bodies, so that a browser can show and play them."""

from collections.abc import Sequence
from typing import Final

from relaybook.log.ask.errors import AskError
from relaybook.log.formats.conversation import Media, Message, Output, Part, Request, Response
from relaybook.log.formats.media_bytes import (
    MediaFile,
    audio_of_response,
    bytes_of_upload,
    bytes_of_url,
    is_shown,
    recognize,
)
from relaybook.log.record import Side
from relaybook.log.request_view import RequestView

#: APIs whose responses can have audio that the model omits.
_WITH_AUDIO: Final = ("audio", "chat")


def add_content(found: RequestView, request: Request | None, response: Response | None) -> None:
    """Set ``Media.content`` of the images and the audio whose bytes are in the stored bodies."""
    if found.is_running:
        return
    for side, spoken in _sides(request, response):
        for at, each in enumerate(spoken):
            for place, part in enumerate(each.parts):
                if part.kind == "audio" and part.media is None and side == "response":
                    part.media = Media(type=_type_of_audio(request))
                if part.media is not None and is_shown(part, has_body=_has_body(found, side, part.media)):
                    part.media.content = f"requests/{found.record.id}/media/{side}/{at}/{place}"


def _sides(request: Request | None, response: Response | None) -> Sequence[tuple[Side, Sequence[Message | Output]]]:
    return (("request", request.messages if request else ()), ("response", response.outputs if response else ()))


def _has_body(found: RequestView, side: Side, media: Media) -> bool:
    """Return whether bytes that the model omits are in the body: those of an upload, or of audio in a response."""
    if side == "request":
        return media.bytes is not None
    return found.record.kind in _WITH_AUDIO


def _type_of_audio(request: Request | None) -> str | None:
    """Return the type of the audio that a request for chat completions asks for."""
    asked = None if request is None else request.parameters.get("audio")
    format_ = asked.get("format") if isinstance(asked, dict) else None
    return f"audio/{format_}" if isinstance(format_, str) and len(format_) < 40 else None


def media(found: RequestView, side: Side, at: int, place: int) -> MediaFile:
    """Return the image or the audio in one part of a message or an output.

    Raises AskError if there is no such part, or if browsers cannot show or play it, and BodyDamaged.
    """
    request, response = found.request(), found.response()
    spoken = dict(_sides(request, response))[side]
    parts: Sequence[Part] = spoken[at].parts if at < len(spoken) else ()
    if place < len(parts) and parts[place].kind in ("image", "audio"):
        part = parts[place]
        declared = part.media or Media(type=_type_of_audio(request))
        index = response.outputs[at].index if response is not None and side == "response" else 0
        data = _bytes(found, side, parts[:place], part, index)
        file = None if data is None else recognize(data, declared.type)
        if file is not None and file.type.startswith(part.kind):
            return file
    raise AskError("not_found", "This part of the request is no image or audio that a browser can show or play.")


def _bytes(found: RequestView, side: Side, before: Sequence[Part], part: Part, index: int) -> bytes | None:
    if part.media is not None and part.media.url is not None:
        return bytes_of_url(part.media)
    body = found.body(side)
    if body is None:
        return None
    if side == "response":
        return audio_of_response(body, found.record.kind, index) if part.kind == "audio" else None
    media = part.media or Media()
    same = sum(each.media == media for each in before)
    return bytes_of_upload(body, media, same)
