"""Exchanges of the golden file of Cohere's API: chats of both versions, embeddings and rankings."""

from collections.abc import Iterator
from typing import Any

from tests.golden.exchange import STREAM_HEAD, GoldenExchange, encode, in_chunks, joined, pieces, typed_event
from tests.golden.ollama_exchanges import line

UPSTREAM = "https://api.cohere.com"
CHAT = "/v1/v2/chat"
OLD_CHAT = "/v1/v1/chat"
USAGE: dict[str, Any] = {
    "billed_units": {"input_tokens": 5, "output_tokens": 41},
    "tokens": {"input_tokens": 71, "output_tokens": 43},
    "cached_tokens": 16,
}
CALL: dict[str, Any] = {
    "id": "weather_1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Rome"}'},
}
CITATION: dict[str, Any] = {"start": 0, "end": 5, "text": "Sunny", "sources": [{"type": "tool", "id": "weather_1:0"}]}
QUESTION: dict[str, Any] = {"role": "user", "content": "The weather in Rome?"}
REQUEST: dict[str, Any] = {"model": "command-a-03-2025", "messages": [QUESTION]}
TEXT = "Sunny, and 21 °C. 😀"
OLD_CALL: dict[str, Any] = {"name": "weather", "parameters": {"city": "Rome"}}
OLD_WHOLE: dict[str, Any] = {
    "response_id": "r1",
    "generation_id": "g1",
    "text": TEXT,
    "finish_reason": "COMPLETE",
    "meta": {"api_version": {"version": "1"}} | USAGE,
}


def of(kind: str, message: Any = None, **fields: Any) -> bytes:
    return typed_event(kind, **({} if message is None else {"delta": {"message": message}}), **fields)


def stream(reason: str = "COMPLETE", *, has_calls: bool = False) -> tuple[bytes, ...]:
    """Return a plan and calls, or a text with a citation."""
    events = [of("message-start", {"role": "assistant", "content": [], "tool_calls": []}, id="c14c")]
    if has_calls:
        events += [of("tool-plan-delta", {"tool_plan": piece}) for piece in pieces("I will look it up.")]
        for index in range(2):
            begin = CALL | {"id": f"weather_{index + 1}", "function": {"name": "weather", "arguments": ""}}
            events.append(of("tool-call-start", {"tool_calls": begin}, index=index))
            for piece in pieces('{"city": "Rome"}'):
                events.append(of("tool-call-delta", {"tool_calls": {"function": {"arguments": piece}}}, index=index))
            events.append(of("tool-call-end", index=index))
    else:
        events.append(of("content-start", {"content": {"type": "text", "text": ""}}, index=0))
        events += [of("content-delta", {"content": {"text": piece}}, index=0) for piece in pieces(TEXT)]
        events += [of("citation-start", {"citations": CITATION}, index=0), of("citation-end", index=0)]
        events.append(of("content-end", index=0))
    return (*events, typed_event("message-end", delta={"finish_reason": reason, "usage": USAGE}))


def chat(name: str, request: dict[str, Any], response: tuple[bytes, ...], **more: Any) -> GoldenExchange:
    head = {"response_head": STREAM_HEAD} if name.startswith("stream/") else {}
    asked = encode(REQUEST | {"stream": bool(head)} | request)
    return GoldenExchange(f"cohere/{name}", CHAT, asked, response, **({"upstream": UPSTREAM} | head | more))


def exchanges() -> Iterator[GoldenExchange]:
    yield from _second_version()
    yield from _first_version()
    yield from _vectors()


def _second_version() -> Iterator[GoldenExchange]:
    def body(reason: str = "COMPLETE", **message: Any) -> tuple[bytes, ...]:
        content = {"role": "assistant", "content": [{"type": "text", "text": TEXT}]} | message
        return (encode({"id": "c14c", "message": content, "finish_reason": reason, "usage": USAGE}),)

    thinking = [{"type": "thinking", "thinking": "Rome is warm."}, {"type": "text", "text": TEXT}]
    yield chat("whole/text", {"documents": ["Rome is sunny."]}, body(citations=[CITATION]))
    yield chat("whole/thinking", {"thinking": {"type": "enabled"}}, body(content=thinking))
    yield chat("whole/calls", {}, body("TOOL_CALL", content=None, tool_plan="I will look.", tool_calls=[CALL]))
    yield chat("whole/max_tokens", {"max_tokens": 9}, body("MAX_TOKENS"))
    yield chat("error/unknown_model", {}, (encode({"id": "e1", "message": "model 'x' not found"}),), status=404)
    yield chat("stream/text", {}, stream())
    yield chat("stream/calls", {}, stream("TOOL_CALL", has_calls=True))
    yield chat("stream/bytes", {}, in_chunks(joined(stream()), 11))
    yield chat("stream/no_end", {}, stream()[:-1])
    reset = ("upstream_reset", "The upstream closed the connection.")
    yield chat("stream/cut", {}, (joined(stream())[:-200],), outcome="upstream_failed", error=reset)
    failed = typed_event("message-end", delta={"finish_reason": "ERROR", "error": "internal error"})
    yield chat("stream/error", {}, (*stream()[:4], failed))
    calls = [CALL | {"id": f"weather_{number}"} for number in (1, 2)]
    asked = {"role": "assistant", "tool_plan": "I will look it up.", "tool_calls": calls}
    document = {"type": "document", "document": {"id": "d1", "data": '{"temperature": 21}'}}
    results = [{"role": "tool", "tool_call_id": call["id"], "content": [document]} for call in calls]
    first = stream("TOOL_CALL", has_calls=True)
    yield chat("stream/turn_1", {}, first, conversation="cohere")
    yield chat("stream/turn_2", {"messages": [QUESTION, asked, *results]}, stream(), conversation="cohere")


def _first_version() -> Iterator[GoldenExchange]:
    def old(name: str, request: dict[str, Any], *response: bytes, head: str) -> GoldenExchange:
        asked = encode({"model": "command-r", "message": "The weather in Rome?"} | request)
        return GoldenExchange(f"cohere/{name}", OLD_CHAT, asked, response, upstream=UPSTREAM, response_head=head)

    history = [{"role": "USER", "message": "Hi"}, {"role": "CHATBOT", "message": "Hello"}]
    json = "content-type: application/json"
    yield old("whole/first_version", {"preamble": "Be brief.", "chat_history": history}, encode(OLD_WHOLE), head=json)
    called = OLD_WHOLE | {"text": "", "tool_calls": [OLD_CALL]}
    yield old("whole/first_version_calls", {}, encode(called), head=json)
    lines = [
        {"is_finished": False, "event_type": "stream-start", "generation_id": "g1"},
        *({"is_finished": False, "event_type": "text-generation", "text": piece} for piece in pieces(TEXT)),
        {"is_finished": True, "event_type": "stream-end", "finish_reason": "COMPLETE", "response": OLD_WHOLE},
    ]
    head = "content-type: application/stream+json"
    yield old("stream/first_version", {"stream": True}, *map(line, lines), head=head)
    yield old("stream/first_version_no_end", {"stream": True}, *map(line, lines[:-1]), head=head)


def _vectors() -> Iterator[GoldenExchange]:
    def exchange(name: str, path: str, request: dict[str, Any], answer: dict[str, Any]) -> GoldenExchange:
        asked = encode({"model": "embed-v4.0"} | request)
        return GoldenExchange(f"cohere/{name}", path, asked, (encode(answer),), upstream=UPSTREAM)

    meta = {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 4}}
    texts = {"texts": ["Rome", "Paris"], "input_type": "search_query"}
    by_type = {"id": "e1", "embeddings": {"float": [[0.5, 0.25]] * 2}, "texts": ["Rome", "Paris"], "meta": meta}
    yield exchange("embed", "/v1/v2/embed", texts, by_type)
    image = {"inputs": [{"content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}]}
    yield exchange("embed_image", "/v1/v2/embed", image, by_type)
    yield exchange("embed_first_version", "/v1/v1/embed", texts, {"id": "e1", "embeddings": [[0.5]] * 2, "meta": meta})
    ranked = [{"index": 1, "relevance_score": 0.98}, {"index": 0, "relevance_score": 0.1}]
    searched = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
    documents = {"query": "Capital of Italy?", "documents": ["Paris", "Rome"], "top_n": 2}
    yield exchange("rerank", "/v1/v2/rerank", documents, {"id": "r1", "results": ranked, "meta": searched})
