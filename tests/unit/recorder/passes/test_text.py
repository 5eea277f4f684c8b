"""Test that the log is indexed in order, once, and within the time limit. Failures are retried later."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from tests.support.memory_store import MemoryStore
from tests.support.records import a_batch, an_entry, soon

from relaybook import clock
from relaybook.log import search_text
from relaybook.log.query.filters import WORDS, Filter, Term
from relaybook.log.query.words import SearchText
from relaybook.log.record import Record
from relaybook.log.store.entry import Body, Entry
from relaybook.log.store.errors import StoreDamaged, StoreFull
from relaybook.recorder.passes import text as text_pass
from relaybook.recorder.passes.text import TextPass


class Failing(MemoryStore):
    """A store with an index that raises ``failure``."""

    failure: Exception | None = None

    def add(self, *args: object) -> None:
        if self.failure is not None:
            raise self.failure
        super().add(*args)  # type: ignore[arg-type]


class Counting(MemoryStore):
    """A store that counts in ``read_back`` how many of its entries were read."""

    read_back = 0

    def entries(self, after: int, limit: int, most_bytes: int) -> list[Entry]:
        found = super().entries(after, limit, most_bytes)
        self.read_back += len(found)
        return found


def filled(store: MemoryStore, number: int, request: Body | None = None) -> list[Entry]:
    """Commit entries, which have their texts unless their request was moved to the store."""
    request = request or Body(
        rest=[json.dumps({"messages": [{"role": "user", "content": "where is my refund"}]}).encode()]
    )
    entries = [an_entry(request, b"{}", kind="chat") for _ in range(number)]
    for entry in entries:
        entry.text = None if request.refs else SearchText(new="where is my refund")
    store.commit(a_batch(*entries))
    return entries


def found(store: MemoryStore) -> int:
    return store.count(Filter((Term(WORDS, ("refund",)),)), soon()).requests


def test_the_whole_log_is_indexed_and_then_nothing_is_left() -> None:
    store = MemoryStore()
    filled(store, 450)
    text = TextPass(store, store)
    assert text.work(soon())
    assert found(store) == store.indexed_to() == 450
    assert not text.work(soon())
    filled(store, 1)
    assert text.work(soon())
    assert found(store) == 451


def test_without_time_nothing_is_indexed() -> None:
    store = MemoryStore()
    filled(store, 1)
    assert not TextPass(store, store).work(clock.monotonic_ns() - 1)
    assert store.indexed_to() == 0


@pytest.mark.parametrize("failure", [StoreFull("full"), StoreDamaged("damaged")])
def test_a_failed_index_is_retried_only_after_a_pause(failure: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_request_whose_text_cannot_be_read_does_not_block_others(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    filled(store, 3)

    texts = search_text._response_texts

    def failing(record: Record, response: Any) -> Iterable[str]:
        if record.seq == 2:
            raise RuntimeError("a defect")
        return texts(record, response)

    monkeypatch.setattr(search_text, "_response_texts", failing)
    assert TextPass(store, store).work(soon())
    assert found(store) == 2
    assert store.indexed_to() == 3


def test_unexpected_errors_of_the_index_are_not_raised() -> None:
    store = Failing()
    store.failure = RuntimeError("a defect")
    filled(store, 1)
    assert not TextPass(store, store).work(soon())


def test_recently_committed_entries_are_not_read_from_the_store() -> None:
    store = Counting()
    text = TextPass(store, store)
    filled(store, 3)  # the TextPass is not told about these entries
    text.committed(filled(store, 450))
    text.committed(filled(store, 2))
    assert text.work(soon())
    assert found(store) == store.indexed_to() == 455
    assert store.read_back < 250
    text.committed(filled(store, 7))
    before = store.read_back
    assert text.work(soon())
    assert (found(store), store.read_back) == (462, before)


def test_entries_that_are_not_in_memory_are_read_from_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_pass, "_MAX_FRESH", 5 * len("where is my refund"))
    store = Counting()
    text = TextPass(store, store)
    aside = Body([store.write_body(b'{"messages": [{"role": "user", "content": "refund"}]}')])
    text.committed([*filled(store, 2), *filled(store, 1, aside), *filled(store, 9)])
    assert text.work(soon())
    assert found(store) == store.indexed_to() == 12
    assert store.read_back == 10


def test_a_repeated_entry_does_not_move_the_position_back() -> None:
    store = Counting()
    text = TextPass(store, store)
    entries = filled(store, 3)
    text.committed([*entries, entries[0], *filled(store, 2)])
    assert text.work(soon())
    assert (found(store), store.indexed_to(), store.read_back) == (5, 5, 0)


def test_only_texts_in_memory_are_indexed_without_the_store() -> None:
    store = Counting()
    text = TextPass(store, store)
    text.committed(filled(store, 700))
    assert text.work(soon(), only_in_memory=True)
    assert (found(store), store.read_back) == (700, 0)
    filled(store, 1)  # the TextPass is not told about this entry
    text.committed(filled(store, 1))
    assert not text.work(soon(), only_in_memory=True)
    assert text.work(soon())
    assert found(store) == 702
