"""Test the entries that are built from exchanges, including exchanges with arbitrary bytes."""

import gzip
import json
from typing import Any

import msgspec
import pytest
from tests.support.frames import Script

from relaybook.log.prices import Prices
from relaybook.log.record import Record, decode_chain, stored_id
from relaybook.log.store.entry import Entry
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.fold import Fold, JournalExchange

A = b"a" * 16
BUILDER = EntryBuilder(Prices(), lambda ref: b"")
REQUEST = json.dumps(
    {
        "model": "gpt-4o-mini",
        "messages": [{"role": "user", "content": "Where is my refund?"}],
        "user": "u-42",
        "metadata": {"user_id": "7", "channel": "body"},
    }
).encode()
ANSWER = json.dumps(
    {
        "id": "chatcmpl-1",
        "model": "gpt-4o-mini-2024-07-18",
        "choices": [{"index": 0, "message": {"content": "It was sent."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 4, "total_tokens": 16},
    }
).encode()


def event(text: str) -> bytes:
    return b"data: %b\n\n" % json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}).encode()


STREAM_HEAD = b"content-type: text/event-stream"


def exchange_of(script: Script) -> JournalExchange:
    fold = Fold()
    ended = fold.feed(script.frames)
    return ended[0] if ended else fold.end()[0]


def entry_of(script: Script) -> Entry:
    exchange = exchange_of(script)
    return BUILDER.entry(exchange, BUILDER.bodies(exchange))


def record_of(script: Script) -> Record:
    return entry_of(script).record


def call(
    answer: bytes = ANSWER, request: bytes = REQUEST, head: bytes = b"", status: int = 200, **fields: Any
) -> Script:
    return Script().open(A, **fields).request(A, request).respond(A, answer, head=head, status=status).close(A)


def test_a_whole_response_is_parsed() -> None:
    record = record_of(call(head=b"x-request-id: req_1"))
    assert (record.model, record.response_model) == ("gpt-4o-mini", "gpt-4o-mini-2024-07-18")
    assert (record.input_tokens, record.output_tokens, record.tokens_estimated) == (12, 4, False)
    assert record.cost_usd == pytest.approx(12 * 0.15e-6 + 4 * 0.6e-6)
    assert (record.input_preview, record.output_preview) == ("Where is my refund?", "It was sent.")
    assert (record.outcome, record.failed, record.status, record.kind) == ("complete", False, 200, "chat")
    assert (record.provider_request_id, record.completion_id, record.user) == ("req_1", "chatcmpl-1", "u-42")
    assert record.user_agent == "test/1"
    assert record.duration_ms == 5.0
    assert not record.stream


def test_metadata_becomes_properties_and_headers_take_precedence() -> None:
    record = record_of(call(properties={"channel": "header"}))
    assert record.properties == {"channel": "header", "user-id": "7"}


def test_warnings_about_metadata_follow_the_warnings_about_headers() -> None:
    body = json.dumps({"metadata": {" ": "x", "a": "b" * 300, "ok": "1"}}).encode()
    record = record_of(call(request=body, warnings=(("unknown_header", "Service-X is not a known tag."),)))
    assert [warning.code for warning in record.warnings] == ["unknown_header", "empty_property_name", "value_cut"]
    assert list(record.properties) == ["a", "ok"]


@pytest.mark.parametrize("head", [STREAM_HEAD, STREAM_HEAD + b"\r\ncontent-encoding: identity"])
def test_a_stream_is_assembled_and_timed(head: bytes) -> None:
    role = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'
    script = Script().open(A).request(A, REQUEST)
    script.respond(A, role, event("It "), event("was"), b"data: [DONE]\n\n", head=head).close(A)
    record = record_of(script)
    assert (record.stream, record.stream_ended, record.chunks) == (True, "done", 4)
    assert record.output_preview == "It was"
    assert record.first_token_ms == 5.0
    assert record.tokens_estimated
    assert record.output_tokens == 2


def test_a_truncated_stream_ends_as_cut() -> None:
    script = Script().open(A).request(A, REQUEST).respond(A, event("It "), head=STREAM_HEAD)
    record = record_of(script)
    assert (record.outcome, record.failed, record.stream_ended) == ("interrupted", True, "cut")
    assert record.output_preview == "It"


def test_a_compressed_response_is_parsed_and_stored_compressed() -> None:
    packed = gzip.compress(ANSWER)
    entry = entry_of(call(packed, head=b"Content-Encoding: gzip"))
    assert entry.record.output_preview == "It was sent."
    assert entry.response is not None
    assert entry.response.rest == [packed]


@pytest.mark.parametrize(
    ("method", "status", "failed"),
    [(b"HEAD", 404, False), (b"HEAD", 405, False), (b"HEAD", 401, True), (b"HEAD", 500, True), (b"GET", 404, True)],
)
def test_a_head_request_for_an_unknown_path_has_not_failed(method: bytes, status: int, failed: bool) -> None:
    script = call(b"", b"", target=b"/", method=method, kind="other", status=status)
    assert record_of(script).failed is failed


def test_an_upstream_error_is_failed_with_its_message() -> None:
    body = b'{"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}}'
    record = record_of(call(body, status=429))
    assert (record.outcome, record.failed) == ("complete", True)
    assert (record.error_code, record.error_message) == ("rate_limit_exceeded", "Rate limit reached")
    assert record.cost_usd is None


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_response_that_is_only_an_error_has_no_tokens_and_no_cost(is_stream: bool) -> None:
    error = b'{"error": {"message": "overloaded", "code": 502}}'
    body, head = (b"data: %b\n\n" % error, STREAM_HEAD) if is_stream else (error, b"")
    record = record_of(call(body, head=head))
    assert (record.status, record.failed, record.error_code) == (200, True, "502")
    assert (record.input_tokens, record.output_tokens, record.tokens_estimated) == (None, None, False)
    assert record.cost_usd is None


def answer_of(usage: dict[str, Any] | None, **fields: Any) -> bytes:
    return json.dumps(json.loads(ANSWER) | {"usage": usage} | fields).encode()


GOOGLE = b'{"content": {"parts": [{"text": "Hi"}]}}'
NO_MODEL = b'{"messages": [{"role": "user", "content": "Hi"}]}'


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (call(), None),
        (Script().open(A).request(A, REQUEST).close(A, "upstream_failed", "upstream_unreachable"), "no_response"),
        (Script().open(A).request(A, REQUEST).respond(A, b"{}", status=502, made=True).close(A), "no_response"),
        (call(b'{"error": {"message": "slow down"}}', status=429), "error_response"),
        (call(b'{"error": {"message": "overloaded", "code": 502}}'), "error_response"),
        (call(b"", status=302), "error_response"),
        (call(b"\x00sound", target=b"/v1/audio/speech", kind="other"), "api_not_read"),
        (call(b"<html>", head=b"content-type: text/html"), "body_not_read"),
        (call(ANSWER, head=b"content-encoding: zstd9"), None),
        (call(b"\x00\xff", head=b"content-encoding: zstd9"), "body_not_read"),
        (call(b"", status=204), "no_usage"),
        (call(b"", head=STREAM_HEAD), "no_usage"),
        (call(answer_of({"prompt_tokens": 2, "completion_tokens": 1, "cost": 1}, model=None), NO_MODEL), None),
        (call(answer_of({"prompt_tokens": 2, "completion_tokens": 1}, model=None), NO_MODEL), "no_model"),
        (call(answer_of({"prompt_tokens": 2, "completion_tokens": 1}), upstream="http://10.0.0.1/v1"), None),
        (call(answer_of({"prompt_tokens": 2}, model="qwen3:8b"), REQUEST.replace(b"gpt-4o-mini", b"qwen3:8b"),
              upstream="http://10.0.0.1/v1"), "unknown_model"),
        (call(answer_of({"prompt_tokens": 2}, model="gpt-oss-120b"), NO_MODEL, upstream="http://10.0.0.1/v1"),
         "ambiguous_model"),
        (call(answer_of({"prompt_tokens": 10**15, "completion_tokens": 1})), "implausible"),
        (call(b'{"object": "list", "data": []}', b"", target=b"/v1/models", method=b"GET", kind="models"), None),
        (call(b"", b"", target=b"/v1/files/1", method=b"DELETE", kind="other", status=404), None),
        (call(b'{"input_tokens": 7}', REQUEST, target=b"/v1/messages/count_tokens", kind="message"), None),
        (call(b'{"totalTokens": 7}', GOOGLE, target=b"/v1beta/models/gemini-2.5-flash:countTokens"), None),
        (call(b'{"embedding": {"values": [0.5]}}', GOOGLE, target=b"/v1beta/models/gemini-embedding-001:embedContent"),
         "no_usage"),
    ],
)  # fmt: skip
def test_a_record_has_a_cost_or_a_reason_unless_it_cannot_cost_anything(script: Script, reason: str | None) -> None:
    record = record_of(script)
    assert record.cost_reason == reason
    assert record.cost_usd is None or reason is None


def test_the_cost_of_bodies_that_crashed_the_recorder_is_unknown() -> None:
    assert BUILDER.entry(exchange_of(call()), None).record.cost_reason == "body_not_read"


def test_a_running_request_has_no_reason_for_its_unknown_cost() -> None:
    fold = Fold()
    fold.feed(Script().open(A).request(A, REQUEST).frames)
    running = BUILDER.running(fold.open[A], BUILDER.bodies(fold.open[A]))
    assert (running.record.cost_usd, running.record.cost_reason) == (None, None)


def test_an_error_event_fails_a_stream() -> None:
    broken = b'data: {"error": {"message": "overloaded", "code": "server_error"}}\n\n'
    script = Script().open(A).request(A, REQUEST).respond(A, event("It"), broken, head=STREAM_HEAD).close(A)
    record = record_of(script)
    assert (record.outcome, record.failed, record.error_code) == ("complete", True, "server_error")


def test_a_response_of_the_relay_keeps_its_error() -> None:
    script = Script().open(A).request(A, REQUEST).respond(A, b"{}", status=502, made=True)
    record = record_of(script.close(A, "upstream_failed", "upstream_reset", "It broke off."))
    assert (record.status, record.failed, record.error_code) == (502, True, "upstream_reset")
    assert record.error_message == "It broke off."
    assert record.model == "gpt-4o-mini"


def test_a_client_that_disconnects_is_not_a_failure() -> None:
    script = Script().open(A).request(A, REQUEST).respond(A, event("It"), head=STREAM_HEAD).close(A, "client_closed")
    record = record_of(script)
    assert (record.outcome, record.failed) == ("client_closed", False)


def test_a_client_that_disconnects_at_done_got_a_complete_response() -> None:
    pieces = (event("It"), b"data: [DONE]\n\n")
    script = Script().open(A).request(A, REQUEST).respond(A, *pieces, head=STREAM_HEAD).close(A, "client_closed")
    record = record_of(script)
    assert (record.outcome, record.stream_ended, record.failed) == ("complete", "done", False)


def test_a_client_that_disconnects_before_done_did_not_get_a_complete_response() -> None:
    """With ``on_client_gone = finish``, the log has the whole stream."""
    pieces = (event("It"), b"data: [DONE]\n\n")
    script = Script().open(A).request(A, REQUEST).respond(A, *pieces, head=STREAM_HEAD)
    record = record_of(script.close(A, "client_closed", None, None, None, True))
    assert (record.outcome, record.stream_ended, record.failed) == ("client_closed", "done", False)


def test_without_bodies_metrics_are_kept_and_text_is_removed() -> None:
    entry = entry_of(call(log="no-bodies"))
    assert (entry.request, entry.response) == (None, None)
    record = entry.record
    assert (record.input_preview, record.output_preview, record.body_state) == (None, None, "no_bodies")
    assert (record.input_tokens, record.model) == (12, "gpt-4o-mini")
    failed = record_of(call(b'{"error": {"message": "secret words", "code": "x"}}', status=400, log="no-bodies"))
    assert (failed.error_message, failed.error_code) == (None, "x")


def test_headers_become_fields() -> None:
    head = (
        b"X-Client-Request-Id: mine\r\nx-stainless-retry-count: 2\r\n"
        b"traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    )
    record = record_of(call(head=b"", request=REQUEST) if not head else Script().open(A, head=head).request(A).close(A))
    assert (record.client_request_id, record.retry_count) == ("mine", 2)
    assert record.trace_id == "0af7651916cd43dd8448eb211c80319c"


@pytest.mark.parametrize("end", ["", "x" * 10, "\0", "é", "\ud800"])
def test_a_long_response_id_stays_distinct_and_is_continued(end: str) -> None:
    """LiteLLM gives responses ids of more than 256 characters that differ only at the end."""
    response_id, other_id = (f"resp_{'bGl0ZWxsbTpj' * 30}{number}{end}" for number in "12")
    answer = {"id": response_id, "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}]}
    first, other = (
        record_of(call(json.dumps(answer | {"id": each}).encode(), b'{"input": "Hello"}', target=b"/v1/responses"))
        for each in (response_id, other_id)
    )
    request = json.dumps({"input": "And?", "previous_response_id": response_id}).encode()
    chain = entry_of(call(json.dumps(answer).encode(), request, target=b"/v1/responses")).chain
    assert chain is not None
    assert first.completion_id == decode_chain(chain).previous == stored_id(response_id)
    assert other.completion_id != first.completion_id
    first.completion_id.encode()


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        (b"job-" + b"0123456789" * 30, stored_id("job-" + "0123456789" * 30)),
        (b"x" * 256, "x" * 256),
        ("注文/request é".encode(), "注文/request é"),
        (b"caf\xe9", "café"),
        (b"", ""),
    ],
)
def test_an_id_is_stored_so_that_it_is_found_again(sent: bytes, stored: str) -> None:
    script = Script().open(A, head=b"x-client-request-id: " + sent).request(A, REQUEST)
    record = record_of(script.respond(A, ANSWER, head=b"X-Request-Id:" + sent).close(A))
    assert (record.client_request_id, record.provider_request_id) == (stored, stored)


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff\xfe", b"{", b"[" * 100_000, b'{"model": ' + b"9" * 5000 + b"}", b'"\\ud800"', b"\0\0", b"null"],
)
def test_any_bytes_give_an_entry(body: bytes) -> None:
    entry = entry_of(call(body, request=body))
    assert entry.record.status == 200
    assert len(entry.record.model or "") <= 256
    assert entry.request is not None
    assert b"".join(entry.request.rest) == body


def test_path_and_query_are_separated() -> None:
    record = record_of(call(target=b"/v1/chat/completions?a=1&b=2"))
    assert (record.path, record.query, record.kind) == ("/v1/chat/completions", "a=1&b=2", "chat")


def test_a_running_request_is_open_and_shows_its_response_so_far() -> None:
    fold = Fold()
    fold.feed(Script().open(A).request(A, REQUEST).respond(A, event("So far"), head=STREAM_HEAD).frames)
    running = BUILDER.running(fold.open[A], BUILDER.bodies(fold.open[A]))
    record = running.record
    assert (record.outcome, record.failed, record.ended_at, record.duration_ms) == ("open", False, None, None)
    assert record.output_preview == "So far"
    assert (running.detail, running.request, running.response) == (None, None, None)


def test_a_shown_running_request_has_the_same_detail_and_bytes_as_an_ended_one() -> None:
    fold = Fold()
    script = Script().open(A).request(A, REQUEST[:50], REQUEST[50:])
    fold.feed(script.respond(A, event("So"), event(" far"), head=STREAM_HEAD).frames)
    running = BUILDER.running(fold.open[A], BUILDER.bodies(fold.open[A]), is_shown=True)
    assert (running.request, running.response) == (REQUEST, event("So") + event(" far"))
    ended = BUILDER.entry(fold.open[A], None).detail
    assert running.detail is not None
    assert ended is not None
    assert running.detail == msgspec.structs.replace(ended, exchange=None)
    assert running.detail.response_headers == [("content-type", "text/event-stream")]
    assert running.detail.chunk_bytes == [len(event("So")), len(event(" far"))]


def test_audio_and_images_are_described_by_type_and_size() -> None:
    head = b"Content-Type: audio/mpeg"
    script = call(b"\xff" * 34_000, b"{}", head, target=b"/v1/audio/speech")
    assert record_of(script).output_preview == "[audio mpeg 34 kB]"
    assert record_of(call(b"x", b"{}", target=b"/v1/files")).output_preview is None
    assert (
        record_of(call(b"\xff" * 34_000, b"{}", head, target=b"/v1/audio/speech", log="no-bodies")).output_preview
        is None
    )


MESSAGE_HEAD = b"content-type: text/event-stream\r\nrequest-id: req_anthropic"
MESSAGE_START = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "model": "claude-haiku-4-5",
        "content": [],
        "usage": {"input_tokens": 12, "cache_read_input_tokens": 0, "output_tokens": 1},
    },
}


def message_events(*more: dict[str, Any]) -> list[bytes]:
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "It was sent."}}
    return [b"data: %b\n\n" % json.dumps(value).encode() for value in (MESSAGE_START, delta, *more)]


def test_a_message_stream_is_complete_at_message_stop_even_if_the_client_disconnects() -> None:
    pieces = message_events(
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}},
        {"type": "message_stop"},
    )
    script = Script().open(A, target=b"/v1/messages").request(A, b'{"model":"claude-haiku-4-5","max_tokens":9}')
    record = record_of(script.respond(A, *pieces, head=MESSAGE_HEAD).close(A, "client_closed"))
    assert (record.kind, record.outcome, record.stream_ended) == ("message", "complete", "done")
    assert (record.input_tokens, record.output_tokens, record.tokens_estimated) == (12, 4, False)
    assert (record.provider_request_id, record.finish_reason) == ("req_anthropic", "end_turn")


def test_the_output_tokens_of_a_message_stream_that_broke_off_are_estimated() -> None:
    script = Script().open(A, target=b"/v1/messages").request(A, b'{"model":"claude-haiku-4-5","max_tokens":9}')
    record = record_of(script.respond(A, *message_events(), head=MESSAGE_HEAD).close(A, "upstream_failed"))
    assert (record.input_tokens, record.output_tokens, record.tokens_estimated) == (12, 3, True)


STORED_RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "model": "gpt-5",
    "status": "completed",
    "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}],
    "usage": {"input_tokens": 12, "output_tokens": 4},
}


def retrieved(target: str, answer: bytes, head: bytes = b"") -> Record:
    script = Script().open(A, method=b"GET", target=target.encode()).request(A)
    return record_of(script.respond(A, answer, head=head).close(A, "complete"))


def test_the_tokens_of_a_stored_response_count_only_if_it_ran_in_the_background() -> None:
    for background, tokens in ((False, (None, None)), (True, (12, 4))):
        answer = json.dumps(STORED_RESPONSE | {"background": background}).encode()
        record = retrieved("/v1/responses/resp_1", answer)
        assert (record.kind, record.output_preview, record.failed) == ("response", "Hi", False)
        assert (record.input_tokens, record.output_tokens) == tokens
        assert (record.cost_usd is None) is (not background)
        assert record.stream_requested is None


def test_a_stored_response_can_be_streamed_again() -> None:
    final = {"type": "response.completed", "response": STORED_RESPONSE | {"background": True}}
    answer = b"event: response.completed\ndata: %b\n\n" % json.dumps(final).encode()
    record = retrieved("/v1/responses/resp_1?stream=true&starting_after=7", answer, STREAM_HEAD)
    assert (record.stream_requested, record.stream, record.stream_ended) == (True, True, "done")
    assert (record.output_preview, record.input_tokens) == ("Hi", 12)


def test_a_defect_in_a_reader_costs_only_what_is_read(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def defective(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("relaybook.recorder.entry_builder.read_request", defective)
    (exchange,) = Fold().feed(Script().open(A).request(A, REQUEST).respond(A, b"{}").close(A).frames)
    entry = BUILDER.entry(exchange, BUILDER.bodies(exchange))
    assert [note.code for note in entry.record.notes] == ["not_understood"]
    assert (entry.record.status, entry.record.model) == (200, None)
    assert entry.request == exchange.request
    assert [message.message for message in caplog.records] == ["body_not_read"]


def test_missing_memory_is_no_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_memory(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("relaybook.recorder.entry_builder.read_request", without_memory)
    (exchange,) = Fold().feed(Script().open(A).request(A, REQUEST).respond(A, b"{}").close(A).frames)
    with pytest.raises(MemoryError):
        BUILDER.entry(exchange, BUILDER.bodies(exchange))
