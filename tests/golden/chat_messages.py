"""Chat completions of the golden file: what models answer, whole and streamed, in the dialects of providers."""

from collections.abc import Iterator
from typing import Any

from tests.golden.exchange import DONE, JSON_HEAD, STREAM_HEAD, GoldenExchange, encode, event, pieces

CHAT = "/v1/chat/completions"
ASKED = {"role": "user", "content": "What is the weather in Zürich?"}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}]
REQUEST: dict[str, Any] = {"model": "gpt-4o-mini", "messages": [ASKED]}
HEAD: dict[str, Any] = {"id": "chatcmpl-7", "created": 1_767_225_600, "model": "gpt-4o-mini-2024-07-18"}
USAGE: dict[str, Any] = {
    "prompt_tokens": 19,
    "completion_tokens": 10,
    "total_tokens": 29,
    "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 3, "audio_tokens": 0},
}


def function(name: str, arguments: str, id_: str | None = "call_1", **more: Any) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}} | more


WEATHER = function("get_weather", '{"city": "Zürich", "days": 2}')
CUSTOM = {"id": "call_3", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
LOGPROBS = {"content": [{"token": "Sunny", "logprob": -0.1, "bytes": [83], "top_logprobs": []}], "refusal": None}
FILTERS = {"hate": {"filtered": False, "severity": "safe"}, "violence": {"filtered": False, "severity": "safe"}}
CITATION = {"type": "url_citation", "url_citation": {"url": "https://example.org", "title": "A", "start_index": 0}}
THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "Let me look."}]}
IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{'A' * 400}"}, "index": 0}

#: Each variant: the message; then fields of the choice, of the body and of the request.
VARIANTS: dict[str, tuple[Any, ...]] = {
    "text": ({"content": "Sunny, 21 °C."}, {"refusal": None}),
    "empty": ({"content": ""},),
    "white_space": ({"content": " \n  "},),
    "unicode": ({"content": "Grüße 😀👩‍👩‍👧 \u2028 日本語 \u0000 ok"},),
    "markdown": ({"content": "# Weather\n\n- Zürich: *sunny*\n```py\nprint(1)\n```\n" + "More text. " * 30},),
    "cut_by_length": ({"content": "Sunny and"}, {"finish_reason": "length"}, {}, {"max_tokens": 2}),
    "content_filter": ({"content": "I"}, {"finish_reason": "content_filter"}),
    "tool_call": ({"content": None, "tool_calls": [WEATHER]}, {"finish_reason": "tool_calls"}, {}, {"tools": TOOLS}),
    "parallel_calls": (
        {"content": None, "tool_calls": [WEATHER, function("get_time", '{"zone":"CET"}', "call_2")]},
        {"finish_reason": "tool_calls"},
    ),
    "calls_of_one_name": (
        {"content": None, "tool_calls": [function("f", '{"a":1}', "call_1"), function("f", '{"a":2}', "call_2")]},
        {"finish_reason": "tool_calls"},
    ),
    "text_and_call": ({"content": "I look.", "tool_calls": [WEATHER]}, {"finish_reason": "tool_calls"}),
    "call_without_arguments": ({"content": None, "tool_calls": [function("now", "")]}, {"finish_reason": "tool_calls"}),
    "call_with_empty_object": (
        {"content": None, "tool_calls": [function("now", "{}")]},
        {"finish_reason": "tool_calls"},
    ),
    "call_with_invalid_json": (
        {"content": None, "tool_calls": [function("f", '{"a": ')]},
        {"finish_reason": "tool_calls"},
    ),
    "custom_tool": ({"content": None, "tool_calls": [CUSTOM]}, {"finish_reason": "tool_calls"}),
    "function_call": (
        {"content": None, "function_call": {"name": "get_weather", "arguments": '{"city": "Rome"}'}},
        {"finish_reason": "function_call"},
    ),
    "reasoning_content": (
        {"content": "21 °C", "reasoning_content": "The user asks about Zürich."},
        {},
        {"model": "deepseek-reasoner", "system_fingerprint": "fp_1"},
        {"model": "deepseek-reasoner"},
    ),
    "reasoning": (
        {"content": "21 °C", "reasoning": "The user asks."},
        {"stop_reason": None},
        {"model": "Qwen/Qwen3-8B", "prompt_logprobs": None, "kv_transfer_params": None},
    ),
    "only_reasoning": ({"content": None, "reasoning_content": "Hm"}, {"finish_reason": "length"}),
    "reasoning_and_call": (
        {"content": None, "reasoning_content": "I need the weather.", "tool_calls": [WEATHER]},
        {"finish_reason": "tool_calls"},
    ),
    "reasoning_details": (
        {
            "content": "Yes.",
            "reasoning": "Hm.",
            "reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "format": "anthropic-claude-v1"}],
        },
        {"native_finish_reason": "end_turn"},
        {"provider": "Anthropic", "model": "anthropic/claude-sonnet-4.5", "usage": USAGE | {"cost": 0.00123}},
    ),
    "refusal": ({"content": None, "refusal": "I cannot help with that."}, {}),
    "audio": (
        {
            "content": None,
            "audio": {"id": "audio_1", "data": "AAAA" * 40, "expires_at": 9, "transcript": "It is sunny."},
        },
        {},
        {"usage": USAGE | {"completion_tokens_details": {"audio_tokens": 8, "text_tokens": 2}}},
        {"modalities": ["text", "audio"], "model": "gpt-4o-audio-preview"},
    ),
    "logprobs": ({"content": "Sunny"}, {"logprobs": LOGPROBS}, {}, {"logprobs": True}),
    "annotations": ({"content": "See [1].", "annotations": [CITATION]}, {}, {"model": "gpt-4o-search-preview"}),
    "azure": (
        {"content": "Sunny."},
        {"content_filter_results": FILTERS},
        {"prompt_filter_results": [{"prompt_index": 0, "content_filter_results": FILTERS}]},
    ),
    "mistral_text_parts": ({"content": [{"type": "text", "text": "Sun"}, {"type": "text", "text": "ny."}]},),
    "mistral_thinking": (
        {"content": [THINKING, {"type": "text", "text": "Sunny."}]},
        {},
        {"model": "magistral-medium-2509"},
    ),
    "mistral_reference": (
        {"content": [{"type": "text", "text": "See"}, {"type": "reference", "reference_ids": [1, 2]}]},
        {},
        {"model": "mistral-large-2512"},
    ),
    "groq": (
        {"content": "Sunny."},
        {},
        {"model": "llama-3.3-70b-versatile", "x_groq": {"id": "req_g", "usage": USAGE}},
    ),
    "moonshot": ({"content": "Sunny."}, {"usage": USAGE}, {"model": "kimi-k2", "usage": None}),
    "gemini": (
        {
            "content": None,
            "tool_calls": [
                function("get_weather", '{"city":"Rome"}', "", extra_content={"google": {"thought_signature": "Cg"}})
            ],
        },
        {"finish_reason": "tool_calls"},
        {"model": "gemini-3-flash-preview", "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 40}},
    ),
    "together": (
        {"content": "Sunny."},
        {"seed": 42, "text": "Sunny."},
        {"model": "meta-llama/Llama-3.3-70B-Instruct-Turbo", "prompt": []},
    ),
    "xai": (
        {"content": "Sunny.", "reasoning_content": "Hm"},
        {},
        {"model": "grok-4", "usage": USAGE | {"cost_in_usd_ticks": 37_756_000, "num_sources_used": 0}},
    ),
    "perplexity": (
        {"content": "Sunny [1]."},
        {},
        {"model": "sonar", "citations": ["https://example.org"], "search_results": [{"title": "A"}]},
    ),
    "ollama": ({"content": "Sunny."}, {}, {"model": "llama3.2", "system_fingerprint": "fp_ollama"}),
    "cerebras": ({"content": "Sunny."}, {}, {"model": "gpt-oss-120b", "time_info": {"queue_time": 0.1}}),
    "images": ({"content": "", "images": [IMAGE]}, {}, {"model": "google/gemini-2.5-flash-image"}),
    "arguments_as_object": (
        {
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}],
        },
        {"finish_reason": "tool_calls"},
    ),
    "service_tier": ({"content": "Sunny."}, {}, {"service_tier": "flex"}, {"service_tier": "flex"}),
    "unknown_model": ({"content": "Sunny."}, {}, {"model": "no-such-model"}, {"model": "no-such-model"}),
    "no_usage": ({"content": "Sunny, twenty-one degrees."}, {}, {"usage": None}),
    "deepseek_cache": (
        {"content": "Sunny."},
        {},
        {
            "model": "deepseek-chat",
            "usage": {
                "prompt_tokens": 100,
                "completion_tokens": 5,
                "prompt_cache_hit_tokens": 60,
                "prompt_cache_miss_tokens": 40,
            },
        },
    ),
}


def whole_body(message: dict[str, Any], choice: dict[str, Any] | None = None, **body: Any) -> dict[str, Any]:
    """Return the body of a response with one choice."""
    made = {"index": 0, "message": {"role": "assistant"} | message, "finish_reason": "stop"} | (choice or {})
    return HEAD | {"object": "chat.completion", "choices": [made], "usage": USAGE} | body


def chunk(delta: dict[str, Any], index: int = 0, finish_reason: str | None = None, **more: Any) -> bytes:
    """Return an event with a delta."""
    choice = {"index": index, "delta": delta, "finish_reason": finish_reason} | more
    return event(HEAD | {"object": "chat.completion.chunk", "choices": [choice]})


def deltas(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the deltas of a message."""
    yield {"role": "assistant", "content": ""}
    for name in ("reasoning_content", "reasoning", "refusal"):
        for piece in pieces(message.get(name) or ""):
            yield {name: piece}
    content = message.get("content")
    for piece in pieces(content or "") if not isinstance(content, list) else content:
        yield {"content": piece if isinstance(piece, str) else [piece]}
    for index, call in enumerate(message.get("tool_calls") or ()):
        kind, field = ("custom", "input") if "custom" in call else ("function", "arguments")
        arguments = call[kind][field]
        if not isinstance(arguments, str):
            yield {"tool_calls": [call | {"index": index}]}
            continue
        yield {"tool_calls": [call | {"index": index, kind: call[kind] | {field: ""}}]}
        for piece in pieces(arguments):
            yield {"tool_calls": [{"index": index, kind: {field: piece}}]}
    if call := message.get("function_call"):
        yield {"function_call": call | {"arguments": ""}}
        for piece in pieces(call["arguments"]):
            yield {"function_call": {"arguments": piece}}
    if audio := message.get("audio"):
        yield {"audio": {"id": audio["id"]}}
        for piece in pieces(audio["transcript"]):
            yield {"audio": {"transcript": piece}}
        yield {"audio": {"data": audio["data"], "expires_at": audio["expires_at"]}}
    rest = {
        name: value
        for name, value in message.items()
        if name in ("reasoning_details", "annotations", "images") and value
    }
    if rest:
        yield rest


def stream_of(
    message: dict[str, Any], choice: dict[str, Any] | None = None, *, done: bool = True, **body: Any
) -> tuple[bytes, ...]:
    """Return the events of a response with one choice, one per chunk. Together repeats each text beside the delta."""
    more = dict(choice or {})
    finish_reason = more.pop("finish_reason", "stop")
    usage = body.pop("usage", USAGE)
    repeats_text = more.pop("text", None) is not None
    usage_of_choice = {"usage": more.pop("usage")} if "usage" in more else {}
    groq = {"x_groq": body.pop("x_groq")} if "x_groq" in body else {}
    head = HEAD | {"object": "chat.completion.chunk"} | body
    events = []
    for delta in deltas(message):
        text = {"text": delta.get("content", "")} if repeats_text else {}
        one = {"index": 0, "delta": delta, "finish_reason": None} | more | text
        events.append(event(head | {"choices": [one]}))
    last = {"index": 0, "delta": {}, "finish_reason": finish_reason} | more | usage_of_choice
    events.append(event(head | {"choices": [last]} | groq))
    if usage and not groq:
        events.append(event(head | {"choices": [], "usage": usage}))
    return (*events, *([DONE] if done else []))


def exchanges() -> Iterator[GoldenExchange]:
    for name, variant in VARIANTS.items():
        message, choice, body, request = (*variant, {}, {}, {})[:4]
        asked = REQUEST | request
        yield GoldenExchange(
            f"chat/whole/{name}",
            CHAT,
            encode(asked),
            (encode(whole_body(message, choice, **body)),),
            response_head=JSON_HEAD,
        )
        streaming = encode(asked | {"stream": True, "stream_options": {"include_usage": True}})
        yield GoldenExchange(
            f"chat/stream/{name}", CHAT, streaming, stream_of(message, choice, **body), response_head=STREAM_HEAD
        )
    yield from _choices()


def _choices() -> Iterator[GoldenExchange]:
    """Yield responses with several choices, whole, one after the other, and interleaved."""
    texts = ["Sunny.", "Warm.", "Dry."]
    request = encode(REQUEST | {"n": 3})
    whole = [
        {"index": index, "message": {"role": "assistant", "content": text}, "finish_reason": reason}
        for index, (text, reason) in enumerate(zip(texts, ("stop", "length", "stop"), strict=True))
    ]
    yield GoldenExchange("chat/whole/choices", CHAT, request, (encode(whole_body({}) | {"choices": whole}),))
    yield GoldenExchange(
        "chat/whole/choices_in_reverse", CHAT, request, (encode(whole_body({}) | {"choices": whole[::-1]}),)
    )
    interleaved = [chunk({"content": texts[index][at : at + 2]}, index) for at in range(0, 6, 2) for index in (2, 0, 1)]
    ends = [chunk({}, index, "stop") for index in range(3)]
    usage = event(HEAD | {"choices": [], "usage": USAGE})
    streamed = encode(REQUEST | {"n": 3, "stream": True})
    yield GoldenExchange(
        "chat/stream/choices_interleaved", CHAT, streamed, (*interleaved, *ends, usage, DONE), response_head=STREAM_HEAD
    )
    together = [
        event(
            HEAD
            | {"choices": [{"index": i, "delta": {"content": t}, "finish_reason": None} for i, t in enumerate(texts)]}
        )
    ]
    yield GoldenExchange(
        "chat/stream/choices_in_one_chunk", CHAT, streamed, (*together, *ends, usage, DONE), response_head=STREAM_HEAD
    )
    calls = [
        chunk(
            {"tool_calls": [{"index": 0, "id": f"call_{index}", "function": {"name": "f", "arguments": "{}"}}]}, index
        )
        for index in (1, 0)
    ]
    yield GoldenExchange(
        "chat/stream/choices_with_calls",
        CHAT,
        streamed,
        (*calls, chunk({}, 0, "tool_calls"), chunk({}, 1, "tool_calls"), DONE),
        response_head=STREAM_HEAD,
    )
