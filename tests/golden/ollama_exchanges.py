"""Exchanges of the golden file of Ollama's own API."""

from collections.abc import Iterator
from typing import Any

from tests.golden.exchange import GoldenExchange, encode, in_chunks, joined, pieces

IMAGE_DATA = "iVBORw0KGgo" * 20
LINES_HEAD = "content-type: application/x-ndjson"
UPSTREAM = "http://127.0.0.1:11434"
CHAT = "/v1/api/chat"
GENERATE = "/v1/api/generate"
HEAD: dict[str, Any] = {"model": "llama3.2", "created_at": "2026-11-29T08:52:19.385406455Z"}
END: dict[str, Any] = HEAD | {
    "done": True,
    "done_reason": "stop",
    "total_duration": 4883583458,
    "load_duration": 1334875,
    "prompt_eval_count": 26,
    "prompt_eval_duration": 342546000,
    "eval_count": 282,
    "eval_duration": 4535599000,
}
CALL: dict[str, Any] = {"function": {"name": "get_weather", "arguments": {"city": "Zürich"}}}
WITH_ID: dict[str, Any] = {"id": "call_1", "function": {"index": 0, "name": "f", "arguments": {}}}
QUESTION: dict[str, Any] = {"role": "user", "content": "Is it warm in Zürich?"}
REQUEST: dict[str, Any] = {"model": "llama3.2", "messages": [QUESTION], "options": {"num_ctx": 4096}}
TEXT = "It is 21 °C and sunny. 😀"


def line(value: Any) -> bytes:
    return encode(value, compact=True) + b"\n"


def lines_of(*messages: dict[str, Any], **end: Any) -> tuple[bytes, ...]:
    """Return the lines of a streamed chat: one for each message, and the last line."""
    last = END | {"message": {"role": "assistant", "content": ""}} | end
    return (*(line(HEAD | {"message": {"role": "assistant"} | each, "done": False}) for each in messages), line(last))


def texts(text: str = TEXT, field: str = "content") -> list[dict[str, Any]]:
    return [{"content": "", field: piece} for piece in pieces(text)]


def chat(name: str, request: dict[str, Any], response: tuple[bytes, ...], **more: Any) -> GoldenExchange:
    head = LINES_HEAD if name.startswith("stream/") else "content-type: application/json; charset=utf-8"
    fields = {"response_head": head, "upstream": UPSTREAM} | more
    return GoldenExchange(f"ollama/{name}", CHAT, encode(REQUEST | request), response, **fields)


def exchanges() -> Iterator[GoldenExchange]:
    yield from _whole()
    yield from _streams()
    yield from _generated()
    yield from _embeddings()
    yield from _conversation()


def _whole() -> Iterator[GoldenExchange]:
    off = {"stream": False}

    def body(**message: Any) -> tuple[bytes, ...]:
        return (encode(END | {"message": {"role": "assistant", "content": TEXT} | message}),)

    yield chat("whole/text", off, body())
    yield chat("whole/thinking", off | {"think": True}, body(thinking="Warm is above 20 °C."))
    yield chat("whole/calls", off | {"tools": []}, body(content="", tool_calls=[CALL, CALL]))
    images = [QUESTION | {"images": [IMAGE_DATA]}]
    yield chat("whole/image", off | {"messages": images}, body())
    cached = {name: value for name, value in END.items() if not name.startswith("prompt_eval")}
    yield chat("whole/cached_prompt", off, (encode(cached | {"message": {"role": "assistant", "content": TEXT}}),))
    yield chat(
        "whole/indented", off, (b'{\n "model": "llama3.2",\n "message": {"content": "Hi"},\n "done": true\n}\n',)
    )
    yield chat("whole/length", off, (encode(END | {"done_reason": "length", "message": {"content": "It is"}}),))
    yield chat("whole/not_ollama", off, (encode({"hello": 1}),))
    yield chat("error/no_model", {}, (encode({"error": "model 'x' not found"}),), status=404)
    yield chat("error/in_a_success", off, (encode({"error": "the runner has terminated"}),))


def _streams() -> Iterator[GoldenExchange]:
    text = lines_of(*texts())
    yield chat("stream/text", {}, text)
    yield chat("stream/requested", {"stream": True}, text)
    yield chat("stream/thinking", {"think": True}, lines_of(*texts("Above 20 °C?", "thinking"), *texts()))
    yield chat("stream/calls", {}, lines_of({"content": "", "tool_calls": [CALL]}, {"tool_calls": [WITH_ID, WITH_ID]}))
    yield chat("stream/bytes", {}, in_chunks(joined(text), 7))
    yield chat("stream/crlf", {}, (joined(text).replace(b"\n", b"\r\n"),))
    yield chat("stream/labeled_json", {}, text, response_head="content-type: application/json")
    yield chat("stream/one_line", {}, lines_of(done_reason="length"))
    yield chat("stream/no_line_end", {}, (joined(text).rstrip(),))
    yield chat("stream/no_done", {}, text[:-1])
    reset = ("upstream_reset", "The upstream closed the connection.")
    yield chat("stream/cut", {}, (joined(text)[:-100],), outcome="upstream_failed", error=reset)
    yield chat("stream/cut_in_first_line", {}, (text[0][:50],), outcome="upstream_failed", error=reset)
    yield chat("stream/cut_after_the_end", {}, text, outcome="upstream_failed", error=reset)
    yield chat("stream/client_closed", {}, text[:2], outcome="client_closed")
    yield chat("stream/error", {}, (*text[:2], line({"error": "an error was encountered while running the model"})))
    yield chat("stream/broken_line", {}, (*text[:2], b'{"message": {"cont\n', *text[2:]))


def _generated() -> Iterator[GoldenExchange]:
    def generate(name: str, request: dict[str, Any], *response: bytes, head: str = LINES_HEAD) -> GoldenExchange:
        asked = encode({"model": "llama3.2", "prompt": "Why is the sky blue?"} | request)
        return GoldenExchange(f"ollama/{name}", GENERATE, asked, response, upstream=UPSTREAM, response_head=head)

    fragments = [line(HEAD | {"response": piece, "done": False}) for piece in pieces(TEXT)]
    end = line(END | {"response": "", "context": [1, 2, 3]})
    yield generate("stream/generate", {}, *fragments, end)
    yield generate("stream/generate_system", {"system": "Be brief.", "context": [7, 8]}, *fragments, end)
    whole = encode(END | {"response": TEXT})
    yield generate("whole/generate", {"stream": False, "images": [IMAGE_DATA]}, whole, head="content-type: text/json")
    yield generate("whole/generate_suffix", {"stream": False, "suffix": "the end"}, whole, head="")
    progress = line(HEAD | {"completed": 1, "total": 4, "done": False})
    yield generate("stream/generate_image", {"width": 512}, progress, line(END | {"image": IMAGE_DATA}))
    loaded = HEAD | {"response": "", "done": True, "done_reason": "load"}
    yield generate("whole/load", {"prompt": ""}, encode(loaded), head="content-type: application/json")


def _embeddings() -> Iterator[GoldenExchange]:
    def embed(name: str, path: str, request: dict[str, Any], answer: dict[str, Any]) -> GoldenExchange:
        asked = encode({"model": "all-minilm"} | request)
        return GoldenExchange(f"ollama/{name}", path, asked, (encode(answer),), upstream=UPSTREAM)

    counted = {"model": "all-minilm", "total_duration": 14143917, "prompt_eval_count": 8}
    yield embed("embed/one", "/v1/api/embed", {"input": "Zürich"}, counted | {"embeddings": [[0.5, 0.25]]})
    yield embed("embed/many", "/v1/api/embed", {"input": ["A", "B"]}, counted | {"embeddings": [[0.5], [0.5]]})
    yield embed("embed/old", "/v1/api/embeddings", {"prompt": "Zürich"}, {"embedding": [0.5, 0.25, 0.125]})


def _conversation() -> Iterator[GoldenExchange]:
    """Yield a chat with a tool call that has no id, and texts that are generated with a context."""
    messages: list[dict[str, Any]] = [QUESTION]
    answers: list[dict[str, Any]] = [
        {"content": "I will look.", "thinking": "Hm.", "tool_calls": [CALL]},
        {"content": "Yes."},
        {"content": "No."},
    ]
    replies: list[dict[str, Any]] = [
        {"role": "tool", "tool_name": "get_weather", "content": "21 °C"},
        {"role": "user", "content": "And tomorrow?"},
        {},
    ]
    for turn, (answer, reply) in enumerate(zip(answers, replies, strict=True)):
        name = f"stream/turn_{turn + 1}"
        yield chat(name, {"messages": messages}, lines_of(answer), conversation="ollama/chat")
        sent = {name: value for name, value in answer.items() if name != "thinking"}
        messages = [*messages, {"role": "assistant"} | sent, reply]
    context: list[int] = []
    for turn in (1, 2, 3):
        request = {"model": "llama3.2", "prompt": "And then?", "context": context}
        context = [*context, turn]
        yield GoldenExchange(
            f"ollama/stream/context_{turn}",
            GENERATE,
            encode(request),
            (line(HEAD | {"response": "Then.", "done": False}), line(END | {"response": "", "context": context})),
            upstream=UPSTREAM,
            response_head=LINES_HEAD,
            conversation="ollama/context",
        )
