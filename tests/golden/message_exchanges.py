"""Exchanges of Anthropic's Messages API of the golden file."""

import gzip
from collections.abc import Iterator
from typing import Any

from tests.golden.exchange import ANTHROPIC, STREAM_HEAD, GoldenExchange, encode, in_chunks, joined, pieces, typed_event

PATH = "/v1/messages"
REQUEST: dict[str, Any] = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 1024,
    "messages": [{"role": "user", "content": "What is the weather in Zürich?"}],
}
USAGE: dict[str, Any] = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 5,
    "cache_read_input_tokens": 100,
    "cache_creation": {"ephemeral_5m_input_tokens": 5, "ephemeral_1h_input_tokens": 0},
    "output_tokens": 15,
    "service_tier": "standard",
}
HEAD: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5-20250929"}
THINKING = {"type": "thinking", "thinking": "Look it up first.", "signature": "EqQB"}
REDACTED = {"type": "redacted_thinking", "data": "EmwK"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "Zürich"}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {"type": "web_search_result", "url": "https://example.org", "title": "Zürich", "encrypted_content": "Eq"}
    ],
}
CITATION = {
    "type": "web_search_result_location",
    "url": "https://example.org",
    "cited_text": "Sunny",
    "title": "Zürich",
}


def text(content: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": content} | more


def called(id_: str = "toolu_1", **input_: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id_, "name": "get_weather", "input": input_}


def told(content: Any, id_: str = "toolu_1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": content} | more


#: Each variant: the blocks; then fields of the message.
BLOCKS: dict[str, tuple[Any, ...]] = {
    "text": ([text("Sunny, 21 °C.")],),
    "unicode": ([text("Grüße 😀 日本語")],),
    "two_texts": ([text("Sunny. "), text("Warm.")],),
    "empty": ([],),
    "thinking": ([THINKING, text("Sunny.")],),
    "redacted": ([REDACTED, THINKING, text("Sunny.")],),
    "call": ([text("I look."), called(city="Zürich", days=2)], {"stop_reason": "tool_use"}),
    "calls": ([called(city="Rome"), called("toolu_2", city="Oslo")], {"stop_reason": "tool_use"}),
    "call_without_input": ([called()], {"stop_reason": "tool_use"}),
    "thinking_and_call": ([THINKING, called(nested={"b": [1, 2.0], "a": None})], {"stop_reason": "tool_use"}),
    "search": (
        [SEARCH, FOUND, text("Sunny.", citations=[CITATION])],
        {"usage": USAGE | {"server_tool_use": {"web_search_requests": 1}}},
    ),
    "code": (
        [
            {"type": "server_tool_use", "id": "s2", "name": "bash_code_execution", "input": {"command": "ls"}},
            {
                "type": "bash_code_execution_tool_result",
                "tool_use_id": "s2",
                "content": {"type": "bash_code_execution_result", "stdout": "a"},
            },
        ],
        {"stop_reason": "pause_turn", "container": {"id": "c", "expires_at": "2026"}},
    ),
    "mcp": (
        [
            {"type": "mcp_tool_use", "id": "m1", "name": "roll", "server_name": "dice", "input": {"n": 2}},
            {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": False, "content": [text("7")]},
            text("7"),
        ],
    ),
    "max_tokens": ([text("Sunny and")], {"stop_reason": "max_tokens"}),
    "stop_sequence": ([text("Sunny")], {"stop_reason": "stop_sequence", "stop_sequence": "."}),
    "refusal": ([text("I")], {"stop_reason": "refusal"}),
    "fallback": (
        [
            {
                "type": "fallback",
                "from": {"model": "claude-sonnet-4-5"},
                "to": {"model": "claude-haiku-4-5"},
                "trigger": {},
            },
            text("Sunny."),
        ],
    ),
    "compaction": (
        [{"type": "compaction", "content": "Summary."}, text("Sunny.")],
        {
            "usage": USAGE
            | {
                "iterations": [
                    {"type": "compaction", "input_tokens": 100, "output_tokens": 20},
                    {"type": "message", "input_tokens": 10, "output_tokens": 15},
                ]
            }
        },
    ),
    "thinking_tokens": (
        [THINKING, text("Sunny.")],
        {"usage": USAGE | {"output_tokens_details": {"thinking_tokens": 4}}},
    ),
    "no_cache": ([text("Sunny.")], {"usage": {"input_tokens": 10, "output_tokens": 3}}),
    "priority": ([text("Sunny.")], {"usage": USAGE | {"service_tier": "priority"}}),
    "unknown_block": ([{"type": "dream", "dream": "zzz"}, text("Sunny.")],),
}

REQUESTS: dict[str, dict[str, Any]] = {
    "system": {"system": "Be brief."},
    "system_blocks": {"system": [text("Be brief.", cache_control={"type": "ephemeral"}), text("Be kind.")]},
    "blocks": {"messages": [{"role": "user", "content": [text("Hi"), text("there")]}]},
    "image": {
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO" * 60}},
                    text("What?"),
                ],
            }
        ]
    },
    "image_url": {
        "messages": [
            {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "https://a.org/b.png"}}]}
        ]
    },
    "document": {
        "messages": [
            {
                "role": "user",
                "content": [
                    {
                        "type": "document",
                        "title": "A",
                        "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE" * 30},
                    }
                ],
            }
        ]
    },
    "text_document": {
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "Some text."}}
                ],
            }
        ]
    },
    "file": {
        "messages": [
            {"role": "user", "content": [{"type": "document", "source": {"type": "file", "file_id": "file_1"}}]}
        ]
    },
    "tool_turn": {
        "messages": [
            *REQUEST["messages"],
            {"role": "assistant", "content": [THINKING, called(city="Rome")]},
            {"role": "user", "content": [told("21 °C")]},
        ]
    },
    "tool_results": {
        "messages": [
            *REQUEST["messages"],
            {"role": "assistant", "content": [called(city="Rome"), called("toolu_2", city="Oslo")]},
            {"role": "user", "content": [told([text("21")]), told("", "toolu_2", is_error=True), text("And now?")]},
        ]
    },
    "result_image": {
        "messages": [
            {"role": "assistant", "content": [called()]},
            {
                "role": "user",
                "content": [
                    told(
                        [
                            {
                                "type": "image",
                                "source": {"type": "base64", "media_type": "image/png", "data": "AAAA" * 20},
                            }
                        ]
                    )
                ],
            },
        ]
    },
    "assistant_blocks": {
        "messages": [
            *REQUEST["messages"],
            {"role": "assistant", "content": [REDACTED, THINKING, text("Sunny."), SEARCH, FOUND]},
            {"role": "user", "content": "Why?"},
        ]
    },
    "prefill": {"messages": [*REQUEST["messages"], {"role": "assistant", "content": "Sun"}]},
    "user_json": {"metadata": {"user_id": '{"device_id":"d","account_uuid":"a","session_id":"s"}'}},
    "metadata": {
        "metadata": {"user_id": "u-1", "team": "red"},
        "temperature": 1,
        "top_p": 0.5,
        "tools": [{"name": "f", "input_schema": {}}],
    },
    "reminder": {
        "messages": [
            {"role": "user", "content": [text("<system-reminder>\nBe careful.\n</system-reminder>"), text("Fix it.")]}
        ]
    },
    "no_max_tokens": {"max_tokens": None},
    "wrong_types": {"messages": [{"role": "user", "content": [5, None, {"type": 7}]}, 5], "system": 5},
    "empty": {"messages": []},
}


def body(blocks: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return HEAD | {"content": blocks, "stop_reason": "end_turn", "stop_sequence": None, "usage": USAGE} | more


def block_events(index: int, block: dict[str, Any]) -> Iterator[bytes]:
    """Yield the events of a block."""

    def delta(kind: str, **fields: Any) -> bytes:
        return typed_event("content_block_delta", index=index, delta={"type": kind} | fields)

    kind = block["type"]
    empty: dict[str, Any] = {
        "text": {"text": ""},
        "thinking": {"thinking": "", "signature": ""},
        "compaction": {"content": None},
    }.get(kind, {})
    if kind.endswith("tool_use"):
        empty = {"input": {}}
    yield typed_event("content_block_start", index=index, content_block=block | empty)
    if kind == "text":
        for citation in block.get("citations") or ():
            yield delta("citations_delta", citation=citation)
        for piece in pieces(block["text"]):
            yield delta("text_delta", text=piece)
    elif kind == "thinking":
        for piece in pieces(block["thinking"]):
            yield delta("thinking_delta", thinking=piece)
        yield delta("signature_delta", signature=block["signature"])
    elif kind.endswith("tool_use"):
        yield delta("input_json_delta", partial_json="")
        for piece in pieces(encode(block["input"]).decode() if block["input"] else ""):
            yield delta("input_json_delta", partial_json=piece)
    elif kind == "compaction":
        yield delta("compaction_delta", content=block["content"])
    yield typed_event("content_block_stop", index=index)


def stream_of(blocks: list[dict[str, Any]], **more: Any) -> tuple[bytes, ...]:
    """Return the events of a streamed message, one per chunk."""
    final = body(blocks, **more)
    usage = {name: value for name, value in final["usage"].items() if name != "iterations"} | {"output_tokens": 1}
    start = final | {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    events = [typed_event("message_start", message=start), typed_event("ping")]
    for index, block in enumerate(blocks):
        events += block_events(index, block)
    delta = {"stop_reason": final["stop_reason"], "stop_sequence": final["stop_sequence"]}
    ends = {name: value for name, value in final["usage"].items() if name not in ("service_tier", "cache_creation")}
    return (*events, typed_event("message_delta", delta=delta, usage=ends), typed_event("message_stop"))


def exchange(name: str, request: bytes, *chunks: bytes, path: str = PATH, **fields: Any) -> GoldenExchange:
    return GoldenExchange(f"message/{name}", path, request, chunks, upstream=ANTHROPIC, **fields)


def stream(name: str, *chunks: bytes, **fields: Any) -> GoldenExchange:
    made: dict[str, Any] = {"response_head": f"{STREAM_HEAD}\r\nrequest-id: req_a"} | fields
    return exchange(f"stream/{name}", encode(REQUEST | {"stream": True}), *chunks, **made)


def exchanges() -> Iterator[GoldenExchange]:
    for name, variant in BLOCKS.items():
        blocks, more = (*variant, {})[:2]
        whole = body(blocks, **more)
        if name == "fallback":  # only a stream begins with the model that gave up
            whole["model"] = blocks[0]["to"]["model"]
        yield exchange(f"whole/{name}", encode(REQUEST), encode(whole))
        yield stream(name, *stream_of(blocks, **more))
    for name, fields in REQUESTS.items():
        yield exchange(f"request/{name}", encode(REQUEST | fields), encode(body([text("Sunny.")])))
    count = {name: value for name, value in REQUEST.items() if name != "max_tokens"}
    yield exchange("count_tokens", encode(count), b'{"input_tokens":2095}', path=f"{PATH}/count_tokens")
    yield exchange("beta", encode(REQUEST), encode(body([text("Sunny.")])), path=f"{PATH}?beta=true")
    for name, status, error in (
        ("invalid", 400, {"type": "invalid_request_error", "message": "messages: at least one message is required"}),
        ("key", 401, {"type": "authentication_error", "message": "invalid x-api-key"}),
        ("rate", 429, {"type": "rate_limit_error", "message": "Too many requests"}),
        ("overloaded", 529, {"type": "overloaded_error", "message": "Overloaded"}),
    ):
        data = encode({"type": "error", "error": error, "request_id": "req_1"})
        yield exchange(f"error/{name}", encode(REQUEST), data, status=status)
    yield from _streams()


def _streams() -> Iterator[GoldenExchange]:
    """Yield streams that are framed, split, cut or reported in unusual ways."""
    events = stream_of([THINKING, text("Sunny, 21 °C."), called(city="Zürich", days=2)], stop_reason="tool_use")
    good = joined(events)
    yield stream("crlf", good.replace(b"\n", b"\r\n"))
    yield stream("chunks_of_33", *in_chunks(good, 33))
    yield stream("no_event_names", joined(event.partition(b"\n")[2] for event in events))
    packed = gzip.compress(good, mtime=0)
    yield stream("encoded_gzip", packed, response_head=f"{STREAM_HEAD}\r\ncontent-encoding: gzip")
    reset = {"outcome": "upstream_failed", "error": ("upstream_reset", "The upstream closed the connection.")}
    for number in (1, 3, 5, 9, 12, 16, len(events) - 2, len(events) - 1):
        yield stream(f"cut_after_{number}_events", joined(events[:number]), **reset)
    yield stream("no_stop", joined(events[:-1]))
    yield stream("client_gone", joined(events[:10]), outcome="client_closed")
    yield stream("client_gone_at_stop", good, outcome="client_closed")
    error = typed_event("error", error={"type": "overloaded_error", "message": "Overloaded"})
    yield stream("error", joined(events[:10]) + error)
    yield stream("error_first", error)
    yield stream("interleaved", joined((*events[:2], *_interleaved(), *events[-2:])))


def _interleaved() -> Iterator[bytes]:
    """Yield the events of two blocks by turns."""
    for pair in zip(block_events(0, text("Sunny, 21 °C.")), block_events(1, text("Warm, and dry.")), strict=False):
        yield from pair
