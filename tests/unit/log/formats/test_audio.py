"""Test OpenAI's Audio API."""

import base64
import json
from typing import Any, Final

import pytest
from tests.support.bodies import data_of, event, reading_of
from tests.support.frames import Script

from relaybook.apis import match
from relaybook.log.formats import Reading, read_request
from relaybook.log.formats.conversation import Media, Message, Part, Request
from relaybook.log.formats.preview import input_preview, output_preview
from relaybook.log.formats.usage import counts_of
from relaybook.log.prices import Prices
from relaybook.log.record import Record
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.fold import Fold

FORM: Final = (
    b'--b1\r\nContent-Disposition: form-data; name="model"\r\n\r\ngpt-4o-transcribe\r\n'
    b'--b1\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nNames: Relaybook\r\n'
    b'--b1\r\nContent-Disposition: form-data; name="file"; filename="call.mp3"\r\nContent-Type: audio/mpeg\r\n\r\n'
    + bytes(34_000)
    + b"\r\n--b1--\r\n"
)
USAGE: Final[dict[str, Any]] = {
    "type": "tokens",
    "input_tokens": 14,
    "input_token_details": {"text_tokens": 4, "audio_tokens": 10},
    "output_tokens": 45,
    "total_tokens": 59,
}
SRT: Final = "1\n00:00:00,000 --> 00:00:02,000\nGrüezi\n"


def asked(body: Any, path: str = "/v1/audio/transcriptions") -> Request:
    return read_request(data_of(body), match("POST", path))


def reading(body: Any, **how: Any) -> Reading:
    return reading_of(body, "audio", **how)


def test_the_text_to_speak_is_the_message() -> None:
    body = {"model": "tts-1", "input": "Hello", "instructions": "Whisper.", "voice": "alloy"}
    found = asked(body, "/v1/audio/speech")
    assert found.messages == [
        Message("system", [Part("text", "Whisper.")]),
        Message("user", [Part("text", "Hello")]),
    ]
    assert (found.model, found.parameters) == ("tts-1", {"model": "tts-1", "voice": "alloy"})


def test_a_form_has_the_audio_file_and_the_prompt() -> None:
    found = asked(FORM)
    assert (found.model, found.understood) == ("gpt-4o-transcribe", True)
    assert found.messages[0].parts[0] == Part("audio", media=Media("audio/mpeg", 34_000, "call.mp3"))
    assert input_preview(found.messages) == "[audio mpeg 34 kB] Names: Relaybook"


@pytest.mark.parametrize(
    ("start", "shown"),
    [
        (b"ID3\x04\x00", "[audio mpeg 1.0 kB]"),
        (b"\xff\xfb\x90\x64", "[audio mpeg 1.0 kB]"),
        (b"RIFF\x24\x08\x00\x00WAVEfmt ", "[audio wav 1.0 kB]"),
        (b"OggS\x00\x02", "[audio ogg 1.0 kB]"),
        (b"fLaC\x00", "[audio flac 1.0 kB]"),
        (b"\xff\xf1\x50\x80", "[audio aac 1.0 kB]"),
        (b"\x00\x01\x02\x03", "[audio 1.0 kB]"),
        # samples that begin like a comment of an event stream, or like JSON
        (b":\x01\x02\x03", "[audio 1.0 kB]"),
        (b"\n\r:\x01", "[audio 1.0 kB]"),
        (b"{\x01\x02\x03", "[audio 1.0 kB]"),
    ],
)
def test_a_response_of_audio_is_described_by_its_bytes(start: bytes, shown: str) -> None:
    found = reading(start + bytes(1000 - len(start)), streamed=False)
    assert (output_preview(found.response), found.is_known, found.notes) == (shown, True, [])


@pytest.mark.parametrize("text", ["Grüezi", SRT, "WEBVTT\n\n00:00.000 --> 00:02.000\nHi\n", "<v Ann>Hi", "ü" * 5000])
def test_a_plain_transcript_is_a_text(text: str) -> None:
    found = reading(text.encode(), streamed=False)
    assert [(part.kind, part.text) for part in found.response.outputs[0].parts] == [("text", text)]


def test_a_transcript_of_json_has_its_text_and_its_usage() -> None:
    body = {"text": "Grüezi", "language": "german", "duration": 2.5, "usage": USAGE, "segments": [{"id": 0}]}
    found = reading(body, streamed=False).response
    assert (output_preview(found), found.usage) == ("Grüezi", USAGE)
    assert found.other == {"language": "german", "duration": 2.5, "segments": [{"id": 0}]}
    counts = counts_of(USAGE, "audio")
    assert (counts.tokens[:2], counts.others) == ((14, 45), {"input_audio": 10})
    assert counts_of({"type": "duration", "seconds": 9.0}).others == {"input_audio_seconds": 9}


def test_a_streamed_transcript_ends_with_its_whole_text() -> None:
    deltas = [event({"type": "transcript.text.delta", "delta": text}) for text in ("Grü", "ezi")]
    done = event({"type": "transcript.text.done", "text": "Grüezi!", "usage": USAGE})
    found = reading(b"".join(deltas) + done)
    assert (found.response.ending, found.first_token_end) == ("done", len(deltas[0]))
    assert (output_preview(found.response), found.response.usage, found.response.other) == ("Grüezi!", USAGE, {})
    cut = reading(b"".join(deltas), complete=False).response
    assert (cut.ending, output_preview(cut)) == ("cut", "Grüezi")


def test_speakers_of_a_transcript_are_kept() -> None:
    segment = {"id": "s1", "speaker": "A", "text": "Hi", "start": 0.0, "end": 1.0}
    data = event({"type": "transcript.text.segment"} | segment) + event({"type": "transcript.text.done", "text": "Hi"})
    assert reading(data).response.outputs[0].other == {"segments": [segment]}


def test_streamed_speech_is_counted() -> None:
    audio = base64.b64encode(bytes(600)).decode()
    deltas = event({"type": "speech.audio.delta", "audio": audio}) * 2
    found = reading(deltas + event({"type": "speech.audio.done", "usage": USAGE})).response
    assert (output_preview(found), found.ending, found.usage) == ("[audio 1.2 kB]", "done", USAGE)
    assert found.other == {}


def record_of(response: bytes, head: bytes, path: bytes = b"/v1/audio/speech") -> Record:
    body = FORM if path.endswith(b"transcriptions") else json.dumps({"model": "tts-1", "input": "Hi"}).encode()
    script = Script().open(b"a" * 16, target=path).request(b"a" * 16, body)
    script.respond(b"a" * 16, response, head=head).close(b"a" * 16, "complete")
    (exchange,) = Fold().feed(script.frames)
    builder = EntryBuilder(Prices(), lambda ref: b"")
    return builder.entry(exchange, builder.bodies(exchange)).record


def test_a_record_of_speech_has_model_text_and_audio() -> None:
    record = record_of(b"ID3" + bytes(33_997), b"content-type: audio/mpeg")
    assert (record.kind, record.model, record.input_preview) == ("audio", "tts-1", "Hi")
    assert (record.output_preview, record.failed, record.notes) == ("[audio mpeg 34 kB]", False, [])


def test_audio_that_begins_like_no_file_has_the_type_of_its_label() -> None:
    assert record_of(bytes(2000), b"content-type: audio/pcm;rate=24000").output_preview == "[audio pcm 2.0 kB]"
    assert record_of(b"ID3" + bytes(97), b"content-type: audio/pcm").output_preview == "[audio mpeg 100 B]"
    assert record_of(bytes(2000), b"content-type: text/plain").output_preview == "[audio 2.0 kB]"


def test_a_record_of_a_transcript_has_file_and_text() -> None:
    record = record_of(SRT.encode(), b"content-type: text/plain", b"/v1/audio/transcriptions")
    assert (record.model, record.input_preview) == ("gpt-4o-transcribe", "[audio mpeg 34 kB] Names: Relaybook")
    assert (record.output_preview, record.failed) == ("1 00:00:00,000 --> 00:00:02,000 Grüezi", False)


@pytest.mark.parametrize("body", [b"<html><title>502</title></html>", b"<!DOCTYPE html>", b'{"text": "a', b"[", b" "])
def test_a_response_that_is_neither_audio_nor_text_has_failed(body: bytes) -> None:
    assert record_of(body, b"content-type: text/html").failed


def test_an_error_event_is_read() -> None:
    found = reading(event({"error": {"message": "No", "code": "x"}}, "error")).response
    assert found.error is not None
    assert (found.error.code, found.error.message) == ("x", "No")
