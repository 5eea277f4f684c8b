"""A request is found by any id it carries."""

from typing import ClassVar

import pytest
from tests.support.api_log import log_of, open_of, record_of, running_of

from relaybook.api.errors import ApiError
from relaybook.api.lookup import MAX_ALSO, look_up
from relaybook.records import Detail
from relaybook.stores.base import Batch, Running, Stored
from relaybook.stores.memory import MemoryStore


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
