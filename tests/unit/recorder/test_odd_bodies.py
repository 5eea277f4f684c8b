"""Test what the log says of odd but real bodies and streams, reduced from public bug reports of many products."""

import base64
import gzip
import json
from typing import Any

import pytest
from tests.support.frames import Script

from relaybook.log.formats import read_response
from relaybook.log.formats.conversation import Output
from relaybook.log.prices import Prices
from relaybook.log.record import Record
from relaybook.log.request_view import RequestView
from relaybook.log.row import result_of
from relaybook.log.store.entry import Entry
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.fold import Fold

A = b"a" * 16
BUILDER = EntryBuilder(Prices(), lambda ref: b"")
REQUEST = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}'
SSE = b"Content-Type: text/event-stream"
JSON = b"Content-Type: application/json"
DONE = b"data: [DONE]\n\n"


def c(delta: Any, finish: str | None = None, index: Any = 0, **more: Any) -> bytes:
    choice = {"index": index, "delta": delta} | ({"finish_reason": finish} if finish else {})
    chunk = {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]} | more
    return b"data: %b\n\n" % json.dumps(chunk, ensure_ascii=False).encode("utf-8", "surrogatepass")


def data(value: Any, event: str = "") -> bytes:
    name = b"event: %b\n" % event.encode() if event else b""
    return b"%bdata: %b\n\n" % (name, json.dumps(value).encode())


def entry_of(
    *chunks: bytes,
    head: bytes = SSE,
    status: int = 200,
    request: bytes = REQUEST,
    outcome: str = "complete",
    closed: tuple[Any, ...] = (),
    **opened: Any,
) -> Entry:
    script = Script().open(A, **opened).request(A, request)
    frames = script.respond(A, *chunks, head=head, status=status).close(A, outcome, *closed).frames
    exchange = Fold().feed(frames)[0]
    return BUILDER.entry(exchange, BUILDER.bodies(exchange))


def record_of(*chunks: bytes, **more: Any) -> Record:
    return entry_of(*chunks, **more).record


def outputs_of(entry: Entry) -> list[Output]:
    response = RequestView.of_entry(entry).response()
    assert response is not None
    return response.outputs


def text_of(entry: Entry) -> str:
    return "".join(part.text or "" for part in outputs_of(entry)[0].parts if part.kind == "text")


def calls_of(*chunks: bytes, **more: Any) -> list[tuple[str | None, str | None, str | None]]:
    parts = outputs_of(entry_of(*chunks, **more))[0].parts
    return [(part.id, part.name, part.arguments) for part in parts if part.kind == "tool_call"]


def codes(record: Record) -> list[str]:
    """Return the codes of all notes, except that the model of these tests has no prices."""
    return [note.code for note in record.notes]


def whole(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]} | more


# -- a snapshot after deltas replaces them ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frames",
    [
        [c({"content": "Hello "}), c({"content": "world"}), data(whole({"content": "Hello world"}))],
        [c({"content": "Hello "}), c({"content": "world"}), data(whole({"content": "Hello world"}, object="x"))],
        # the last chunk has an empty delta and the whole message
        [
            c({"content": "Hello "}),
            c({"content": "world"}),
            data(
                {
                    "object": "chat.completion.chunk",
                    "model": "m",
                    "choices": [{"delta": {}, "message": {"content": "Hello world"}, "finish_reason": "stop"}],
                }
            ),
        ],
        # each chunk has the whole message so far
        [data(whole({"content": text}, object="chat.completion.chunk")) for text in ("Hel", "Hello", "Hello world")],
        # each chunk has a fragment in ``message`` instead of ``delta``
        [data(whole({"content": text}, object="chat.completion.chunk")) for text in ("Hel", "lo ", "world")],
        # Together repeats the content of a delta in ``text``
        [
            data({"model": "m", "choices": [{"index": 0, "text": text, "delta": {"content": text}}]})
            for text in ("Hello ", "world")
        ],
        # a message that has only a finish reason replaces nothing
        [c({"content": "Hello world"}), data(whole({"content": ""}))],
    ],
)
def test_a_whole_message_after_deltas_is_not_added_to_them(frames: list[bytes]) -> None:
    assert text_of(entry_of(*frames, DONE)) == "Hello world"


def test_reasoning_and_calls_of_a_whole_message_are_not_doubled() -> None:
    call = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    message = {"content": "ok", "reasoning_content": "think", "tool_calls": [call]}
    frames = c({"reasoning_content": "thi"}), c({"reasoning_content": "nk", "tool_calls": [call]}), c({"content": "ok"})
    output = outputs_of(entry_of(*frames, data(whole(message)), DONE))[0]
    assert [(part.kind, part.text, part.arguments) for part in output.parts] == [
        ("reasoning", "think", None),
        ("text", "ok", None),
        ("tool_call", None, '{"x":1}'),
    ]


# -- a stream has an ending -------------------------------------------------------------------------------------------


def test_a_stream_that_ends_without_its_end_is_incomplete() -> None:
    record = record_of(c({"content": "The answer is for"}), c({"content": "ty-"}))
    assert (record.failed, record.stream_ended, record.error_code) == (True, "no_done", "stream_incomplete")
    assert (result_of(record).code, result_of(record).text) == ("incomplete", "Stream ended early")


@pytest.mark.parametrize(
    ("kind_path", "frames"),
    [
        ("/v1/responses", [data({"type": "response.output_text.delta", "delta": "Hi"}, "response.output_text.delta")]),
        ("/v1/messages", [data({"type": "message_start", "message": {"model": "m"}}, "message_start")]),
        ("/v1/completions", [data({"model": "m", "choices": [{"index": 0, "text": "Hi"}]})]),
        ("/v1/chat/completions", [c({"content": "a"}, "stop"), c({"content": "b"}, index=1)]),
        ("/v1/chat/completions", [b": keep-alive\n\n"]),
        ("/v1/chat/completions", []),
    ],
)
def test_every_format_has_an_end_that_can_be_missing(kind_path: str, frames: list[bytes]) -> None:
    record = record_of(*frames, target=kind_path.encode())
    assert (result_of(record).code, record.failed) == ("incomplete", True)


@pytest.mark.parametrize(
    "frames", [[c({"content": "Hi"}), DONE], [c({"content": "Hi"}, "stop")], [c({"content": "Hi"}), DONE[:-2]]]
)
def test_an_end_mark_or_a_finish_reason_ends_a_stream(frames: list[bytes]) -> None:
    record = record_of(*frames)
    assert (record.failed, record.stream_ended, result_of(record).text) == (False, "done", "200")


@pytest.mark.parametrize("last", [DONE, c({}, "stop")])
def test_a_client_that_leaves_after_the_end_got_everything(last: bytes) -> None:
    record = record_of(c({"content": "Hi"}), last, outcome="client_closed", head=b"Content-Type: text/plain")
    assert (record.outcome, record.stream, record.first_token_ms) == ("complete", True, 4.0)
    assert result_of(record).text == "200"


def test_a_connection_that_breaks_after_the_end_mark_changes_nothing() -> None:
    error = ("upstream_stream_interrupted", "The upstream broke off.")
    record = record_of(c({"content": "Hi"}), DONE, outcome="upstream_failed", closed=error)
    assert (record.outcome, record.failed, record.error_code, codes(record)) == (
        "complete",
        False,
        None,
        ["closed_early"],
    )
    assert result_of(record).text == "200"
    record = record_of(c({"content": "Hi"}, "stop"), outcome="upstream_failed", closed=error)
    assert (record.outcome, record.failed) == ("upstream_failed", True)  # SDKs wait for the end mark, and raise


@pytest.mark.parametrize("last", [DONE[:-1], DONE[:-2], b"data: [DO"])
def test_an_end_mark_that_clients_did_not_see_does_not_count_if_the_connection_breaks(last: bytes) -> None:
    error = ("upstream_stream_interrupted", "The upstream broke off.")
    record = record_of(c({"content": "Hi"}), last, outcome="upstream_failed", closed=error)
    assert (record.outcome, record.failed, record.stream_ended) == ("upstream_failed", True, "cut")


@pytest.mark.parametrize("tail", [b"", b"\n", b"\r\n"])
@pytest.mark.parametrize(
    ("last", "target"),
    [
        (b"data: [DONE]", b"/v1/chat/completions"),
        (b'event: message_stop\ndata: {"type":"message_stop"}', b"/v1/messages"),
        (b'data: {"type":"response.completed","response":{"output":[]}}', b"/v1/responses"),
    ],
)
def test_an_end_mark_without_its_blank_line_did_not_reach_the_client(last: bytes, tail: bytes, target: bytes) -> None:
    error = ("upstream_stream_interrupted", "The upstream closed the connection.")
    frames = c({"content": "Hi"}, "stop"), last
    record = record_of(*frames, tail, target=target, outcome="upstream_failed", closed=error)
    assert (record.outcome, record.failed, record.error_code, codes(record)) == ("upstream_failed", True, error[0], [])
    record = record_of(*frames, b"\n\n", target=target, outcome="upstream_failed", closed=error)
    assert (record.outcome, record.failed, codes(record)) == ("complete", False, ["closed_early"])


@pytest.mark.parametrize(
    ("target", "head", "event"),
    [
        (b"/api/chat", b"Content-Type: application/x-ndjson", b'{"message":{"content":"Hi"},"done":false}\n'),
        (
            b"/v1beta/models/m:streamGenerateContent",
            JSON,
            b'[{"candidates":[{"content":{"parts":[{"text":"Hi"}]}}]}\n,\r\n',
        ),
        (b"/v1/chat/completions", b"Content-Type: text/plain", c({"content": "Hi"})),
    ],
)
def test_a_stream_that_breaks_has_one_error_whatever_its_content_type(target: bytes, head: bytes, event: bytes) -> None:
    closed = ("upstream_reset", "The upstream closed the connection.")
    record = record_of(event, event[:9], target=target, head=head, outcome="upstream_failed", closed=closed)
    assert (record.stream_ended, record.failed, record.output_preview) == ("cut", True, "Hi")
    assert (record.error_code, record.error_message) == ("upstream_stream_interrupted", closed[1])


def test_an_empty_response_is_incomplete() -> None:
    record = record_of(head=JSON)
    assert (result_of(record).code, result_of(record).text) == ("incomplete", "Empty response")


# -- failure by meaning -----------------------------------------------------------------------------------------------

VLLM_ERROR = {
    "object": "error",
    "message": "At most 2048 tokens.",
    "type": "BadRequestError",
    "param": None,
    "code": 400,
}


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (VLLM_ERROR, "400", "At most 2048 tokens."),
        ({"error": {"message": "no", "code": 429}}, "429", "no"),
        ({"error": "model is loading"}, None, "model is loading"),
        ({"status": "failed", "message": "out of memory"}, None, "out of memory"),
        ({"code": 1001, "msg": "no balance", "data": None}, "1001", "no balance"),
        ({"error_code": 17, "error_msg": "daily limit"}, "17", "daily limit"),  # Baidu
        ({"base_resp": {"status_code": 1004, "status_msg": "login fail"}, "choices": None}, "1004", "login fail"),
        ({"success": False, "message": "quota"}, None, "quota"),
        ({"errors": [{"message": "AiError: bad input", "code": 5006}]}, "5006", "AiError: bad input"),  # Cloudflare
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_an_error_with_status_200_fails_the_request(
    body: dict[str, Any], code: str | None, message: str, streamed: bool
) -> None:
    record = record_of(
        *([data(body), DONE] if streamed else [json.dumps(body).encode()]), head=SSE if streamed else JSON
    )
    assert (record.failed, record.error_code, record.error_message) == (True, code, message)
    assert result_of(record).code == "error_in_response"


@pytest.mark.parametrize(
    "error",
    [
        {"message": "", "type": "", "param": "", "code": None},
        {"code": 0, "message": "success"},
        {"code": "0", "message": ""},
        {"code": 200, "message": "OK"},
        None,
        "",
        {},
        [],
        False,
        0,
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_an_error_that_says_nothing_is_no_error(error: object, streamed: bool) -> None:
    frames = [c({"content": "OK"}, "stop", error=error), DONE]
    if not streamed:
        frames = [json.dumps(whole({"content": "OK"}, error=error)).encode()]
    record = record_of(*frames, head=SSE if streamed else JSON)
    assert (record.failed, result_of(record).text, record.output_preview) == (False, "200", "OK")


def test_success_beside_a_code_is_no_error() -> None:
    body = json.dumps(whole({"content": "OK"}, code=0, msg="success")).encode()
    assert not record_of(body, head=JSON).failed


@pytest.mark.parametrize(
    "frame",
    [
        data({"error": {"message": "overloaded"}}),
        data({"message": "overloaded"}, "error"),
        b"event: error\ndata: overloaded\n\n",
        b"error: overloaded\n\n",
        b'{"error": {"message": "overloaded"}}\n\n',
        c({}, None, error={"message": "overloaded", "code": 502}),
        data({"model": "m", "choices": [{"index": 0, "delta": {}, "error": {"message": "overloaded"}}]}),
    ],
)
def test_an_error_in_a_stream_fails_the_request_and_keeps_the_text(frame: bytes) -> None:
    record = record_of(c({"content": "Hi"}), frame)
    assert (record.failed, record.error_message, record.output_preview) == (True, "overloaded", "Hi")
    assert result_of(record).code == "error_in_response"


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_response_that_failed_or_was_cancelled_is_failed_even_with_output(status: str) -> None:
    item = {"type": "message", "content": [{"type": "output_text", "text": "Half a"}]}
    body = {"object": "response", "model": "m", "status": status, "output": [item], "error": None}
    record = record_of(json.dumps(body).encode(), head=JSON, target=b"/v1/responses")
    assert (record.failed, record.output_preview) == (True, "Half a")
    assert record.error_message == f"The status of the response is {status}."


def test_a_finish_reason_error_fails_the_request() -> None:
    assert record_of(c({"content": "Hi"}, "error"), DONE).failed


# -- texts are joined before they are decoded -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fragments", "text"),
    [
        (["Hi \ud83d", "\ude00 bye"], "Hi 😀 bye"),
        (["\ud83d", "\ude00", "\ud83d\ude00"], "😀😀"),
        (["lone \ud83d", " half"], "lone \ufffd half"),
        (["\udc00", "x"], "\ufffdx"),
    ],
)
def test_halves_of_a_character_in_two_events_are_one_character(fragments: list[str], text: str) -> None:
    frames = [data({"model": "m", "choices": [{"index": 0, "delta": {"content": one}}]}) for one in fragments]
    entry = entry_of(*frames, DONE)
    assert text_of(entry) == entry.record.output_preview == text
    assert entry.text is not None
    assert entry.text.whole.startswith(text)


def test_halves_in_arguments_and_reasoning_are_joined_too() -> None:
    def part(text: str) -> dict[str, Any]:
        return {"reasoning": text, "tool_calls": [{"index": 0, "function": {"name": "f", "arguments": text}}]}

    frames = [data({"choices": [{"index": 0, "delta": part(text)}]}) for text in ("\ud83d", "\ude00")]
    parts = outputs_of(entry_of(*frames, DONE))[0].parts
    assert [part.text or part.arguments for part in parts] == ["😀", "😀"]


def test_choices_without_an_index_are_told_apart_by_their_order() -> None:
    for first, second in ((None, None), ("0", "1"), ("a", "b")):
        choices = [{"index": first, "delta": {"content": "a"}}, {"index": second, "delta": {"content": "b"}}]
        outputs = outputs_of(entry_of(data({"model": "m", "choices": choices}), DONE))
        assert [output.parts[0].text for output in outputs] == ["a", "b"]


# -- identity of tool calls -------------------------------------------------------------------------------------------


def call(arguments: str | None = None, **fields: Any) -> bytes:
    function = {key: fields.pop(key) for key in ("name",) if key in fields}
    if arguments is not None:
        function["arguments"] = arguments
    return c({"tool_calls": [{**fields, "function": function}]})


@pytest.mark.parametrize(
    ("frames", "calls"),
    [
        # only ids after the first fragments, interleaved, whatever the index says
        (
            [
                call("", index=0, id="a", name="read"),
                call("", index=1, id="b", name="list"),
                call('{"p":', id="a"),
                call('{"d":', id="b"),
                call("1}", index=1, id="a"),
                call("2}", index=0, id="b"),
            ],
            [("a", "read", '{"p":1}'), ("b", "list", '{"d":2}')],
        ),
        # a new id on each fragment, without name
        (
            [call('{"c":', index=0, id="1", name="f"), call('"R', index=0, id="2"), call('ome"}', index=0, id="3")],
            [("1", "f", '{"c":"Rome"}')],
        ),
        ([call('{"c":', id="1", name="f"), call('"R"}', id="2")], [("1", "f", '{"c":"R"}')]),
        # a name in fragments
        (
            [call(index=0, id="a", name="get_"), call(index=0, id="a", name="weather"), call("{}", index=0)],
            [("a", "get_weather", "{}")],
        ),
        ([call(index=0, name="get_"), call("{}", index=0, name="weather")], [(None, "get_weather", "{}")]),
        ([call(name="get_"), call(name="weather"), call("{}")], [(None, "get_weather", "{}")]),
        # the same index for every call
        (
            [call("{}", index=0, id="a", name="f"), call("{}", index=0, id="b", name="g")],
            [("a", "f", "{}"), ("b", "g", "{}")],
        ),
        # neither index nor id: complete arguments and a name start a new call
        ([call("{}", name="f"), call("{}", name="f")], [(None, "f", "{}"), (None, "f", "{}")]),
        (
            [call('{"a":1}', index=0, name="f"), call('{"a":2}', index=0, name="f")],
            [(None, "f", '{"a":1}'), (None, "f", '{"a":2}')],
        ),
        # the name is repeated with each fragment
        ([call('{"a"', index=0, name="f"), call(":1}", index=0, name="f")], [(None, "f", '{"a":1}')]),
        ([call('{"a":1}', index=0, id="x", name="f"), call("", index=0, name="f")], [("x", "f", '{"a":1}')]),
        # indexes as texts
        ([call('{"a"', index="0", id="x", name="f"), call(":1}", index="0")], [("x", "f", '{"a":1}')]),
    ],
)
def test_fragments_belong_to_the_call_that_their_id_index_or_name_says(
    frames: list[bytes], calls: list[tuple[str | None, str, str]]
) -> None:
    assert calls_of(*frames, c({}, "tool_calls"), DONE) == calls


# -- Responses API ----------------------------------------------------------------------------------------------------

RESPONSES = {"target": b"/v1/responses"}
COMPLETED = {"type": "response.completed", "response": {"id": "r", "model": "m", "status": "completed", "output": []}}
CALL_ITEM = {"type": "function_call", "id": "fc", "call_id": "x", "name": "f", "arguments": '{"a":1}'}


@pytest.mark.parametrize(
    "frame",
    [
        {"type": "response.output_item.done", "output_index": 0, "item": CALL_ITEM},
        {"type": "response.output_item.done", "item": CALL_ITEM},
        {"type": "response.output_item.added", "item": CALL_ITEM},
    ],
)
def test_a_call_only_in_an_item_is_read(frame: dict[str, Any]) -> None:
    assert calls_of(data(frame), data(COMPLETED), **RESPONSES) == [("x", "f", '{"a":1}')]


@pytest.mark.parametrize(
    "frames",
    [
        [{"type": "response.output_text.done", "item_id": "m", "output_index": 0, "content_index": 0, "text": "Hi"}],
        [{"type": "response.output_text.done", "text": "Hi"}],
        [{"type": "response.content_part.done", "part": {"type": "output_text", "text": "Hi"}}],
        [
            {
                "type": "response.output_item.done",
                "item": {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]},
            }
        ],
        [
            {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "H"},
            {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "i"},
            {"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "Hi"},
        ],
    ],
)
def test_a_text_only_in_a_done_event_is_read_once(frames: list[dict[str, Any]]) -> None:
    assert text_of(entry_of(*map(data, frames), data(COMPLETED), **RESPONSES)) == "Hi"


def test_the_last_response_object_does_not_double_the_items_before_it() -> None:
    item = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "Hi"}]}
    last = {"type": "response.completed", "response": COMPLETED["response"] | {"output": [item, CALL_ITEM]}}
    frames = [
        {"type": "response.output_item.added", "output_index": 0, "item": item | {"content": []}},
        {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": "Hi"},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.output_item.added", "output_index": 1, "item": CALL_ITEM | {"arguments": ""}},
        {"type": "response.function_call_arguments.delta", "item_id": "fc", "output_index": 1, "delta": '{"a":1}'},
        last,
    ]
    parts = outputs_of(entry_of(*map(data, frames), **RESPONSES))[0].parts
    assert [(part.kind, part.text or part.arguments) for part in parts] == [("text", "Hi"), ("tool_call", '{"a":1}')]


# -- bytes before labels ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("label", [b"UTF-8", b"none", b"br", b"gzip, deflate", b"x"])
def test_a_content_encoding_that_does_not_fit_is_ignored_with_a_note(label: bytes) -> None:
    body = json.dumps(whole({"content": "OK"}, usage={"prompt_tokens": 11, "completion_tokens": 7})).encode()
    record = record_of(body, head=JSON + b"\r\nContent-Encoding: " + label)
    assert (record.output_preview, record.input_tokens, record.output_tokens) == ("OK", 11, 7)
    assert codes(record)[0] == "wrong_encoding"


def test_bytes_that_cannot_be_decoded_have_a_note() -> None:
    assert codes(record_of(b"\x00\x01\x02", head=JSON + b"\r\nContent-Encoding: x")) == ["unknown_encoding"]


@pytest.mark.parametrize(
    "body",
    [
        json.dumps(whole({"content": "OK"})).encode() + b"\n" + DONE,
        json.dumps(whole({"content": "OK"})).encode() + b"\n\ndata: [DONE]",
        json.dumps(whole({"content": "OK"}), indent=1).encode() + b"\r\n\r\ndata: [DONE]\r\n\r\n",
        json.dumps(whole({"content": "OK"})).encode(),
        b"\xef\xbb\xbf" + json.dumps(whole({"content": "OK"})).encode(),
    ],
)
def test_a_whole_answer_that_says_that_it_is_a_stream_is_read(body: bytes) -> None:
    record = record_of(body)
    assert (record.output_preview, record.failed) == ("OK", False)


@pytest.mark.parametrize("head", [b"Content-Type: text/plain", b"Content-Type: application/json", b""])
def test_a_stream_that_says_that_it_is_something_else_is_read(head: bytes) -> None:
    record = record_of(c({"content": "Hi"}), DONE, head=head)
    assert (record.stream, record.stream_ended, record.output_preview) == (True, "done", "Hi")


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("/v1/openai/deployments/my-gpt4o/chat/completions", "my-gpt4o"),
        ("/v1//chat/completions", None),
        ("/v1/beta/chat/completions/", None),
    ],
)
def test_a_path_that_ends_in_chat_completions_is_chat(path: str, model: str | None) -> None:
    request = b'{"messages":[{"role":"user","content":"hi"}]}'
    record = record_of(c({"content": "Hi"}, "stop"), DONE, request=request, target=path.encode() + b"?api-version=1")
    assert (record.kind, record.model, record.output_preview, record.input_preview) == ("chat", model, "Hi", "hi")


# -- bodies that are not what an API returns --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "preview", "note", "failed"),
    [
        (
            b"<html><head><title>Sign in</title></head><body>x</body></html>",
            "HTML page, title Sign in",
            "not_json",
            True,
        ),
        (b"<!DOCTYPE html><p>Blocked</p>", "HTML page: Blocked", "not_json", True),
        (b"upstream connect error", "upstream connect error", "not_json", True),
        (b'"Hello"', "Hello", "not_understood", True),
        (b"null", "null", "not_understood", True),
        (b"<?xml version='1.0'?><Error>AccessDenied</Error>", "XML: AccessDenied", "not_json", True),
        (b"[1, 2]", "[1,2]", "not_understood", True),
        (b'{"result": "text"}', '{"result": "text"}', "not_understood", True),
        (b'{"id": "c", "choices": [{"mess', '{"id": "c", "choices": [{"mess', "not_json", True),
    ],
)
def test_an_unexpected_body_has_a_preview_and_a_note(body: bytes, preview: str, note: str, failed: bool) -> None:
    record = record_of(body, head=b"Content-Type: text/html")
    assert (record.output_preview, codes(record), record.failed) == (preview, [note], failed)
    assert (result_of(record).tone == "good") is (not failed)


@pytest.mark.parametrize(
    ("frames", "head"),
    [
        ([json.dumps({"id": "c", "model": "m", "choices": []}).encode()], JSON),
        ([json.dumps({"id": "c", "model": "m", "choices": None}).encode()], JSON),
        ([DONE], SSE),
        ([data({"model": "m", "choices": []}), DONE], SSE),
        ([b"{}"], JSON),
    ],
)
def test_a_response_without_any_output_is_not_called_good(frames: list[bytes], head: bytes) -> None:
    record = record_of(*frames, head=head)
    assert (record.failed, record.error_code) == (True, "not_understood")
    assert (result_of(record).code, result_of(record).text) == ("unexpected_body", "200 · unexpected response")


def test_an_answer_without_text_is_an_answer() -> None:
    assert not record_of(json.dumps(whole({"content": ""})).encode(), head=JSON).failed


@pytest.mark.parametrize(
    ("broken", "note"),
    [
        ([b'data: {"choices": [{"delta": {"content": "lost"}}]\n\n'], "1 event is not valid JSON,"),
        ([b"data: {broken}\n\n"] * 3, "3 events are not valid JSON,"),
    ],
)
def test_events_that_are_lost_have_a_note_and_fail_the_request(broken: list[bytes], note: str) -> None:
    record = record_of(c({"content": "One "}), *broken, c({"content": "three"}, "stop"), DONE)
    assert (record.failed, record.error_code, record.output_preview) == (True, "not_json", "One three")
    assert record.notes[0].message.startswith(note)
    assert result_of(record).text == "200 · not JSON"


def test_an_event_that_was_cut_off_is_not_lost() -> None:
    frames = c({"content": "One"}), b'data: {"choices": [{"del'
    assert codes(record_of(*frames, outcome="client_closed")) == []


@pytest.mark.parametrize("content", [{"text": "Hi"}, {"type": "text", "text": "Hi"}])
def test_content_may_be_one_part(content: dict[str, Any]) -> None:
    for frames, head in (
        ([json.dumps(whole({"content": content})).encode()], JSON),
        ([c({"content": content}), DONE], SSE),
    ):
        assert record_of(*frames, head=head).output_preview == "Hi"


def test_content_of_another_type_is_kept() -> None:
    (part,) = outputs_of(entry_of(json.dumps(whole({"content": 42})).encode(), head=JSON))[0].parts
    assert (part.kind, part.text) == ("other", "42")


def test_a_response_without_content_on_purpose_is_complete() -> None:
    entry = entry_of(status=204, head=JSON)
    assert (result_of(entry.record).text, RequestView.of_entry(entry).response()) == ("204", None)


@pytest.mark.parametrize(
    ("arguments", "notes"),
    [('{"city":"Os', ["arguments_not_json"]), ("", []), ("{}", []), ('{"a":1}', [])],
)
def test_arguments_that_are_not_json_have_a_note(arguments: str, notes: list[str]) -> None:
    function = {"name": "f", "arguments": arguments}
    message = {"content": None, "tool_calls": [{"id": "a", "type": "function", "function": function}]}
    record = record_of(json.dumps(whole(message)).encode(), head=JSON)
    assert (codes(record), record.failed) == (notes, False)


def test_arguments_of_a_custom_tool_are_any_text() -> None:
    message = {"tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}]}
    assert codes(record_of(json.dumps(whole(message)).encode(), head=JSON)) == []


def test_notes_say_nothing_of_the_content_if_bodies_are_not_logged() -> None:
    record = record_of(b"<title>secret</title>", head=b"Content-Type: text/html", log="no-bodies")
    assert (codes(record), record.output_preview, record.error_message) == (["not_json"], None, None)
    assert "secret" not in str(record.notes)


@pytest.mark.parametrize(
    ("body", "head"),
    [
        (b"", b""),
        (b"\n" * 40, b""),  # DeepSeek sends empty lines while it is busy
        (b" \r\n\t", b""),
        (gzip.compress(b"", mtime=0), b"Content-Encoding: gzip"),
    ],
)
def test_a_response_without_content_is_incomplete(body: bytes, head: bytes) -> None:
    record = record_of(body, head=b"Content-Type: application/json\r\n" + head)
    assert (record.failed, record.error_code, result_of(record).code) == (True, "stream_incomplete", "incomplete")


def test_json_with_too_many_values_is_not_called_incomplete() -> None:
    record = record_of(b'{"choices":[],"x":[' + b"[]," * 1_000_000 + b"[]]}", head=JSON)
    assert (codes(record), record.failed, record.error_message) == (["too_large_to_read"], False, None)


def test_json_that_is_nested_too_deeply_is_not_called_incomplete() -> None:
    record = record_of(b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}", head=JSON)
    assert (codes(record), record.failed, record.error_code) == (["not_json"], True, "not_json")
    assert record.error_message == "The response is not valid JSON, or it is nested too deeply."


def test_an_answer_of_images_says_so() -> None:
    url = "data:image/png;base64," + base64.b64encode(bytes(2500)).decode()
    image = {"type": "image_url", "image_url": {"url": url}}
    body = json.dumps(whole({"content": "", "images": [image]})).encode()
    assert record_of(body, head=JSON).output_preview == "[image png 2.5 kB]"
    assert record_of(c({"content": "", "images": [image]}, "stop"), DONE).output_preview == "[image png 2.5 kB]"


def test_a_large_request_with_an_image_is_read() -> None:
    url = "data:image/png;base64," + "A" * (18 << 20)
    content = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": url}}]
    request = json.dumps({"model": "m", "messages": [{"role": "user", "content": content}]}).encode()
    record = record_of(c({"content": "A square."}, "stop"), DONE, request=request)
    assert (record.model, record.input_preview, codes(record)) == ("m", "What is this? [image png 14 MB]", [])


def test_beyond_the_limit_a_note_says_that_a_body_was_not_read() -> None:
    record = record_of(c({"content": "x"}, "stop"), DONE, request=b'{"model":"m","x":"' + b"a" * (64 << 20) + b'"}')
    assert (record.model, codes(record)) == (None, ["too_large_to_read"])


@pytest.mark.parametrize("content", [["first", "second"], [{"text": "first"}, "second"]])
def test_content_may_be_a_list_of_texts(content: list[Any]) -> None:
    request = json.dumps({"model": "m", "messages": [{"role": "user", "content": content}]}).encode()
    assert record_of(c({"content": "x"}, "stop"), DONE, request=request).input_preview == "first second"
    if isinstance(content[0], str):
        assert record_of(json.dumps(whole({"content": content})).encode(), head=JSON).output_preview == "first second"


def test_many_events_with_a_field_of_a_wrong_type_are_all_read() -> None:
    frames = [c({"content": "x"}, created="now") for _ in range(10_500)]
    entry = entry_of(*frames, DONE)
    assert (len(text_of(entry)), codes(entry.record)) == (10_500, [])


def test_too_many_events_that_are_not_json_have_a_note() -> None:
    frames = [b'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n'] * 20_100
    assert codes(record_of(b"".join(frames), DONE)) == ["too_many_odd_events"]


# -- usage ------------------------------------------------------------------------------------------------------------


def test_usage_of_zeros_beside_a_text_is_no_usage() -> None:
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    record = record_of(c({"content": "four words of text"}, "stop", usage=usage), DONE)
    assert (record.tokens_estimated, record.output_tokens, record.cost_usd) == (True, 5, None)


def test_a_later_zero_does_not_overwrite_a_count() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 5}
    zero = {"prompt_tokens": 0, "completion_tokens": 0}
    record = record_of(c({"content": "Hi"}, "stop", usage=usage), c({}, usage=zero), DONE)
    assert (record.input_tokens, record.output_tokens) == (9, 5)


def test_cache_writes_of_a_chat_usage_have_their_price() -> None:
    details = {"cache_creation_tokens": 9000}
    usage = {"prompt_tokens": 10_000, "completion_tokens": 0, "prompt_tokens_details": details}
    body = json.dumps(whole({"content": "OK"}, model="claude-sonnet-4-5", usage=usage)).encode()
    record = record_of(body, head=JSON, upstream="https://api.anthropic.com/v1")
    assert record.cost_usd == pytest.approx(0.03675)


# -- what a person wrote ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "preview"),
    [
        (["<system-reminder>\nToday is Monday.\n</system-reminder>", "Fix the test"], "Fix the test"),
        ("<system-reminder>x</system-reminder>\n\nFix the test", "Fix the test"),
        ("<system-reminder>x</system-reminder><system-reminder>y</system-reminder>Fix it", "Fix it"),
        (["<task>\nFix the test\n</task>", "<environment_details>\n# Files\n</environment_details>"], "Fix the test"),
        ("Fix it\n<environment_details>x</environment_details>", "Fix it"),
        (["<session_context>\nThis is the Gemini CLI.\n</session_context>", "Fix the test"], "Fix the test"),
        ("<user_query>\nFix it\n</user_query>", "Fix it"),
        ("<b>Bold</b> is HTML", "<b>Bold</b> is HTML"),
        ("if a < b", "if a < b"),
    ],
)
def test_the_preview_is_what_the_person_wrote(content: Any, preview: str) -> None:
    parts = [{"type": "text", "text": one} for one in content] if isinstance(content, list) else content
    request = json.dumps({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": parts}]}).encode()
    for path in (b"/v1/messages", b"/v1/chat/completions"):
        assert record_of(request=request, target=path, status=500).input_preview == preview


def test_a_message_of_reminders_only_is_the_last_resort() -> None:
    messages = [
        {"role": "user", "content": "Fix it"},
        {"role": "assistant", "content": "Done"},
        {"role": "user", "content": "<system-reminder>x</system-reminder>"},
    ]
    request = json.dumps({"model": "m", "messages": messages}).encode()
    assert record_of(request=request, status=500).input_preview == "Fix it"
    request = json.dumps({"model": "m", "messages": messages[2:]}).encode()
    assert record_of(request=request, status=500).input_preview == "<system-reminder>x</system-reminder>"


@pytest.mark.parametrize(
    ("user_id", "user"),
    [
        ('{"device_id":"d1","account_uuid":"a1","session_id":"s1-0000"}', "a1"),
        ('{"device_id":"d1","account_uuid":"","session_id":"s1-0000"}', "d1"),
        (f"user_{'0' * 64}_account_aaaa-1_session_5e551011-0000", "aaaa-1"),
        (f"user_{'0' * 64}_account__session_5e551011-0000", "0" * 64),
    ],
)
def test_the_user_of_claude_code_is_split_into_user_and_session(user_id: str, user: str) -> None:
    request = json.dumps({"model": "m", "max_tokens": 9, "messages": [], "metadata": {"user_id": user_id}}).encode()
    record = record_of(request=request, status=500, target=b"/v1/messages")
    assert record.user == user
    assert record.session in ("s1-0000", "5e551011-0000")
    assert record.properties == {}


def test_another_user_is_kept_as_it_is() -> None:
    for user in ("42", "{not json", '{"a": 1}', "user_x_account_y_session_z"):
        request = json.dumps({"model": "m", "messages": [], "user": user}).encode()
        assert record_of(request=request, status=500).user == user


def test_an_error_text_beside_its_explanation_shows_both() -> None:
    body = b'{"error": "Unauthorized", "message": "The key has expired."}'
    assert record_of(body, status=401, head=JSON).error_message == "Unauthorized: The key has expired."


def test_errors_of_apis_that_are_not_read_can_be_searched() -> None:
    body = b'{"error": {"message": "No such file zebra", "code": "not_found"}}'
    entry = entry_of(body, status=404, head=JSON, method=b"GET", target=b"/v1/files/1")
    assert entry.text is not None
    assert (entry.record.kind, entry.text.whole) == ("file", "No such file zebra")


def test_reading_never_depends_on_the_content_type_alone() -> None:
    body = b"".join([c({"content": "Hi"}), DONE])
    readings = [read_response(body, "chat", is_event_stream=sse, complete=True) for sse in (True, False)]
    assert readings[0] == readings[1]
