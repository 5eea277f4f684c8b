"""Test that images and audio of stored bodies are served so that browsers play them, and never run them."""

import base64
import json
from typing import Any, Final

import pytest
from tests.support.api_log import client_of, entry_of, head_of, record_of
from tests.support.asgi import Response
from tests.support.memory_store import MemoryStore

from relaybook.log.record import Detail
from relaybook.log.store.port import Batch

WAV: Final = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\4\0\0\0\1\0\2\0"
PNG: Final = b"\x89PNG\r\n\x1a\n and more"
SVG: Final = b'<svg xmlns="http://www.w3.org/2000/svg" onload="canary()"/>'
HTML: Final = b"<!doctype html><script>canary()</script>"


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def form(*files: tuple[str, str, bytes]) -> bytes:
    lines = b"".join(
        b'--x\r\nContent-Disposition: form-data; name="%s"; filename="%s"\r\nContent-Type: audio/wav\r\n\r\n%s\r\n'
        % (name.encode(), file.encode(), data)
        for name, file, data in files
    )
    return lines + b"--x--\r\n"


class Log:
    """A log with one request."""

    def __init__(self, request: Any, response: Any, kind: str = "chat", content_type: str = "", **fields: Any) -> None:
        store = MemoryStore()
        detail = Detail(response_head=head_of(("Content-Type", content_type)))
        bodies = [body if isinstance(body, bytes) else json.dumps(body).encode() for body in (request, response)]
        store.commit(Batch(entries=[entry_of(record_of(1, kind=kind, **fields), *bodies, detail)]))
        self.client = client_of(store)

    def paths(self) -> list[str]:
        """Return the paths of all images and audio."""
        detail = self.client.get(f"/api/requests/{record_of(1).id}").json()
        spoken = [*(detail["messages"] or []), *(detail["response"] or {}).get("outputs", [])]
        return [
            part["media"]["content"]
            for each in spoken
            for part in each.get("parts", [])
            if part.get("media", {}).get("content")
        ]

    def get(self, path: str, **headers: str) -> Response:
        return self.client.get(f"/api/{path}", *headers.items())

    def only(self) -> Response:
        (path,) = self.paths()
        return self.get(path)


def asked(data: bytes, format_: str = "wav") -> dict[str, Any]:
    part = {"type": "input_audio", "input_audio": {"data": base64_of(data), "format": format_}}
    return {"messages": [{"role": "user", "content": [{"type": "text", "text": "Listen."}, part]}]}


def test_audio_in_a_message_is_served_with_its_type_and_never_as_a_page() -> None:
    response = Log(asked(WAV), b"{}").only()
    assert (response.status, response.body, response.header("content-type")) == (200, WAV, "audio/wav")
    assert response.header("content-disposition") == "attachment"
    assert response.header("content-security-policy") == "sandbox; default-src 'none'"
    assert response.header("x-content-type-options") == "nosniff"


def test_a_player_can_seek() -> None:
    log = Log(asked(WAV), b"{}")
    (path,) = log.paths()
    assert log.get(path, Range="bytes=4-7").body == WAV[4:8]
    rest = log.get(path, Range="bytes=40-")
    assert (rest.status, rest.header("content-range"), rest.body) == (
        206,
        f"bytes 40-{len(WAV) - 1}/{len(WAV)}",
        WAV[40:],
    )
    assert log.get(path, Range="bytes=999-").status == 416


@pytest.mark.parametrize("format_", ["pcm16", "pcm"])
def test_samples_get_the_header_of_a_wav_file(format_: str) -> None:
    response = Log(asked(b"\1\0\2\0", format_), b"{}").only()
    assert response.header("content-type") == "audio/wav"
    assert response.body[24:28] == (24_000).to_bytes(4, "little")
    assert response.body.endswith(b"data\4\0\0\0\1\0\2\0")


def test_the_body_of_a_speech_is_served() -> None:
    log = Log({"input": "Hi"}, WAV, "audio", "audio/wav", path="/v1/audio/speech")
    assert log.only().body == WAV


def test_a_streamed_speech_is_put_together() -> None:
    events = [{"type": "speech.audio.delta", "audio": base64_of(part)} for part in (WAV[:10], WAV[10:])]
    stream = b"".join(
        b"data: %s\n\n" % json.dumps(event).encode() for event in [*events, {"type": "speech.audio.done"}]
    )
    assert Log({"input": "Hi"}, stream, "audio", stream=True).only().body == WAV


def test_audio_of_a_chat_completion_is_served_also_if_it_was_streamed() -> None:
    request = {"modalities": ["audio"], "audio": {"format": "pcm16"}, "messages": [{"role": "user", "content": "Hi"}]}
    audio = {"id": "audio_1", "transcript": "Hello", "data": base64_of(b"\1\0\2\0")}
    whole = {"choices": [{"index": 0, "message": {"role": "assistant", "content": None, "audio": audio}}]}
    stream = b"".join(
        b"data: %s\n\n"
        % json.dumps({"choices": [{"index": 0, "delta": {"audio": {"data": base64_of(part)}}}]}).encode()
        for part in (b"\1\0", b"\2\0")
    )
    stream = b'data: {"choices": [{"index": 0, "delta": {"audio": {"id": "a", "transcript": "Hi"}}}]}\n\n' + stream
    for body, is_stream in ((whole, False), (stream + b"data: [DONE]\n\n", True)):
        assert Log(request, body, stream=is_stream).only().body.endswith(b"data\4\0\0\0\1\0\2\0")


def test_an_uploaded_recording_is_served() -> None:
    log = Log(form(("file", "a.wav", WAV)), {"text": "Hello"}, "audio", path="/v1/audio/transcriptions")
    assert log.only().body == WAV


def test_each_of_several_uploaded_images_is_served() -> None:
    other = PNG + b"\0"
    body = form(("image[]", "a.png", PNG), ("image[]", "a.png", PNG), ("image[]", "a.png", other))
    log = Log(body, {"data": []}, "image", path="/v1/images/edits")
    shown = [log.get(path) for path in log.paths()]
    assert [(each.header("content-type"), each.body) for each in shown] == [
        ("image/png", PNG),
        ("image/png", PNG),
        ("image/png", other),
    ]


@pytest.mark.parametrize("data", [SVG, HTML, b"", b"%PDF-1.7", PNG])
def test_bytes_that_are_no_audio_are_not_served_as_audio(data: bytes) -> None:
    for log in (
        Log(asked(data, "mp3"), b"{}"),
        Log(form(("file", "a.mp3", data)), {"text": "Hello"}, "audio", path="/v1/audio/transcriptions"),
        Log({"input": "Hi"}, data, "audio", "audio/mpeg", path="/v1/audio/speech"),
    ):
        for path in (*log.paths(), f"requests/{record_of(1).id}/media/request/0/1"):
            response = log.get(path)
            assert (response.status, response.json()["error"]["code"]) == (404, "not_found")


def test_unknown_parts_and_requests_are_not_found() -> None:
    log = Log(asked(WAV), b"{}")
    own = f"requests/{record_of(1).id}/media"
    for path in (
        f"{own}/request/9/9",
        f"{own}/request/0/0",
        f"{own}/response/0/0",
        f"{own}/x/0/1",
        "requests/none/media/request/0/0",
    ):
        assert log.get(path).status == 404
