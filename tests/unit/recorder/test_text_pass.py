"""The pass over the log: in order, once, as far as there is time; what fails now is tried again later."""

import json
from collections.abc import Iterator

import pytest
from tests.support.records import a_batch, an_entry, soon

from relaybook import clock
from relaybook.filters import WORDS, Filter, Term
from relaybook.recorder.text_pass import TextPass
from relaybook.stores import said
from relaybook.stores.base import Entry
from relaybook.stores.errors import StoreDamaged, StoreFull
from relaybook.stores.memory import MemoryStore


class Failing(MemoryStore):
    """A store whose index raises what it is given."""

    failure: Exception | None = None

    def add(self, *args: object) -> None:
        if self.failure is not None:
            raise self.failure
        super().add(*args)  # type: ignore[arg-type]


def filled(store: MemoryStore, number: int) -> None:
    asked = json.dumps({"messages": [{"role": "user", "content": "where is my refund"}]}).encode()
    store.commit(a_batch(*(an_entry(asked, b"{}") for _ in range(number))))


def found(store: MemoryStore) -> int:
    return store.count(Filter((Term(WORDS, ("refund",)),)), soon()).requests


def test_all_of_a_log_becomes_findable_and_then_nothing_is_left_to_do() -> None:
    store = MemoryStore()
    filled(store, 450)
    text = TextPass(store, store)
    assert text.work(soon())
    assert found(store) == store.indexed_to() == 450
    assert not text.work(soon())
    filled(store, 1)
    assert text.work(soon())
    assert found(store) == 451


def test_without_time_nothing_is_done() -> None:
    store = MemoryStore()
    filled(store, 1)
    assert not TextPass(store, store).work(clock.monotonic_ns() - 1)
    assert store.indexed_to() == 0


@pytest.mark.parametrize("failure", [StoreFull("full"), StoreDamaged("damaged")])
def test_an_index_that_fails_is_left_alone_for_a_while(failure: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Failing()
    store.failure = failure
    filled(store, 5)
    text = TextPass(store, store)
    assert not text.work(soon())
    store.failure = None
    assert not text.work(soon())
    later = clock.monotonic_ns() + 31 * clock.NANOSECONDS
    monkeypatch.setattr(clock, "monotonic_ns", lambda: later)
    assert text.work(later + clock.NANOSECONDS)
    assert found(store) == 5


def test_a_request_whose_words_cannot_be_read_keeps_no_other_back(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    filled(store, 3)

    texts = said._texts

    def failing(entry: Entry) -> Iterator[str]:
        if entry.record.seq == 2:
            raise RuntimeError("a defect")
        return texts(entry)

    monkeypatch.setattr(said, "_texts", failing)
    assert TextPass(store, store).work(soon())
    assert found(store) == 2
    assert store.indexed_to() == 3


def test_no_defect_of_the_index_comes_out() -> None:
    store = Failing()
    store.failure = RuntimeError("a defect")
    filled(store, 1)
    assert not TextPass(store, store).work(soon())
