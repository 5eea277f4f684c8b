"""The detail view: everything known of one request, whatever its bodies hold."""

import gzip
import json
from typing import Any, ClassVar

import pytest
from tests.support.api_log import HEAD, client_of, entry_of, head_of, log_of, open_of, record_of, running_of

from relaybook.api import detail
from relaybook.api.detail import MAX_ALSO, look_up
from relaybook.api.errors import ApiError
from relaybook.log.record import Detail
from relaybook.log.store.memory import MemoryStore
from relaybook.log.store.port import Batch, Running, Stored

MESSAGES = [{"role": "user", "content": "Where is my refund?"}]
QUESTION = {"model": "gpt-4o-mini", "temperature": 0.5, "messages": MESSAGES}
ANSWER = {"id": "chatcmpl-1", "choices": [{"index": 0, "message": {"role": "assistant", "content": "It was sent."}}]}
PIECE = b'data: {"choices": [{"index": 0, "delta": {"content": "%s"}}]}\n\n'
STREAM = PIECE % b"It " + PIECE % b"was." + b"data: [DONE]\n\n"
GZIP = head_of(("Content-Encoding", "gzip"))


def asked(request: bytes | None, response: bytes | None, details: Detail | None = None, **fields: Any) -> Any:
    store = MemoryStore()
    store.commit(Batch(entries=[entry_of(record_of(1, **fields), request, response, details)]))
    answer = client_of(store).get(f"/api/requests/{record_of(1).id}")
    assert answer.status == 200
    return answer.json()


def test_the_detail_is_the_row_and_what_the_bodies_say() -> None:
    found = asked(json.dumps(QUESTION).encode(), json.dumps(ANSWER).encode())
    assert (found["id"], found["started_at"]) == (record_of(1).id, "2026-01-01T00:00:01.000000Z")
    assert found["parameters"] == {"model": "gpt-4o-mini", "temperature": 0.5}
    assert [message["text"] for message in found["messages"]] == ["Where is my refund?"]
    assert found["answer"]["choices"][0]["text"] == "It was sent."
    assert found["also"] == []


def test_a_streamed_answer_is_put_together() -> None:
    assert asked(b"{}", STREAM, stream=True)["answer"]["choices"][0]["text"] == "It was."


def test_compressed_bodies_are_read() -> None:
    packed = gzip.compress(json.dumps(ANSWER).encode())
    found = asked(b"{}", packed, Detail(response_head=GZIP))
    assert found["answer"]["choices"][0]["text"] == "It was sent."
    assert found["response_headers"] == [["Content-Encoding", "gzip"]]
    assert found["stored_response_bytes"] == len(packed)


def test_the_timeline_is_in_milliseconds() -> None:
    found = asked(b"{}", b"{}", Detail(reason="connection reset", chunk_at_us=[412_000, 412_500], chunk_bytes=[10, 20]))
    assert found["timeline"] == [[412.0, 10], [412.5, 20]]
    assert found["reason"] == "connection reset"


def test_bodies_that_are_not_stored_are_null() -> None:
    found = asked(None, None, body_state="no_bodies")
    assert (found["parameters"], found["messages"], found["answer"]) == (None, None, None)
    assert (found["stored_request_bytes"], found["stored_response_bytes"]) == (None, None)


def test_bodies_over_the_limit_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detail, "MAX_PARSED_BYTES", 100)
    assert asked(json.dumps({"model": "m" * 100}).encode(), b"{}")["parameters"] is None


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detail, "MAX_PARSED_BYTES", 100_000)
    found = asked(b"{}", gzip.compress(b" " * 1_000_000), Detail(response_head=GZIP))
    assert found["answer"] is None


def test_bodies_of_paths_that_are_not_understood_are_not_parsed() -> None:
    assert asked(b'{"model": "x"}', b"{}", kind="other")["parameters"] is None


@pytest.mark.parametrize("body", [b"", b"\xff", b"[" * 100_000, b'{"a": NaN}', b'"\\ud800"', b'{"messages": 5}', b"\0"])
def test_hostile_bodies_do_no_harm(body: bytes) -> None:
    assert asked(body, body)["id"] == record_of(1).id
    assert asked(body, body, stream=True)["id"] == record_of(1).id


def running(request: bytes | None, response: bytes | None, details: Detail | None, **fields: Any) -> Any:
    store = MemoryStore()
    record = running_of(1, **fields)
    store.commit(Batch(running=[Running(record=record, detail=details, request=request, response=response)]))
    answer = client_of(store).get(f"/api/requests/{record.id}")
    assert answer.status == 200
    return answer.json()


def test_a_running_request_of_which_only_the_record_is_told_has_its_row() -> None:
    found = running(None, None, None)
    assert (found["outcome"], found["ended_at"], found["request_headers"]) == ("open", None, None)
    assert (found["messages"], found["answer"], found["timeline"]) == (None, None, [])
    assert (found["stored_request_bytes"], found["stored_response_bytes"]) == (None, None)


def test_a_running_request_is_shown_as_a_finished_one_with_what_there_is_so_far() -> None:
    details = Detail(reason="OK", request_head=HEAD, response_head=HEAD, chunk_at_us=[5000], chunk_bytes=[9])
    so_far = PIECE % b"It " + PIECE % b"was"
    asked = json.dumps(QUESTION).encode()
    found = running(asked, so_far, details, stream=True)
    assert found["outcome"] == "open"
    assert found["request_headers"] == found["response_headers"] == [["content-type", "application/json"]]
    assert found["parameters"] == {"model": "gpt-4o-mini", "temperature": 0.5}
    assert [message["text"] for message in found["messages"]] == ["Where is my refund?"]
    assert found["answer"]["choices"][0]["text"] == "It was"
    assert (found["reason"], found["timeline"]) == ("OK", [[5.0, 9]])
    assert (found["stored_request_bytes"], found["stored_response_bytes"]) == (len(asked), len(so_far))


@pytest.mark.parametrize("cut", range(len(STREAM) + 1))
def test_an_answer_that_is_cut_anywhere_has_the_pieces_that_are_complete(cut: int) -> None:
    texts = [choice["text"] for choice in running(b"{}", STREAM[:cut], Detail(), stream=True)["answer"]["choices"]]
    whole = [PIECE % b"It ", PIECE % b"was."]
    complete = [text for text, end in (("It ", len(whole[0])), ("was.", sum(map(len, whole)))) if cut >= end - 2]
    assert texts == (["".join(complete)] if complete else [])


@pytest.mark.parametrize("cut", [0, 1, 40, 90])
def test_a_request_that_is_still_being_sent_does_no_harm(cut: int) -> None:
    found = running(json.dumps(QUESTION).encode()[:cut], b"", Detail(request_head=HEAD))
    assert (found["messages"], found["parameters"], found["answer"]) == ([], {}, {"choices": []})
    assert found["response_headers"] == []


def test_a_foreign_id_may_hold_slashes_and_others_that_carry_it_are_told() -> None:
    store = log_of(record_of(1, client_request_id="job/7 ü"), record_of(2, client_request_id="job/7 ü"))
    found = client_of(store).get("/api/requests/job%2F7%20%C3%BC").json()
    assert found["id"] == record_of(2).id
    assert found["also"] == [{"id": record_of(1).id, "started_at": "2026-01-01T00:00:01.000000Z"}]


@pytest.mark.parametrize("any_id", ["nobody", "..%2F..%2Fetc%2Fpasswd", "../../etc/passwd", "%00", "%FF", "a/b"])
def test_an_unknown_id_is_not_found_whatever_it_looks_like(any_id: str) -> None:
    answer = client_of(log_of(record_of(1))).get(f"/api/requests/{any_id}")
    assert (answer.status, answer.json()["error"]["code"]) == (404, "not_found")


def test_parameters_are_refused() -> None:
    answer = client_of(log_of(record_of(1))).get(f"/api/requests/{record_of(1).id}?pretty=1")
    assert (answer.status, answer.json()["error"]["param"]) == (400, "pretty")


def test_several_content_encoding_headers_make_one_list() -> None:
    assert detail.content_encoding([("Content-Encoding", "gzip"), ("content-encoding", "br")]) == "gzip, br"
    assert detail.content_encoding([]) is None


def test_ours_comes_first_and_who_else_carries_it_is_told() -> None:
    ours = record_of(1)
    store = log_of(ours, record_of(2, client_request_id=ours.id), record_of(3, client_request_id=ours.id))
    found = look_up(store, ours.id)
    assert found.stored.record.id == ours.id
    assert [record.id for record in found.also] == [record_of(3).id, record_of(2).id]


def test_ours_is_found_in_capitals() -> None:
    assert look_up(log_of(record_of(1)), record_of(1).id.upper()).stored.record.id == record_of(1).id


@pytest.mark.parametrize("field", ["provider_request_id", "completion_id", "client_request_id"])
def test_otherwise_the_newest_that_carries_it(field: str) -> None:
    store = log_of(*(record_of(number, **{field: "chatcmpl-1/2"}) for number in range(1, 41)))
    found = look_up(store, "chatcmpl-1/2")
    assert found.stored.record.id == record_of(40).id
    assert [record.id for record in found.also] == [record_of(number).id for number in range(39, 39 - MAX_ALSO, -1)]


def test_running_requests_are_found_by_ours_and_by_the_clients_id() -> None:
    store = MemoryStore()
    store.commit(Batch(running=[open_of(1, client_request_id="c-1")]))
    for any_id in (running_of(1).id, "c-1"):
        found = look_up(store, any_id)
        assert (found.stored.record.id, found.stored.record.outcome) == (running_of(1).id, "open")
        assert (found.stored.request_size, found.so_far) == (None, open_of(1, client_request_id="c-1"))


def test_a_running_request_comes_with_what_there_is_so_far() -> None:
    store = MemoryStore()
    detail = Detail(reason="OK")
    store.commit(Batch(running=[Running(record=running_of(1), detail=detail, request=b"asked", response=b"")]))
    found = look_up(store, running_of(1).id)
    assert (found.stored.detail, found.stored.request_size, found.stored.response_size) == (detail, 5, 0)
    assert found.so_far is not None
    assert (found.so_far.request, found.so_far.response) == (b"asked", b"")


def test_a_finished_request_comes_before_a_running_one_that_carries_the_same_id() -> None:
    store = log_of(record_of(1, client_request_id="again"))
    store.commit(Batch(running=[open_of(2, client_request_id="again")]))
    assert look_up(store, "again").stored.record.id == record_of(1).id


def test_a_request_that_ends_between_two_looks_is_found() -> None:
    class Ending(MemoryStore):
        looks = 0

        def get(self, record_id: str) -> Stored | None:
            self.looks += 1
            return super().get(record_id) if self.looks > 1 else None

    store = Ending()
    store.commit(Batch(entries=log_of(record_of(1))._entries))
    assert look_up(store, record_of(1).id).stored.record.id == record_of(1).id


def test_an_id_of_others_is_not_looked_for_among_ours() -> None:
    class Asked(MemoryStore):
        ids: ClassVar[list[str]] = []

        def get(self, record_id: str) -> Stored | None:
            self.ids.append(record_id)
            return super().get(record_id)

    store = Asked()
    store.commit(Batch(entries=log_of(record_of(1, completion_id="chatcmpl-1"))._entries))
    look_up(store, "chatcmpl-1")
    assert store.ids == [record_of(1).id]


def test_an_unknown_id_is_refused_with_what_to_do() -> None:
    with pytest.raises(ApiError, match="Service-Request-Id") as refused:
        look_up(log_of(record_of(1)), "nobody")
    assert refused.value.code == "not_found"
