"""Test that a request is found by any of its ids, and that all bodies are decoded by the same rule."""

import gzip
import os
from typing import ClassVar

import pytest
from tests.support.api_log import entry_of, log_of, open_of, record_of, running_of
from tests.support.memory_store import MemoryStore

from relaybook.log.record import Detail, Record
from relaybook.log.request_view import MAX_BODY_BYTES, RequestView, decode_body, find_request
from relaybook.log.store.port import Batch, Running, StoredRecord


def found(store: MemoryStore, any_id: str) -> tuple[RequestView, list[Record]]:
    result = find_request(store, any_id, 20)
    assert result is not None
    return result


def encoding(head: str) -> str | None:
    entry = entry_of(record_of(1), b"", b"", Detail(response_head=head.encode()))
    return RequestView.of_entry(entry).content_encoding("response")


def test_several_content_encoding_headers_are_joined() -> None:
    assert encoding("Content-Encoding: gzip\r\ncontent-encoding: br") == "gzip, br"
    assert encoding("") is None


def test_a_relaybook_id_takes_precedence_and_other_records_with_it_are_listed() -> None:
    ours = record_of(1)
    store = log_of(ours, record_of(2, client_request_id=ours.id), record_of(3, client_request_id=ours.id))
    view, also = found(store, ours.id)
    assert view.record.id == ours.id
    assert [record.id for record in also] == [record_of(3).id, record_of(2).id]


def test_a_relaybook_id_is_case_insensitive() -> None:
    assert found(log_of(record_of(1)), record_of(1).id.upper())[0].record.id == record_of(1).id


@pytest.mark.parametrize("field", ["provider_request_id", "completion_id", "client_request_id"])
def test_a_foreign_id_finds_the_newest_record_that_has_it(field: str) -> None:
    store = log_of(*(record_of(number, **{field: "chatcmpl-1/2"}) for number in range(1, 41)))
    view, also = found(store, "chatcmpl-1/2")
    assert view.record.id == record_of(40).id
    assert [record.id for record in also] == [record_of(number).id for number in range(39, 39 - 20, -1)]


def test_running_requests_are_found_by_relaybooks_and_the_clients_id() -> None:
    store = MemoryStore()
    store.commit(Batch(running=[open_of(1, client_request_id="c-1")]))
    for any_id in (running_of(1).id, "c-1"):
        view, _ = found(store, any_id)
        assert (view.record.id, view.record.outcome) == (running_of(1).id, "open")
        assert (view.size("request"), view.is_running, view.has_headers) == (None, True, False)


def test_a_running_request_is_found_with_its_bodies_so_far() -> None:
    store = MemoryStore()
    detail = Detail(reason="OK")
    store.commit(Batch(running=[Running(record=running_of(1), detail=detail, request=b"asked", response=b"")]))
    view, _ = found(store, running_of(1).id)
    assert (view.detail, view.size("request"), view.size("response")) == (detail, 5, 0)
    assert (view.body("request"), view.body("response")) == (b"asked", b"")


def test_a_finished_request_takes_precedence_over_a_running_one_with_the_same_id() -> None:
    store = log_of(record_of(1, client_request_id="again"))
    store.commit(Batch(running=[open_of(2, client_request_id="again")]))
    assert found(store, "again")[0].record.id == record_of(1).id


def test_a_request_that_ends_between_two_queries_is_found() -> None:
    class Ending(MemoryStore):
        queries = 0

        def get(self, record_id: str) -> StoredRecord | None:
            self.queries += 1
            return super().get(record_id) if self.queries > 1 else None

    store = Ending()
    store.commit(Batch(entries=log_of(record_of(1))._entries))
    assert found(store, record_of(1).id)[0].record.id == record_of(1).id


def test_a_foreign_id_is_not_looked_up_as_a_relaybook_id() -> None:
    class Recording(MemoryStore):
        ids: ClassVar[list[str]] = []

        def get(self, record_id: str) -> StoredRecord | None:
            self.ids.append(record_id)
            return super().get(record_id)

    store = Recording()
    store.commit(Batch(entries=log_of(record_of(1, completion_id="chatcmpl-1"))._entries))
    found(store, "chatcmpl-1")
    assert store.ids == [record_of(1).id]


@pytest.mark.parametrize(("size", "state"), [(MAX_BODY_BYTES, "plain"), (MAX_BODY_BYTES + 1, "too_large")])
def test_a_body_over_64_mib_is_not_read(size: int, state: str) -> None:
    assert decode_body(bytes(size), None).state == state


@pytest.mark.parametrize(("size", "state"), [(MAX_BODY_BYTES, "decoded"), (MAX_BODY_BYTES + 1, "too_large")])
def test_a_body_that_decodes_to_over_64_mib_is_not_read(size: int, state: str) -> None:
    body = (os.urandom(1 << 16) + bytes(3 << 16)) * (size >> 18) + b"x" * (size & 0x3FFFF)
    compressed = gzip.compress(body, 1, mtime=0)
    assert size / 100 < len(compressed) < size, "the limits of ratio and of compressed size must not apply"
    assert decode_body(compressed, "gzip").state == state


@pytest.mark.parametrize(
    ("body", "encoding", "expected"),
    [
        (b'{"a":1}', None, b'{"a":1}'),
        (gzip.compress(b'{"a":1}', mtime=0), "gzip", b'{"a":1}'),
        (gzip.compress(b'{"a":1}', mtime=0), None, b'{"a":1}'),
        (b'{"a":1}', "gzip", b'{"a":1}'),
        (b"not zip", "gzip", None),
        (b"anything", "rot13", None),
    ],
)
def test_the_view_returns_bodies_that_can_be_decoded(body: bytes, encoding: str | None, expected: bytes | None) -> None:
    head = b"" if encoding is None else b"Content-Encoding: " + encoding.encode()
    view = RequestView.of_entry(entry_of(record_of(1), body, b"", Detail(request_head=head)))
    assert view.body("request") == expected


def test_a_truncated_body_is_decoded_as_far_as_possible() -> None:
    whole = gzip.compress(os.urandom(100_000))
    decoded = decode_body(whole[:-1000], "gzip")
    assert decoded.state == "cut"
    assert 0 < len(decoded.data) < 100_000
