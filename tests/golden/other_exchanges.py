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
