"""Exchanges of the golden file of all other APIs: legacy completions, embeddings, models, and unknown paths."""

import base64
import gzip
from collections.abc import Iterator
from typing import Any

from tests.golden.chat_messages import REQUEST as CHAT_REQUEST
from tests.golden.chat_messages import USAGE, whole_body
from tests.golden.exchange import ANTHROPIC, DONE, STREAM_HEAD, GoldenExchange, encode, event, joined

COMPLETIONS = "/v1/completions"
EMBEDDINGS = "/v1/embeddings"
HEAD: dict[str, Any] = {"id": "cmpl-1", "object": "text_completion", "model": "gpt-3.5-turbo-instruct"}
PROMPT: dict[str, Any] = {"model": "gpt-3.5-turbo-instruct", "prompt": "Once upon"}


def exchanges() -> Iterator[GoldenExchange]:
    yield from _completions()
    yield from _embeddings()
    yield from _others()
    yield from _media()


def _completions() -> Iterator[GoldenExchange]:
    def choice(text: str, index: int = 0, reason: str | None = "stop", **more: Any) -> dict[str, Any]:
        return {"index": index, "text": text, "logprobs": None, "finish_reason": reason} | more

    def whole(name: str, request: dict[str, Any], *choices: dict[str, Any], **body: Any) -> GoldenExchange:
        answer = HEAD | {"choices": list(choices), "usage": USAGE} | body
        return GoldenExchange(f"completion/whole/{name}", COMPLETIONS, encode(PROMPT | request), (encode(answer),))

    yield whole("text", {}, choice(" a time."))
    yield whole("length", {"max_tokens": 2}, choice(" a time", 0, "length"))
    yield whole("prompts", {"prompt": ["One", "Two"]}, choice(" a"), choice(" b", 1))
    yield whole("tokens", {"prompt": [1, 2, 3]}, choice(" a"))
    yield whole("suffix", {"suffix": "the end", "echo": True}, choice("Once upon a time"))
    yield whole("no_usage", {}, choice(" a time."), usage=None)
    yield whole("vllm", {}, choice(" a", stop_reason=None, prompt_logprobs=None))
    yield whole("empty", {"prompt": ""}, choice(""))
    events = [
        *(event(HEAD | {"choices": [choice(text, 0, None)]}) for text in (" a", " time", ".")),
        event(HEAD | {"choices": [choice("")]}),
        event(HEAD | {"choices": [], "usage": USAGE}),
    ]
    request = encode(PROMPT | {"stream": True})
    yield GoldenExchange("completion/stream/text", COMPLETIONS, request, (*events, DONE), response_head=STREAM_HEAD)
    yield GoldenExchange("completion/stream/no_done", COMPLETIONS, request, tuple(events), response_head=STREAM_HEAD)
    yield GoldenExchange(
        "completion/stream/cut",
        COMPLETIONS,
        request,
        (joined(events)[:150],),
        response_head=STREAM_HEAD,
        outcome="upstream_failed",
        error=("upstream_reset", "The upstream closed the connection."),
    )
    two = [event(HEAD | {"choices": [choice(text, index, None)]}) for text, index in (("a", 1), ("b", 0), ("c", 1))]
    yield GoldenExchange("completion/stream/choices", COMPLETIONS, request, (*two, DONE), response_head=STREAM_HEAD)
    error = encode({"error": {"message": "Not a completion model", "code": "model_not_supported"}})
    yield GoldenExchange("completion/error", COMPLETIONS, request, (error,), status=404)


def _embeddings() -> Iterator[GoldenExchange]:
    def embedding(name: str, input_: Any, *vectors: Any, **more: Any) -> GoldenExchange:
        data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
        usage = {"prompt_tokens": 8, "total_tokens": 8}
        body = {"object": "list", "data": data, "model": "text-embedding-3-small", "usage": usage}
        request = {"model": "text-embedding-3-small", "input": input_} | more
        return GoldenExchange(f"embedding/{name}", EMBEDDINGS, encode(request), (encode(body, compact=True),))

    packed = base64.b64encode(bytes(4 * 16)).decode()
    yield embedding("floats", "Zürich", [0.5, -0.25, 1e-3] * 4)
    yield embedding("base64", "Zürich", packed, encoding_format="base64")
    yield embedding("many", ["One", "Two", "Three"], packed, packed, packed)
    yield embedding("tokens", [[1, 2, 3], [4]], [0.5], [0.5])
    yield embedding("token_list", [1, 2, 3], [0.5, 0.5])
    yield embedding("user", "x", [0.5], user="u-1", dimensions=1)
    yield embedding("nothing", [])
    yield embedding("multimodal", [{"image": "https://a.org/b.png"}, {"text": "x"}], [0.5])
    yield embedding("long", "Many words. " * 60, [0.5])
    error = encode({"error": {"message": "too long", "type": "invalid_request_error", "code": None}})
    yield GoldenExchange("embedding/error", EMBEDDINGS, encode({"model": "m", "input": "x"}), (error,), status=400)


def _others() -> Iterator[GoldenExchange]:
    listed = encode({"object": "list", "data": [{"id": "gpt-4o", "object": "model"}]})
    yield GoldenExchange("models/list", "/v1/models", b"", (listed,), method="GET")
    yield GoldenExchange("models/one", "/v1/models/gpt-4o", b"", (encode({"id": "gpt-4o"}),), method="GET")
    yield GoldenExchange("models/anthropic", "/v1/models?limit=5", b"", (listed,), method="GET", upstream=ANTHROPIC)
    error = encode({"error": {"message": "No such model", "code": "model_not_found"}})
    yield GoldenExchange("models/error", "/v1/models/x", b"", (error,), method="GET", status=404)
    speech = encode({"model": "tts-1", "input": "Hi"})
    yield GoldenExchange(
        "other/speech", "/v1/audio/speech", speech, (b"\xff" * 500,), response_head="content-type: audio/mpeg"
    )
    form = b'--x\r\ncontent-disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n{}\r\n--x--\r\n'
    head = "content-type: multipart/form-data; boundary=x"
    yield GoldenExchange("other/file", "/v1/files", form, (encode({"id": "file-1"}),), request_head=head)
    yield GoldenExchange("other/file_error", "/v1/files", form, (error,), request_head=head, status=400)
    yield GoldenExchange("other/images", "/v1/images/generations", speech, (encode({"data": [{"b64_json": "iVBO"}]}),))
    yield GoldenExchange("other/moderation", "/v1/moderations", speech, (encode({"results": [{"flagged": False}]}),))
    yield GoldenExchange("other/response", "/v1/responses/resp_1", b"", (encode({"id": "resp_1"}),), method="GET")
    yield GoldenExchange("other/batch", "/v1/messages/batches", b"{}", (b"{}",), upstream=ANTHROPIC)
    yield GoldenExchange("other/root", "/v1", b"", (b"ok",), method="GET", response_head="content-type: text/plain")
    yield GoldenExchange("other/options", "/v1/chat/completions", b"", (), method="OPTIONS", status=204)
    packed = gzip.compress(listed, mtime=0)
    head = "content-type: application/json\r\ncontent-encoding: gzip"
    yield GoldenExchange("other/gzip", "/v1/vector_stores", b"", (packed,), method="GET", response_head=head)
    answer = encode(whole_body({"content": "Sunny."}))
    for name, path in {
        "azure": "/v1/openai/deployments/my-gpt4o/chat/completions?api-version=2024-10-21",
        "groq": "/v1/openai/v1/chat/completions",
        "google": "/v1/v1beta/openai/chat/completions",
        "doubled": "/v1/v1/chat/completions",
        "doubled_slash": "/v1//chat/completions",
        "slash_at_the_end": "/v1/chat/completions/",
        "beta": "/v1/beta/chat/completions",
    }.items():
        yield GoldenExchange(f"path/{name}", path, encode(CHAT_REQUEST), (answer,))


def _media() -> Iterator[GoldenExchange]:
    """Yield images, speech, transcripts and moderations."""
    form = {"request_head": "content-type: multipart/form-data; boundary=b1"}
    usage = {"input_tokens": 10, "output_tokens": 272, "total_tokens": 282}
    picture = {"b64_json": "iVBORw0KGgo" * 20}
    images = "/v1/images/generations"
    asked = encode({"model": "gpt-image-1", "prompt": "A cat", "n": 2})
    body = {"created": 1, "data": [picture, picture], "output_format": "png", "usage": usage}
    yield GoldenExchange("image/generation", images, asked, (encode(body),))
    url = {"created": 1, "data": [{"url": "https://example.org/a.png", "revised_prompt": "A grey cat"}]}
    yield GoldenExchange("image/url", images, encode({"model": "dall-e-3", "prompt": "A cat"}), (encode(url),))
    file = 'name="image[]"; filename="a.png"\r\nContent-Type: image/png'
    parts = (('name="model"', "gpt-image-1"), ('name="prompt"', "A hat"), (file, "\x89PNG"))
    edit = "".join(f"--b1\r\nContent-Disposition: form-data; {head}\r\n\r\n{value}\r\n" for head, value in parts)
    yield GoldenExchange("image/edit", "/v1/images/edits", f"{edit}--b1--\r\n".encode(), (encode(body),), **form)
    kind = "image_generation.partial_image"
    partial = event({"type": kind, "b64_json": "AAAA", "partial_image_index": 0}, kind)
    last = event({"type": "image_generation.completed", "usage": usage} | picture, "image_generation.completed")
    for name, events in (("whole", (partial, last)), ("no_end", (partial,))):
        yield GoldenExchange(f"image/stream/{name}", images, asked, events, response_head=STREAM_HEAD)
    error = encode({"error": {"message": "Rejected", "code": "moderation_blocked"}})
    yield GoldenExchange("image/error", images, asked, (error,), status=400)

    speech = encode({"model": "gpt-4o-mini-tts", "input": "Hello", "voice": "alloy"})
    mp3 = (b"ID3" + bytes(300), bytes(200))
    yield GoldenExchange("audio/speech", "/v1/audio/speech", speech, mp3, response_head="content-type: audio/mpeg")
    delta = event({"type": "speech.audio.delta", "audio": "AAAA"})
    done = event({"type": "speech.audio.done", "usage": usage})
    path = "/v1/audio/speech"
    yield GoldenExchange("audio/stream/speech", path, speech, (delta, delta, done), response_head=STREAM_HEAD)
    file = 'name="file"; filename="call.mp3"\r\nContent-Type: audio/mpeg'
    parts = (('name="model"', "gpt-4o-transcribe"), (file, "ID3"))
    call = "".join(f"--b1\r\nContent-Disposition: form-data; {head}\r\n\r\n{value}\r\n" for head, value in parts)
    path, sent = "/v1/audio/transcriptions", f"{call}--b1--\r\n".encode()
    yield GoldenExchange("audio/transcript", path, sent, (encode({"text": "Grüezi", "usage": usage}),), **form)
    plain = {"response_head": "content-type: text/plain"} | form
    yield GoldenExchange("audio/subtitles", path, sent, ("1\n00:00 --> 00:02\nGrüezi\n".encode(),), **plain)
    texts = [event({"type": "transcript.text.delta", "delta": piece}) for piece in ("Grü", "ezi")]
    end = event({"type": "transcript.text.done", "text": "Grüezi", "usage": usage})
    stream = {"response_head": STREAM_HEAD} | form
    yield GoldenExchange("audio/stream/transcript", path, sent, (*texts, end), **stream)
    checked = {"id": "modr-1", "model": "omni-moderation-latest"}
    result = {"flagged": True, "categories": {"violence": True, "hate": False}}
    asked = encode({"model": "omni-moderation-latest", "input": ["Hi", "Ho"]})
    yield GoldenExchange("moderation/flagged", "/v1/moderations", asked, (encode(checked | {"results": [result]}),))
    stored = {"id": "resp_1", "object": "response", "model": "gpt-5", "status": "completed", "background": True}
    stored |= {"output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}], "usage": usage}
    yield GoldenExchange("response/stored", "/v1/responses/resp_1", b"", (encode(stored),), method="GET")
