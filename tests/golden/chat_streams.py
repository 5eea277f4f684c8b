"""Streams of chat completions of the golden file: framing, encodings, splits, endings, and odd deltas."""

import gzip
from collections.abc import Iterator
from typing import Any

import brotli
import zstandard
from tests.golden.chat_messages import ASKED, CHAT, HEAD, REQUEST, USAGE, chunk, stream_of, whole_body
from tests.golden.exchange import DONE, JSON_HEAD, STREAM_HEAD, GoldenExchange, encode, event, in_chunks, joined

STREAMING = encode(REQUEST | {"stream": True})
GOOD = joined(stream_of({"content": "Grüße 😀, sunny."}))
TEXT = chunk({"role": "assistant", "content": ""}) + chunk({"content": "Sunny "}) + chunk({"content": "day."})
END = chunk({}, 0, "stop")
LAST = END + DONE


def stream(name: str, data: bytes | tuple[bytes, ...], **fields: Any) -> GoldenExchange:
    """Return an exchange whose response is an event stream."""
    chunks = data if isinstance(data, tuple) else (data,)
    made: dict[str, Any] = {"response_head": STREAM_HEAD} | fields
    return GoldenExchange(f"chat/stream/{name}", CHAT, STREAMING, chunks, **made)


def calls(*fragments: dict[str, Any]) -> bytes:
    """Return a stream with one fragment of a tool call per event."""
    return joined(chunk({"tool_calls": [each]}) for each in fragments) + chunk({}, 0, "tool_calls") + DONE


def fragment(
    index: int | None = None, id_: str | None = None, name: str | None = None, arguments: str | None = None
) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    fields = {"index": index, "id": id_, "function": function}
    return {key: value for key, value in fields.items() if value is not None}


def exchanges() -> Iterator[GoldenExchange]:
    yield from _framing()
    yield from _encodings()
    yield from _endings()
    yield from _odd_events()
    yield from _odd_calls()


def _framing() -> Iterator[GoldenExchange]:
    yield stream("crlf", GOOD.replace(b"\n", b"\r\n"))
    yield stream("cr", GOOD.replace(b"\n", b"\r"))
    yield stream("no_space", GOOD.replace(b"data: ", b"data:"))
    yield stream("comments", b": OPENROUTER PROCESSING\n\n" + GOOD.replace(b"\n\n", b"\n\n: ping\n\n", 2))
    yield stream("byte_order_mark", b"\xef\xbb\xbf" + GOOD)
    yield stream("ids_and_retry", b"retry: 100\n\n" + GOOD.replace(b"data: ", b"id: 7\nevent: chunk\ndata: "))
    yield stream("several_data_lines", GOOD.replace(b',"choices"', b',\ndata: "choices"'))
    yield stream("blank_lines", b"\n\n" + GOOD.replace(b"\n\n", b"\n\n\n\n"))
    yield stream("single_line_ends", GOOD.replace(b"\n\n", b"\n"))
    for size in (1, 7, 1000):
        yield stream(f"chunks_of_{size}", in_chunks(GOOD, size))
    yield stream("labelled_as_json", GOOD, response_head=JSON_HEAD)
    yield stream("labelled_as_text", GOOD, response_head="content-type: text/plain")
    yield stream("without_label", GOOD, response_head="server: x")
    yield stream("upper_case_label", GOOD, response_head="Content-Type: TEXT/EVENT-STREAM")
    yield stream("json_labelled_as_stream", encode(whole_body({"content": "Sunny."})))
    yield stream("json_then_done", encode(whole_body({"content": "Sunny."}), compact=True) + b"\n\n" + DONE)
    yield stream("whole_body_in_one_event", event(whole_body({"content": "Sunny."})) + DONE)


def _encodings() -> Iterator[GoldenExchange]:
    packed = {
        "gzip": gzip.compress(GOOD, mtime=0),
        "br": brotli.compress(GOOD),
        "zstd": zstandard.ZstdCompressor().compress(GOOD),
        "identity": GOOD,
        "deflate_unknown": GOOD,
    }
    for name, data in packed.items():
        head = f"{STREAM_HEAD}\r\ncontent-encoding: {name.removesuffix('_unknown')}"
        yield stream(f"encoded_{name}", in_chunks(data, 200), response_head=head)
    yield stream(
        "encoded_gzip_cut",
        packed["gzip"][:-40],
        response_head=f"{STREAM_HEAD}\r\ncontent-encoding: gzip",
        outcome="upstream_failed",
        error=("upstream_reset", "The upstream closed the connection."),
    )
    body = encode(whole_body({"content": "Sunny."}))
    for name, data in (
        ("gzip", gzip.compress(body, mtime=0)),
        ("br", brotli.compress(body)),
        ("zstd", zstandard.ZstdCompressor().compress(body)),
        ("gzip, br", brotli.compress(gzip.compress(body, mtime=0))),
        ("br_on_plain", body),
        ("UTF-8", body),
        ("none", body),
        ("x-own", body),
    ):
        head = f"{JSON_HEAD}\r\ncontent-encoding: {name.removesuffix('_on_plain')}"
        yield GoldenExchange(f"chat/whole/encoded_{name}", CHAT, encode(REQUEST), (data,), response_head=head)
    request = gzip.compress(encode(REQUEST), mtime=0)
    head = "content-type: application/json\r\ncontent-encoding: gzip"
    yield GoldenExchange("chat/request/gzip", CHAT, request, (body,), request_head=head)


def _endings() -> Iterator[GoldenExchange]:
    reset = {"outcome": "upstream_failed", "error": ("upstream_reset", "The upstream closed the connection.")}
    yield stream("no_done", TEXT + END)
    yield stream("no_finish_reason", TEXT + DONE)
    yield stream("no_end", TEXT)
    yield stream("done_without_blank_line", TEXT + END + b"data: [DONE]")
    yield stream("done_without_space", TEXT + END + b"data:[DONE]\n\n")
    yield stream("data_after_done", TEXT + LAST + chunk({"content": " More."}))
    yield stream("only_done", DONE)
    yield stream("only_role", chunk({"role": "assistant", "content": ""}) + LAST)
    yield stream("nothing", ())
    for offset in (10, 150, 400, len(TEXT) - 3, len(TEXT), len(TEXT + END) - 1, len(TEXT + END), len(TEXT + LAST) - 3):
        yield stream(f"cut_at_{offset}", (TEXT + LAST)[:offset], **reset)
    call = calls(fragment(0, "call_1", "get_weather", ""), fragment(0, None, None, '{"city": "Zür'))
    yield stream("cut_in_arguments", call[: call.index("Zür".encode()) + 2], **reset)
    yield stream("cut_after_done", TEXT + LAST, **reset)
    yield stream("client_gone", TEXT, outcome="client_closed")
    yield stream("client_gone_at_finish_reason", TEXT + END, outcome="client_closed")
    yield stream("client_gone_at_done", TEXT + LAST, outcome="client_closed")
    yield stream("client_missed_the_end", TEXT + LAST, outcome="client_closed", client_missed=True)
    yield stream("interrupted", TEXT, outcome="interrupted")
    yield stream("no_bodies", TEXT + LAST, log="no-bodies")
    yield GoldenExchange("chat/no_response", CHAT, STREAMING, (), status=None, outcome="client_closed")


def _odd_events() -> Iterator[GoldenExchange]:
    whole = {"role": "assistant", "content": "Sunny day."}
    final = event(
        HEAD | {"object": "chat.completion", "choices": [{"index": 0, "message": whole, "finish_reason": "stop"}]}
    )
    yield stream("whole_message_after_deltas", TEXT + final + DONE)
    yield stream(
        "surrogates_in_two_events",
        event(encode(HEAD | {"choices": [{"index": 0, "delta": {"content": "Hi \ud83d"}}]}))
        + event(encode(HEAD | {"choices": [{"index": 0, "delta": {"content": "\ude00 bye"}}]}))
        + LAST,
    )
    yield stream("not_json", TEXT + b"data: {not json\n\n" + LAST)
    yield stream("other_json", b"data: 5\n\ndata: []\n\ndata: {}\n\ndata: null\n\n" + TEXT + LAST)
    yield stream("wrong_types", TEXT + event(HEAD | {"choices": "x", "usage": 5}) + chunk({"content": 7}) + LAST)
    yield stream("empty_choices_first", event(HEAD | {"id": "", "model": "", "choices": []}) + TEXT + LAST)
    yield stream(
        "no_index", joined(event(HEAD | {"choices": [{"delta": {"content": text}}]}) for text in ("a", "b")) + LAST
    )
    yield stream("index_as_text", event(HEAD | {"choices": [{"index": "0", "delta": {"content": "a"}}]}) + LAST)
    yield stream(
        "usage_in_every_chunk",
        joined(
            event(
                HEAD | {"choices": [{"index": 0, "delta": {"content": "a"}}], "usage": USAGE | {"completion_tokens": n}}
            )
            for n in (1, 2, 3)
        )
        + LAST,
    )
    zero = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    yield stream("usage_of_zeros", TEXT + END + event(HEAD | {"choices": [], "usage": zero}) + DONE)
    yield stream(
        "usage_then_zeros",
        TEXT + event(HEAD | {"choices": [], "usage": USAGE}) + event(HEAD | {"choices": [], "usage": zero}) + LAST,
    )
    error = {"message": "The server is overloaded.", "type": "server_error", "code": "overloaded"}
    for name, data in {
        "error_in_object": event({"error": error}),
        "error_event": event({"error": error}, "error"),
        "error_event_bare": event(error, "error"),
        "error_event_text": b"event: error\ndata: upstream gone\n\n",
        "error_of_choice": chunk({"content": ""}, 0, "error", error={"code": 502, "message": "Provider failed"}),
        "error_object": event({"object": "error", "message": "Too long", "type": "BadRequestError", "code": 400}),
        "error_empty": event(HEAD | {"choices": [], "error": {"message": "", "type": "", "code": None}}),
        "error_success": event(HEAD | {"choices": [], "error": {"code": 0, "message": "success"}}),
        "error_groq": event(HEAD | {"choices": [], "x_groq": {"id": "req_g", "error": "over_capacity"}}),
        "error_string": event({"error": "model crashed"}),
    }.items():
        yield stream(name, TEXT + data + DONE)
        yield stream(f"{name}_first", data)


def _odd_calls() -> Iterator[GoldenExchange]:
    for name, data in {
        "interleaved": calls(
            fragment(0, "a", "read", ""),
            fragment(1, "b", "list", ""),
            fragment(0, None, None, '{"p":'),
            fragment(1, None, None, "{}"),
            fragment(0, None, None, "1}"),
        ),
        "interleaved_by_id": calls(
            fragment(0, "a", "read", ""),
            fragment(1, "b", "list", ""),
            fragment(0, "b", None, '{"x":'),
            fragment(0, "a", None, '{"p":1}'),
            fragment(0, "b", None, "2}"),
        ),
        "new_id_per_fragment": calls(
            fragment(0, "a", "f", ""), fragment(0, "b", None, '{"p":'), fragment(0, "c", None, "1}")
        ),
        "name_in_fragments": calls(
            fragment(0, "a", "get_", None), fragment(0, None, "weather", ""), fragment(0, None, None, "{}")
        ),
        "name_in_every_fragment": calls(fragment(0, "a", "f", '{"p":'), fragment(0, "a", "f", "1}")),
        "without_index": calls(
            fragment(None, "a", "f", '{"p":'), fragment(None, None, None, "1}"), fragment(None, "b", "g", "{}")
        ),
        "all_at_index_0": calls(fragment(0, "a", "f", "{}"), fragment(0, "b", "g", '{"q":2}')),
        "without_ids": calls(fragment(0, "", "f", '{"p":1}'), fragment(0, "", "g", "{}")),
        "only_names": calls(fragment(None, None, "f", "{}"), fragment(None, None, "f", '{"a":2}')),
    }.items():
        yield stream(f"calls_{name}", data)
    parallel = chunk({"tool_calls": [fragment(0, "a", "f", "{}"), fragment(1, "b", "g", "{}")]})
    yield stream("calls_in_one_chunk", parallel + chunk({}, 0, "tool_calls") + DONE)
    split = chunk({"content": "I look"}) + calls(fragment(0, "a", "f", "{}"))
    yield stream("text_then_call", split)
    yield stream("thinking_tags", joined(stream_of({"content": "<think>Hm.</think>Sunny."})))
    named = encode({"model": "gpt-4o-mini", "messages": [ASKED, ASKED], "stream": True})
    yield GoldenExchange("chat/stream/two_questions", CHAT, named, (TEXT + LAST,), response_head=STREAM_HEAD)
