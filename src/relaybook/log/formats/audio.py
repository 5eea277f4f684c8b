"""Read OpenAI's Audio API: ``audio/speech``, ``audio/transcriptions`` and ``audio/translations``.

A request for speech has a text, and the response is audio. A request for a transcript is a form with an audio file, and
the response is JSON or a plain text, such as subtitles. Both can be streamed as events. A stream is complete at
``speech.audio.done`` or ``transcript.text.done``. Source: the types of OpenAI's SDK, version 3.
"""

import re
from typing import Any, Final

from relaybook.apis import Match
from relaybook.log.formats import multipart, sse
from relaybook.log.formats.content import content_parts
from relaybook.log.formats.conversation import Media, Message, Output, Part, Request, Response
from relaybook.log.formats.lenient import join, text_or_none
from relaybook.log.formats.media import decoded_size, type_of
from relaybook.log.formats.output import add_fragment, merge, snapshot
from relaybook.log.formats.stream import BaseStream
from relaybook.log.formats.text import clean

_READ: Final = frozenset({"id", "model", "text", "usage", "error", "logprobs"})
#: How a body begins that is neither audio nor a transcript: JSON, HTML or XML.
_OTHER: Final = re.compile(rb"(?i)\s*(?:[{\[]|<!doctype|<html|<\?xml)|\s*$")
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
#: Only this much of a body is searched for bytes that no text has.
_SEARCHED: Final = 4096


def read_request(body: dict[str, Any], match: Match) -> Request:
    """Return the text to speak, or the audio file and the prompt of a transcript."""
    read = set()
    messages = []
    if isinstance(instructions := body.get("instructions"), str) and instructions:
        messages.append(Message("system", content_parts(instructions)))
        read.add("instructions")
    parts: list[Part] = []
    if (file := multipart.file_part("audio", body.get("file"))) is not None:
        parts.append(file)
        read.add("file")
    for name in ("input", "prompt"):
        if isinstance(text := body.get(name), str):
            parts += content_parts(text)
            read.add(name)
    if parts:
        messages.append(Message("user", parts))
    return Request(messages=messages, parameters={name: value for name, value in body.items() if name not in read})


def read_plain_response(data: bytes) -> Response | None:
    """Return a response that is audio or a plain text. `None` if it is neither.

    Raw samples can begin with any byte, such as the colon of a comment in an event stream.
    """
    start = data[:_SEARCHED]
    is_text = _is_text(start)
    if is_text and (_OTHER.match(data[:1024]) or sse.starts_as_stream(data)):
        return None
    media_type = type_of(start)
    if media_type is None and is_text:
        part = Part("text", data.decode("utf-8", "replace").removeprefix("\ufeff"))
    else:
        part = Part("audio", media=Media(type=media_type, bytes=len(data)))
    return Response(outputs=[Output(0, [part])])


def add_type(response: Response, content_type: str) -> None:
    """Set the type of audio whose first bytes do not say it, such as raw samples, to the content type of the body."""
    media_type = content_type.partition(";")[0].strip().lower()
    for output in response.outputs:
        for part in output.parts:
            if part.media is not None and part.media.type is None and media_type.startswith("audio/"):
                part.media.type = clean(media_type, 80)


def _is_text(start: bytes) -> bool:
    if _CONTROL.search(start):
        return False
    try:
        start.decode()
    except UnicodeDecodeError as error:
        return error.end >= len(start) - 3 and len(start) == _SEARCHED  # a character that is cut in two
    return True


class Stream(BaseStream):
    """The events of a streamed response so far, or a whole transcript."""

    def __init__(self) -> None:
        super().__init__()
        self._text: list[str] = []
        self._audio_bytes = 0
        self._output: dict[str, Any] = {}
        self._fields: dict[str, Any] = {}

    def add(self, event: dict[str, Any], name: str = "") -> None:
        """Add an event, or a whole transcript."""
        kind = text_or_none(event.get("type")) or name
        fields: dict[str, Any] = {}
        if kind == "transcript.text.delta":
            add_fragment(self._text, event.get("delta"))
        elif kind == "transcript.text.segment":
            merge(self._output, {"segments": [{key: value for key, value in event.items() if key != "type"}]})
        elif kind == "speech.audio.delta":
            if audio := text_or_none(event.get("audio")):
                self._audio_bytes += decoded_size(audio)
        else:
            self.has_end_mark = self.has_end_mark or kind in ("transcript.text.done", "speech.audio.done")
            snapshot(self._text, event.get("text"))
            fields = {key: value for key, value in event.items() if value is not None}
            if self.has_end_mark:
                fields.pop("type", None)
        self.is_known = (
            self.is_known or kind.startswith(("transcript.", "speech.")) or isinstance(event.get("text"), str)
        )
        self.has_token = self.has_token or bool(self._text or self._audio_bytes)
        if logprobs := event.get("logprobs"):
            if isinstance(logprobs, list) and kind == "transcript.text.delta":
                merge(self._output, {"logprobs": list(logprobs)})
            else:
                self._output["logprobs"] = logprobs
        self._fields |= fields
        if "error" in event or not self.is_known:
            self.add_error(event, kind)

    def response(self) -> Response:
        """Return the response with everything added so far."""
        parts = [Part("text", join(self._text))] if self._text else []
        if self._audio_bytes:
            parts.append(Part("audio", media=Media(bytes=self._audio_bytes)))
        usage = self._fields.get("usage")
        has_output = bool(parts or self._output or "text" in self._fields)
        return Response(
            id=text_or_none(self._fields.get("id")),
            model=text_or_none(self._fields.get("model")),
            outputs=[Output(0, parts, other=self._output)] if has_output else [],
            usage=usage if isinstance(usage, dict) else None,
            error=self._error,
            other={name: value for name, value in self._fields.items() if name not in _READ},
        )
