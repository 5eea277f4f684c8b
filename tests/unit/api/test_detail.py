"""Test that the detail of a request is complete, whatever the bodies of the request contain."""

import gzip
import json
from typing import Any

import pytest
from tests.support.api_log import HEAD, client_of, entry_of, head_of, log_of, record_of, running_of
from tests.support.each import check_each
from tests.support.memory_store import MemoryStore
from tests.support.parts import text_of

from relaybook.log import request_view
from relaybook.log.ask.detail import view
from relaybook.log.ask.errors import AskError
from relaybook.log.record import BodyState, Detail
from relaybook.log.retention import Cutoff, Cutoffs
from relaybook.log.store.port import Batch, Running

MESSAGES = [{"role": "user", "content": "Where is my refund?"}]
QUESTION = {"model": "gpt-4o-mini", "temperature": 0.5, "messages": MESSAGES}
ANSWER = {"id": "chatcmpl-1", "choices": [{"index": 0, "message": {"role": "assistant", "content": "It was sent."}}]}
EVENT = b'data: {"choices": [{"index": 0, "delta": {"content": "%s"}}]}\n\n'
STREAM = EVENT % b"It " + EVENT % b"was." + b"data: [DONE]\n\n"
GZIP = head_of(("Content-Encoding", "gzip"))


def detail_of(request: bytes | None, response: bytes | None, detail_: Detail | None = None, **fields: Any) -> Any:
    store = MemoryStore()
    store.commit(Batch(entries=[entry_of(record_of(1, **fields), request, response, detail_)]))
    reply = client_of(store).get(f"/api/requests/{record_of(1).id}")
    assert reply.status == 200
    return reply.json()


def test_the_detail_has_the_row_and_the_parsed_bodies() -> None:
    result = detail_of(json.dumps(QUESTION).encode(), json.dumps(ANSWER).encode())
    assert (result["id"], result["started_at"]) == (record_of(1).id, "2026-01-01T00:00:01.000000Z")
    assert result["parameters"] == {"model": "gpt-4o-mini", "temperature": 0.5}
    assert [text_of(message) for message in result["messages"]] == ["Where is my refund?"]
    assert text_of(result["response"]["outputs"][0]) == "It was sent."
    assert result["also"] == []


def test_a_result_has_the_name_of_its_call_which_can_be_in_a_stored_response() -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a":1}'}
    answer = {"id": "resp_1", "object": "response", "output": [call]}
    result = {"type": "function_call_output", "call_id": "c1", "output": '{"error":"no"}'}
    asked = {"input": [result], "previous_response_id": "resp_1"}
    store = MemoryStore()
    entries = [
        entry_of(record_of(1, kind="response", completion_id="resp_1"), b"{}", json.dumps(answer).encode()),
        entry_of(record_of(2, kind="response"), json.dumps(asked).encode(), b"{}"),
    ]
    store.commit(Batch(entries=entries))
    (message,) = client_of(store).get(f"/api/requests/{record_of(2).id}").json()["messages"]
    expected = {"kind": "tool_result", "id": "c1", "text": '{"error":"no"}', "failed": True}
    assert message["parts"] == [expected | {"name": "add", "arguments": '{"a":1}'}]


def test_messages_before_the_first_one_asked_for_are_left_out() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "add"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "8"},
    ]
    store = MemoryStore()
    store.commit(Batch(entries=[entry_of(record_of(1), json.dumps({"messages": messages}).encode(), b"{}")]))

    def results(first: int) -> list[dict[str, Any]]:
        found = client_of(store).get(f"/api/requests/{record_of(1).id}?first_message={first}").json()["messages"]
        assert len(found) == 3 - first
        return [part for message in found for part in message["parts"] if part["kind"] == "tool_result"]

    result = {"kind": "tool_result", "text": "8", "id": "c1", "name": "add"}
    assert results(0) == [result | {"call": [1, 0]}]
    assert results(1) == [result | {"call": [0, 0]}]
    assert results(2) == [result | {"arguments": "{}"}]
    assert results(3) == []
    refused = client_of(store).get(f"/api/requests/{record_of(1).id}?first_message=-1")
    assert (refused.status, refused.json()["error"]["param"]) == (400, "first_message")


def test_a_streamed_response_is_assembled() -> None:
    assert text_of(detail_of(b"{}", STREAM, stream=True)["response"]["outputs"][0]) == "It was."


def test_compressed_bodies_are_decoded() -> None:
    compressed = gzip.compress(json.dumps(ANSWER).encode())
    result = detail_of(b"{}", compressed, Detail(response_head=GZIP))
    assert text_of(result["response"]["outputs"][0]) == "It was sent."
    assert result["response_headers"] == [["Content-Encoding", "gzip"]]
    assert result["stored_response_bytes"] == len(compressed)


def test_the_timeline_is_in_milliseconds() -> None:
    result = detail_of(
        b"{}", b"{}", Detail(reason="connection reset", chunk_at_us=[412_000, 412_500], chunk_bytes=[10, 20])
    )
    assert result["timeline"] == [[412.0, 10], [412.5, 20]]
    assert result["reason"] == "connection reset"


def test_bodies_that_are_not_stored_are_null() -> None:
    result = detail_of(None, None, body_state="no_bodies")
    assert (result["parameters"], result["messages"], result["response"]) == (None, None, None)
    assert (result["stored_request_bytes"], result["stored_response_bytes"]) == (None, None)


def test_bodies_over_the_limit_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_view, "MAX_BODY_BYTES", 100)
    assert detail_of(json.dumps({"model": "m" * 100}).encode(), b"{}")["parameters"] is None


def test_a_compression_bomb_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_view, "MAX_BODY_BYTES", 100_000)
    result = detail_of(b"{}", gzip.compress(b" " * 1_000_000), Detail(response_head=GZIP))
    assert result["response"] is None


def test_bodies_of_other_kinds_are_not_parsed() -> None:
    assert detail_of(b'{"model": "x"}', b"{}", kind="other")["parameters"] is None


@pytest.mark.parametrize("body", [b"", b"\xff", b"[" * 100_000, b'{"a": NaN}', b'"\\ud800"', b'{"messages": 5}', b"\0"])
def test_hostile_bodies_are_handled(body: bytes) -> None:
    assert detail_of(body, body)["id"] == record_of(1).id
    assert detail_of(body, body, stream=True)["id"] == record_of(1).id


def running(request: bytes | None, response: bytes | None, detail_: Detail | None, **fields: Any) -> Any:
    store = MemoryStore()
    record = running_of(1, **fields)
    store.commit(Batch(running=[Running(record=record, detail=detail_, request=request, response=response)]))
    reply = client_of(store).get(f"/api/requests/{record.id}")
    assert reply.status == 200
    return reply.json()


def test_a_running_request_without_detail_has_its_row() -> None:
    result = running(None, None, None)
    assert (result["outcome"], result["ended_at"], result["request_headers"]) == ("open", None, None)
    assert (result["messages"], result["response"], result["timeline"]) == (None, None, [])
    assert (result["stored_request_bytes"], result["stored_response_bytes"]) == (None, None)


def test_the_detail_of_a_running_request_has_the_headers_and_bodies_so_far() -> None:
    detail_ = Detail(reason="OK", request_head=HEAD, response_head=HEAD, chunk_at_us=[5000], chunk_bytes=[9])
    response = EVENT % b"It " + EVENT % b"was"
    request = json.dumps(QUESTION).encode()
    result = running(request, response, detail_, stream=True)
    assert result["outcome"] == "open"
    assert result["request_headers"] == result["response_headers"] == [["content-type", "application/json"]]
    assert result["parameters"] == {"model": "gpt-4o-mini", "temperature": 0.5}
    assert [text_of(message) for message in result["messages"]] == ["Where is my refund?"]
    assert text_of(result["response"]["outputs"][0]) == "It was"
    assert (result["reason"], result["timeline"]) == ("OK", [[5.0, 9]])
    assert (result["stored_request_bytes"], result["stored_response_bytes"]) == (len(request), len(response))


@pytest.mark.parametrize("state", ["stored", "no_bodies"])
def test_headers_of_expired_content_are_null_and_missing_headers_are_an_empty_list(state: BodyState) -> None:
    store = MemoryStore()
    bodies = (b"{}", b"{}") if state == "stored" else (None, None)
    store.commit(Batch(entries=[entry_of(record_of(1, body_state=state), *bodies)]))
    target = f"/api/requests/{record_of(1).id}"
    assert client_of(store).get(target).json()["request_headers"] == [["content-type", "application/json"]]
    store.retain(Cutoffs(general=Cutoff(record_of(2).started_at, 0)), 2**63)
    result = client_of(store).get(target).json()
    assert (result["request_headers"], result["response_headers"]) == (None, None)
    assert result["body_state"] == {"stored": "expired", "no_bodies": "no_bodies"}[state]
    assert detail_of(*bodies, Detail(), body_state=state)["request_headers"] == []


def test_a_response_truncated_anywhere_has_its_complete_events() -> None:
    whole = [EVENT % b"It ", EVENT % b"was."]

    def check(cut: int) -> None:
        response = running(b"{}", STREAM[:cut], Detail(), stream=True)["response"]
        texts = [text_of(output) for output in response.get("outputs", [])]
        complete = [text for text, end in (("It ", len(whole[0])), ("was.", sum(map(len, whole)))) if cut >= end - 2]
        assert texts == (["".join(complete)] if complete else [])

    check_each(range(len(STREAM) + 1), check)


@pytest.mark.parametrize("cut", [0, 1, 40, 90])
def test_an_incomplete_request_body_is_handled(cut: int) -> None:
    result = running(json.dumps(QUESTION).encode()[:cut], b"", Detail(request_head=HEAD))
    assert (result["messages"], result["parameters"], result["response"]) == ([], {}, {})
    assert result["response_headers"] == []


def test_a_foreign_id_may_contain_slashes_and_other_records_with_it_are_listed() -> None:
    store = log_of(record_of(1, client_request_id="job/7 ü"), record_of(2, client_request_id="job/7 ü"))
    result = client_of(store).get("/api/requests/job%2F7%20%C3%BC").json()
    assert result["id"] == record_of(2).id
    assert result["also"] == [{"id": record_of(1).id, "started_at": "2026-01-01T00:00:01.000000Z"}]


@pytest.mark.parametrize("any_id", ["nobody", "..%2F..%2Fetc%2Fpasswd", "../../etc/passwd", "%00", "%FF", "a/b"])
def test_an_unknown_id_of_any_form_is_not_found(any_id: str) -> None:
    response = client_of(log_of(record_of(1))).get(f"/api/requests/{any_id}")
    assert (response.status, response.json()["error"]["code"]) == (404, "not_found")


def test_parameters_are_rejected() -> None:
    response = client_of(log_of(record_of(1))).get(f"/api/requests/{record_of(1).id}?pretty=1")
    assert (response.status, response.json()["error"]["param"]) == (400, "pretty")


def test_the_error_for_an_unknown_id_says_what_to_do() -> None:
    with pytest.raises(AskError, match="Service-Request-Id") as caught:
        view(log_of(record_of(1)), "nobody")
    assert caught.value.code == "not_found"
