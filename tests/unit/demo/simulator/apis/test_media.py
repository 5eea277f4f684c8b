"""Test the images and the audio of the simulated upstream."""

import base64
import io
import json
import wave
import zlib
from typing import Any

import pytest

from relaybook_demo.simulator.directives import NO_DIRECTIVES
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.provider import reply_to
from relaybook_demo.simulator.replies import Reply, Stamp

IMAGES = "/v1/images/generations"
SPEECH = "/v1/audio/speech"
TRANSCRIPTIONS = "/v1/audio/transcriptions"


def send(path: str, body: Any, method: str = "POST", key: bytes = b"sk-test") -> Reply:
    request = Request(method, path.encode(), [(b"Authorization", b"Bearer " + key)])
    request.begin_body()
    request.add_body(body if isinstance(body, bytes) else json.dumps(body).encode())
    return reply_to(request, NO_DIRECTIVES, Stamp("ab", 7))


def form(**fields: str) -> bytes:
    start = b"--x\r\nContent-Disposition: form-data; name="
    file = start + b'"file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\nRIFF\r\n'
    parts = (
        start + f'"{name}"\r\nContent-Type: text/plain\r\n\r\n{value}\r\n'.encode() for name, value in fields.items()
    )
    return b"".join([file, *parts, b"--x--\r\n"])


def test_images_are_small_png_files() -> None:
    body = json.loads(send(IMAGES, {"prompt": "a cup of tea", "model": "gpt-image-1", "n": 2}).body)
    images = [base64.b64decode(item["b64_json"]) for item in body["data"]]
    assert [image[:16] for image in images] == [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"] * 2
    assert images[0] != images[1]
    (start,) = [images[0].index(b"IDAT")]
    pixels = zlib.decompress(images[0][start + 4 : images[0].index(b"IEND") - 8])
    assert len(pixels) == 16 * (1 + 16 * 3)
    usage = body["usage"]
    assert (body["created"], usage["input_tokens"], usage["total_tokens"]) == (7, 3, 3 + usage["output_tokens"])


def test_speech_is_a_wav_file_that_is_longer_for_a_longer_text() -> None:
    durations = []
    for text in ("Hello", "Hello to all of you"):
        reply = send(SPEECH, {"input": text, "model": "gpt-4o-mini-tts", "voice": "alloy"})
        assert reply.content_type == b"audio/wav"
        with wave.open(io.BytesIO(reply.body)) as audio:
            durations.append(audio.getnframes() / audio.getframerate())
    assert durations == [0.1, 0.5]


def test_a_transcription_has_a_text_and_its_usage() -> None:
    whisper = json.loads(send(TRANSCRIPTIONS, form(model="whisper-1")).body)
    assert whisper["text"]
    assert whisper["usage"] == {"type": "duration", "seconds": 1}
    other = json.loads(send(TRANSCRIPTIONS, form(model="gpt-4o-transcribe")).body)
    assert other["usage"]["total_tokens"] == other["usage"]["input_tokens"] + other["usage"]["output_tokens"]
    plain = send(TRANSCRIPTIONS, form(model="whisper-1", response_format="text"))
    assert plain.content_type == b"text/plain; charset=utf-8"
    assert plain.body.endswith(b"\n")


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (IMAGES, {"prompt": "x", "model": "llama"}, 404),
        (IMAGES, {"prompt": "x", "n": 11}, 400),
        (IMAGES, {}, 400),
        (IMAGES, b"{", 400),
        (IMAGES, b"\xff", 400),
        (SPEECH, {"input": "x", "model": "llama"}, 404),
        (SPEECH, {"model": "tts-1"}, 400),
        (TRANSCRIPTIONS, form(), 400),
        (TRANSCRIPTIONS, form(model="llama"), 404),
        (TRANSCRIPTIONS, b"", 400),
    ],
)
def test_errors_have_openais_structure(path: str, body: Any, status: int) -> None:
    reply = send(path, body)
    assert (reply.status, json.loads(reply.body)["error"]["type"]) == (status, "invalid_request_error")


@pytest.mark.parametrize("path", [IMAGES, SPEECH, TRANSCRIPTIONS])
def test_a_key_and_the_method_post_are_required(path: str) -> None:
    assert send(path, b"", key=b"sk-invalid").status == 401
    assert send(path, b"", "GET").status == 405
