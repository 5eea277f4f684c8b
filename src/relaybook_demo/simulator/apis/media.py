"""Respond to requests for images and audio in OpenAI's format: tiny images, transcripts and silence."""

import base64
import io
import re
import struct
import wave
import zlib
from typing import Any, Final

import msgspec

from relaybook_demo.simulator import texts
from relaybook_demo.simulator.apis.models import is_known
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.replies import Reply, Stamp, invalid_request, json_reply, not_json, unknown_model

PATHS: Final = ("/v1/images/generations", "/v1/audio/speech", "/v1/audio/transcriptions")

_IMAGE_TOKENS: Final = 272
_MAX_IMAGES: Final = 10
_SIDE_PIXELS: Final = 16
_SAMPLES_PER_SECOND: Final = 8000
_FORM_FIELD: Final = re.compile(rb'name="(model|response_format)"\r\n(?:[^\r\n]+\r\n)*\r\n([^\r\n]*)\r\n')


class _ImageRequest(msgspec.Struct):
    prompt: str
    model: str = "dall-e-2"
    n: int = 1


class _SpeechRequest(msgspec.Struct):
    input: str
    model: str


def respond(request: Request, path: str, stamp: Stamp) -> Reply:
    """Return the response to a POST request for an image or for audio."""
    try:
        match path.rpartition("/")[2]:
            case "generations":
                return _images(msgspec.json.decode(request.body, type=_ImageRequest), stamp)
            case "speech":
                return _speech(msgspec.json.decode(request.body, type=_SpeechRequest))
            case _:
                return _transcription(request.body)
    except msgspec.ValidationError as error:
        return invalid_request(400, str(error), "invalid_type")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return not_json()


def _images(request: _ImageRequest, stamp: Stamp) -> Reply:
    if not is_known(request.model):
        return unknown_model(request.model)
    if not 1 <= request.n <= _MAX_IMAGES:
        return invalid_request(400, f"Invalid 'n': expected 1 to {_MAX_IMAGES}.", "invalid_value", "n")
    seed = zlib.crc32(request.prompt.encode("utf-8", "surrogatepass"))
    data = [{"b64_json": base64.b64encode(_png(seed + index)).decode()} for index in range(request.n)]
    input_tokens, output_tokens = texts.count_tokens(request.prompt), _IMAGE_TOKENS * request.n
    usage = {
        "input_tokens": input_tokens,
        "input_tokens_details": {"text_tokens": input_tokens, "image_tokens": 0},
        "output_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
    }
    form = {"size": "1024x1024", "quality": "low", "output_format": "png", "background": "opaque"}
    return json_reply({"created": stamp.created, "data": data, "usage": usage, **form}, output_tokens=output_tokens)


def _png(seed: int) -> bytes:
    """Return a small image of one color."""
    color = (seed & 0xFFFFFF).to_bytes(3, "big")
    rows = (b"\0" + color * _SIDE_PIXELS) * _SIDE_PIXELS
    header = struct.pack(">IIBBBBB", _SIDE_PIXELS, _SIDE_PIXELS, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )


def _speech(request: _SpeechRequest) -> Reply:
    """Return silence in WAV format: a tenth of a second for each word."""
    if not is_known(request.model):
        return unknown_model(request.model)
    frames = len(request.input.split()) * _SAMPLES_PER_SECOND // 10
    file = io.BytesIO()
    with wave.open(file, "wb") as audio:
        audio.setparams((1, 1, _SAMPLES_PER_SECOND, frames, "NONE", "not compressed"))
        audio.writeframes(b"\x80" * frames)
    return Reply(body=file.getvalue(), content_type=b"audio/wav")


def _transcription(body: bytes) -> Reply:
    """Return a text that depends only on the size of the form."""
    form = {name.decode(): value.decode("utf-8", "replace") for name, value in _FORM_FIELD.findall(body)}
    model = form.get("model")
    if not model:
        return invalid_request(400, "you must provide a model parameter")
    if not is_known(model):
        return unknown_model(model)
    tokens = texts.filler_tokens(5 + len(body) % 10)
    text = "".join(tokens)
    if form.get("response_format") == "text":
        return Reply(body=text.encode() + b"\n", content_type=b"text/plain; charset=utf-8")
    usage: dict[str, Any] = {"type": "duration", "seconds": 1 + len(body) // 16_000}
    if model.startswith("gpt-"):
        count = 10 * usage["seconds"]
        usage = {
            "type": "tokens",
            "input_tokens": count,
            "input_token_details": {"text_tokens": 0, "audio_tokens": count},
            "output_tokens": len(tokens),
            "total_tokens": count + len(tokens),
        }
    return json_reply({"text": text, "usage": usage}, output_tokens=len(tokens))
