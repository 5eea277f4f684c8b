"""Read what OpenAI's SDK sends to its image and audio APIs, and every event of their streams that its types declare."""

import base64
import json
from random import Random
from typing import Any

import httpx2
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types import ImageEditStreamEvent, ImageGenStreamEvent, ImagesResponse
from openai.types.audio import Transcription, TranscriptionStreamEvent, TranscriptionVerbose
from tests.conformance.accumulators.test_response_types import assert_nothing_is_lost
from tests.conformance.accumulators.values import by_type, cut, instance, text

from relaybook.apis import match
from relaybook.log.formats import read_request, read_response
from relaybook.log.formats.conversation import Media, Request
from relaybook.log.formats.preview import output_preview
from relaybook.log.formats.usage import counts_of

SEEDS = st.integers(0, 2**32 - 1).map(Random)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8
ENCODED = base64.b64encode(PNG).decode()
EVENTS = by_type(TranscriptionStreamEvent)


class Sent:
    """A client that keeps the last request, and answers each request with the same bytes."""

    def __init__(self, answer: bytes, content_type: str = "application/json") -> None:
        self.path = self.body = b""

        def handle(request: httpx2.Request) -> httpx2.Response:
            self.path, self.body = request.url.raw_path, request.read()
            return httpx2.Response(200, headers={"content-type": content_type}, content=answer)

        http = httpx2.Client(transport=httpx2.MockTransport(handle))
        self.client = openai.OpenAI(api_key="x", base_url="http://localhost/v1", http_client=http, max_retries=0)

    def request(self) -> Request:
        return read_request(self.body, match("POST", self.path.decode()))


def encode(events: list[dict[str, Any]]) -> bytes:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def test_the_form_of_an_edit_has_prompt_model_and_images() -> None:
    sent = Sent(b'{"created": 1}')
    images = [("a.png", PNG, "image/png"), ("Zürich.png", PNG, "image/png")]
    sent.client.images.edit(image=images, prompt="A cat\nin Zürich", model="gpt-image-1", mask=images[0], n=2)
    found = sent.request()
    (message,) = found.messages
    assert (found.model, found.understood, message.parts[0].text) == ("gpt-image-1", True, "A cat\nin Zürich")
    assert [part.media for part in message.parts[1:]] == [
        Media("image/png", len(PNG), name) for name in ("a.png", "Zürich.png", "a.png")
    ]
    assert found.parameters == {"model": "gpt-image-1", "n": "2"}


def test_the_form_of_a_transcript_has_model_file_and_prompt() -> None:
    sent = Sent(b'{"text": ""}')
    file = ("call.mp3", bytes(5000), "audio/mpeg")
    sent.client.audio.transcriptions.create(file=file, model="gpt-4o-transcribe", prompt="Names", language="de")
    found = sent.request()
    assert found.messages[0].parts[0].media == Media("audio/mpeg", 5000, "call.mp3")
    assert (found.model, found.messages[0].parts[1].text) == ("gpt-4o-transcribe", "Names")
    assert found.parameters["language"] == "de"


def test_the_form_of_a_streamed_transcript_asks_for_a_stream() -> None:
    sent = Sent(b"data: [DONE]\n\n", "text/event-stream")
    sent.client.audio.transcriptions.create(file=("a", b"x"), model="m", stream=True)
    assert sent.request().stream is True


@pytest.mark.parametrize("union", [ImageGenStreamEvent, ImageEditStreamEvent])
@settings(deadline=None, max_examples=20)
@given(random=SEEDS)
def test_a_stream_of_an_image_reads_as_the_sdk_reads_it(union: Any, random: Random) -> None:
    events = [instance(random, model, type=name, b64_json=ENCODED) for name, model in by_type(union).items()]
    events.sort(key=lambda event: event["type"].endswith("completed"))
    data = encode(events)
    images, how = Sent(data, "text/event-stream").client.images, {"prompt": "A cat", "model": "gpt-image-1"}
    is_edit = union is ImageEditStreamEvent
    stream: Any = images.edit(image=PNG, stream=True, **how) if is_edit else images.generate(stream=True, **how)
    last = list(stream)[-1]
    response = read_response(data, "image", is_event_stream=True, complete=True).response
    assert response.ending == "done"
    assert output_preview(response) == f"[image {events[-1]['output_format']} 2.1 kB]"
    tokens = counts_of(response.usage or {}, "image").tokens
    assert (tokens.input, tokens.output) == (last.usage.input_tokens, last.usage.output_tokens)


@settings(deadline=None, max_examples=30)
@given(SEEDS)
def test_a_streamed_transcript_reads_as_the_sdk_reads_it(random: Random) -> None:
    pieces = cut(random, text(random))
    deltas = [instance(random, EVENTS["transcript.text.delta"], delta=piece) for piece in pieces]
    segment = instance(random, EVENTS["transcript.text.segment"])
    done = instance(random, EVENTS["transcript.text.done"], text="".join(pieces))
    assert {event["type"] for event in (*deltas, segment, done)} == EVENTS.keys()
    data = encode([*deltas, segment, done])
    sent = Sent(data, "text/event-stream")
    last = list(sent.client.audio.transcriptions.create(file=b"x", model="m", stream=True))[-1]
    response = read_response(data, "audio", is_event_stream=True, complete=True).response
    parts = response.outputs[0].parts
    assert (response.ending, "".join(part.text or "" for part in parts)) == ("done", last.text)


@pytest.mark.parametrize("model", [Transcription, TranscriptionVerbose])
@settings(deadline=None, max_examples=20)
@given(random=SEEDS)
def test_a_transcript_loses_no_text(model: Any, random: Random) -> None:
    assert_nothing_is_lost("audio", instance(random, model))


@settings(deadline=None, max_examples=20)
@given(SEEDS)
def test_a_response_with_images_loses_no_text(random: Random) -> None:
    assert_nothing_is_lost("image", instance(random, ImagesResponse))
