"""Exchanges of the golden file of Gemini's API: whole, in both kinds of streams, tools, errors, embeddings, counts."""

from collections.abc import Iterator, Sequence
from typing import Any

from tests.golden.exchange import DONE, JSON_HEAD, STREAM_HEAD, GoldenExchange, encode, event, joined

GEMINI = "https://generativelanguage.googleapis.com"
MODELS = "/v1/v1beta/models"
MODEL = "gemini-2.5-flash"
HEAD: dict[str, Any] = {"modelVersion": MODEL, "responseId": "mAoAad3xN7"}
USAGE: dict[str, Any] = {
    "promptTokenCount": 40,
    "candidatesTokenCount": 20,
    "thoughtsTokenCount": 100,
    "totalTokenCount": 160,
    "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 40}],
}
ASKED: dict[str, Any] = {"role": "user", "parts": [{"text": "What is the weather in Zürich?"}]}
REQUEST: dict[str, Any] = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "contents": [ASKED],
    "generationConfig": {"temperature": 0.5, "maxOutputTokens": 500},
}
THOUGHT: dict[str, Any] = {"text": "**Looking it up**\n\nI need the weather.", "thought": True}
CALL: dict[str, Any] = {
    "functionCall": {"name": "get_weather", "args": {"city": "Zürich", "days": 2}},
    "thoughtSignature": "CpwBAR/MhbZ",
}
TOOLS = [
    {
        "functionDeclarations": [
            {
                "name": "get_weather",
                "description": "Get the weather.",
                "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, "required": ["city"]},
            }
        ]
    }
]
RATINGS = [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"}]


def candidate(*parts: dict[str, Any], reason: str | None = "STOP", **more: Any) -> dict[str, Any]:
    """Return a candidate with these parts. Without a reason, more parts follow."""
    content = {"content": {"parts": list(parts), "role": "model"}}
    return content | ({"finishReason": reason} if reason else {}) | {"index": 0} | more


def body(*candidates: dict[str, Any], usage: dict[str, Any] | None = USAGE, **more: Any) -> dict[str, Any]:
    """Return a whole response, or an event of a stream."""
    return {"candidates": list(candidates)} | ({"usageMetadata": usage} if usage else {}) | HEAD | more


def events() -> list[dict[str, Any]]:
    """Return the events of a response with a thought and a text."""
    first = {"promptTokenCount": 40, "totalTokenCount": 40}
    return [
        body(candidate({"text": "**Looking"} | {"thought": True}, reason=None), usage=first),
        body(candidate({"text": " it up**"} | {"thought": True}, reason=None), usage=first),
        body(candidate({"text": "It is sunny "}, reason=None), usage=first),
        body(candidate({"text": "in Zürich."}, reason=None, safetyRatings=RATINGS)),
        body(candidate({"text": "", "thoughtSignature": "CpwB"}, safetyRatings=RATINGS)),
    ]


def event_stream(values: Sequence[dict[str, Any]]) -> tuple[bytes, ...]:
    """Return the events as Google sends them with ``alt=sse``."""
    return tuple(b"data: " + encode(value, compact=True) + b"\r\n\r\n" for value in values)


def array(values: Sequence[dict[str, Any]]) -> tuple[bytes, ...]:
    """Return the events as Google sends them without ``alt=sse``: as the elements of one array."""
    elements = [(b"," if number else b"[") + encode(value) + b"\n" for number, value in enumerate(values)]
    return (*elements, b"]")


def exchanges() -> Iterator[GoldenExchange]:
    yield from _whole()
    yield from _streams()
    yield from _errors()
    yield from _others()
    yield from _turns()
    yield from _interactions()


def _exchange(
    name: str, request: dict[str, Any], *response: bytes, operation: str = "generateContent", **more: Any
) -> GoldenExchange:
    path = f"{MODELS}/{MODEL}:{operation}"
    return GoldenExchange(f"generate/{name}", path, encode(request), response, upstream=GEMINI, **more)


def _whole() -> Iterator[GoldenExchange]:
    def whole(name: str, *candidates: dict[str, Any], request: Any = None, **more: Any) -> GoldenExchange:
        return _exchange(f"whole/{name}", request or REQUEST, encode(body(*candidates, **more)))

    yield whole("text", candidate({"text": "It is sunny."}, safetyRatings=RATINGS, avgLogprobs=-0.05))
    yield whole("thought", candidate(THOUGHT, {"text": "It is sunny.", "thoughtSignature": "Cpw"}))
    yield whole("call", candidate(THOUGHT, CALL), request=REQUEST | {"tools": TOOLS})
    code = {"executableCode": {"language": "PYTHON", "code": "print(6 * 7)"}}
    result = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "42\n"}}
    yield whole("code", candidate({"text": "I compute. "}, code, result, {"text": "It is 42."}))
    yield whole("image", candidate({"inlineData": {"mimeType": "image/png", "data": "iVBORw0K-_8="}}))
    yield whole("two", candidate({"text": "A"}), candidate({"text": "B"}, reason="MAX_TOKENS", index=1))
    yield whole("token_limit", candidate(reason="MAX_TOKENS"), usage={"promptTokenCount": 40, "totalTokenCount": 540})
    yield whole("filtered", candidate({"text": "Once"}, reason="SAFETY", safetyRatings=RATINGS))
    grounding = {"webSearchQueries": ["weather zürich"], "groundingChunks": [{"web": {"uri": "https://a.org"}}]}
    yield whole("grounded", candidate({"text": "Sunny."}, groundingMetadata=grounding))
    details = [{"modality": "TEXT", "tokenCount": 10}, {"modality": "AUDIO", "tokenCount": 30}]
    cached = [{"modality": "TEXT", "tokenCount": 8}]
    audio = USAGE | {"promptTokensDetails": details, "cachedContentTokenCount": 8, "cacheTokensDetails": cached}
    media = [{"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}, {"text": "What is this?"}]
    file = {
        "fileData": {"fileUri": "https://generativelanguage.googleapis.com/v1beta/files/f1", "mimeType": "video/mp4"}
    }
    yield whole(
        "media",
        candidate({"text": "Rain."}),
        request={"contents": [{"role": "user", "parts": [*media, file]}], "cachedContent": "cachedContents/c1"},
        usage=audio,
    )
    snake = {
        "system_instruction": {"parts": {"text": "Be brief."}},
        "contents": {"parts": [{"text": "Look."}, {"inline_data": {"mime_type": "image/jpeg", "data": "_9j_"}}]},
        "generation_config": {"max_output_tokens": 5},
    }
    yield whole("snake_case", candidate({"text": "A cat."}), request=snake)


def _streams() -> Iterator[GoldenExchange]:
    operation = "streamGenerateContent"
    sse: dict[str, Any] = {"operation": f"{operation}?alt=sse", "response_head": STREAM_HEAD}
    one: dict[str, Any] = {"operation": operation, "response_head": JSON_HEAD}
    broken = {"outcome": "upstream_failed", "error": ("upstream_reset", "The upstream closed the connection.")}
    yield _exchange("stream/sse", REQUEST, *event_stream(events()), **sse)
    yield _exchange("stream/array", REQUEST, *array(events()), **one)
    call = [body(candidate(THOUGHT, reason=None)), body(candidate(CALL))]
    yield _exchange("stream/sse_call", REQUEST | {"tools": TOOLS}, *event_stream(call), **sse)
    pieces = [
        {"functionCall": {"name": "get_weather", "willContinue": True}},
        {"functionCall": {"partialArgs": [{"jsonPath": "$.city", "stringValue": "Zü", "willContinue": True}]}},
        {"functionCall": {"partialArgs": [{"jsonPath": "$.city", "stringValue": "rich"}]}},
    ]
    for piece in pieces[:2]:
        piece["functionCall"]["willContinue"] = True
    partial = [body(candidate(piece, reason=None)) for piece in pieces] + [body(candidate())]
    yield _exchange("stream/sse_partial_call", REQUEST | {"tools": TOOLS}, *event_stream(partial), **sse)
    yield _exchange("stream/sse_no_end", REQUEST, *event_stream(events()[:3]), **sse)
    yield _exchange("stream/sse_cut", REQUEST, joined(event_stream(events()))[:500], **sse, **broken)
    yield _exchange("stream/array_no_end", REQUEST, *array(events())[:-1], **one)
    yield _exchange("stream/array_cut", REQUEST, joined(array(events()))[:700], **one, **broken)
    error = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}
    yield _exchange("stream/sse_error", REQUEST, *event_stream([*events()[:2], error]), **sse)
    yield _exchange("stream/array_error", REQUEST, *array([*events()[:2], error]), **one)


def _errors() -> Iterator[GoldenExchange]:
    feedback = {"blockReason": "PROHIBITED_CONTENT", "safetyRatings": RATINGS}
    blocked = {"promptFeedback": feedback, "usageMetadata": {"promptTokenCount": 7, "totalTokenCount": 7}} | HEAD
    yield _exchange("blocked", REQUEST, encode(blocked))
    sse: dict[str, Any] = {"operation": "streamGenerateContent?alt=sse", "response_head": STREAM_HEAD}
    yield _exchange("stream/sse_blocked", REQUEST, *event_stream([blocked]), **sse)
    malformed = candidate(reason="MALFORMED_FUNCTION_CALL", finishMessage="Malformed function call: print(x)")
    yield _exchange("malformed_call", REQUEST, encode(body(malformed)))
    key = {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT", "details": []}}
    yield _exchange("error", REQUEST, encode(key), status=400)
    yield _exchange("error_list", REQUEST, encode([key]), operation="streamGenerateContent", status=400)
    yield _exchange("empty", REQUEST, encode(HEAD))


def _others() -> Iterator[GoldenExchange]:
    counted = {"totalTokens": 31, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 31}]}
    yield _exchange("count", {"contents": [ASKED]}, encode(counted), operation="countTokens")
    inner = {"generateContentRequest": {"model": f"models/{MODEL}"} | REQUEST}
    yield _exchange("count_request", inner, encode(counted), operation="countTokens")
    content = {"model": "models/gemini-embedding-001", "content": {"parts": [{"text": "Zürich"}]}}
    vector = {"values": [0.5, -0.25, 0.125]}
    usage = {"usageMetadata": {"promptTokenCount": 2, "totalTokenCount": 2}}
    yield _exchange("embed", content, encode({"embedding": vector} | usage), operation="embedContent")
    requests = {"requests": [content, content | {"taskType": "CLUSTERING"}]}
    yield _exchange("embed_batch", requests, encode({"embeddings": [vector, vector]}), operation="batchEmbedContents")


def _turns() -> Iterator[GoldenExchange]:
    """Yield three turns: the second one sends the call again with its arguments in another order."""
    again = {"functionCall": {"args": {"days": 2, "city": "Zürich"}, "name": "get_weather"}, "thoughtSignature": "CpwB"}
    told = {"role": "user", "parts": [{"functionResponse": {"name": "get_weather", "response": {"result": "21 °C"}}}]}
    second = [ASKED, {"role": "model", "parts": [THOUGHT, again]}, told]
    third = [
        *second,
        {"role": "model", "parts": [{"text": "It is sunny "}, {"text": "in Zürich.", "thoughtSignature": "CpwB"}]},
        {"role": "user", "parts": [{"text": "And tomorrow?"}]},
    ]
    name = "generate/conversation"
    answers = [(encode(body(candidate(THOUGHT, CALL))),), event_stream(events()), (encode(body(candidate())),)]
    for number, (contents, answer) in enumerate(zip(([ASKED], second, third), answers, strict=True), 1):
        is_stream = number == 2
        yield _exchange(
            f"conversation/{number}",
            REQUEST | {"contents": contents, "tools": TOOLS},
            *answer,
            operation="streamGenerateContent?alt=sse" if is_stream else "generateContent",
            response_head=STREAM_HEAD if is_stream else JSON_HEAD,
            conversation=name,
        )


def _interactions() -> Iterator[GoldenExchange]:
    """Yield two turns of the Interactions API, the second one as a stream, and an error."""
    usage = {"total_input_tokens": 9, "total_output_tokens": 4, "total_thought_tokens": 30, "total_tokens": 43}
    thought = {"type": "thought", "summary": [{"type": "text", "text": "Look it up."}], "signature": "CpwB"}
    call = {"type": "function_call", "id": "c1", "name": "get_weather", "arguments": {"city": "Zürich"}}
    head = {"id": "v1_1", "model": MODEL, "object": "interaction"}
    asked = {"model": MODEL, "input": "What is the weather in Zürich?", "system_instruction": "Be brief."}
    first = head | {"status": "requires_action", "steps": [thought, call], "usage": usage}

    def turn(name: str, request: dict[str, Any], *response: bytes, **more: Any) -> GoldenExchange:
        more = {"conversation": "interaction"} | more
        return GoldenExchange(
            f"interaction/{name}", "/v1/v1beta/interactions", encode(request), response, upstream=GEMINI, **more
        )

    yield turn("call", asked, encode(first))
    result = {"type": "function_result", "call_id": "c1", "name": "get_weather", "result": "21 °C"}
    head["id"] = "v1_2"
    deltas = [
        {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": text}}
        for text in ("It is ", "sunny.")
    ]
    values = [
        {"event_type": "interaction.created", "interaction": head | {"status": "in_progress"}},
        {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}},
        *deltas,
        {"event_type": "step.stop", "index": 0},
        {"event_type": "interaction.completed", "interaction": head | {"status": "completed", "usage": usage}},
    ]
    told = {"model": MODEL, "input": [result], "previous_interaction_id": "v1_1", "stream": True}
    chunks = [event(value, str(value["event_type"])) for value in values] + [DONE]
    yield turn("stream/text", told, *chunks, response_head=STREAM_HEAD)
    error = encode({"error": {"code": "invalid_request", "message": "Unknown model."}})
    yield turn("error", asked, error, status=400, conversation=None)
