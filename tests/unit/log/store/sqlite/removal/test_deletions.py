"""When a deletion is done, no file of the store has a byte of the deleted requests."""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.support.canaries import Canaries
from tests.support.records import A_TIMESTAMP, an_entry
from tests.support.server import wait_until

from relaybook import clock
from relaybook.log.namespaces import LabelChange, NamespaceQuery
from relaybook.log.query.filters import Filter, Term
from relaybook.log.query.words import SearchText
from relaybook.log.record import Feedback
from relaybook.log.store.entry import Entry
from relaybook.log.store.port import Batch
from relaybook.log.store.sqlite.feedback import SqliteFeedbackLog
from relaybook.log.store.sqlite.index.text_index import SqliteTextIndex
from relaybook.log.store.sqlite.labels import SqliteLabels
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.removal.deletion_pass import DeletionPass
from relaybook.log.store.sqlite.removal.deletions import SqliteDeletions
from relaybook.log.store.sqlite.search import count
from relaybook.log.store.sqlite.writer import SqliteWriter

#: The sum of these costs, minus the first two, is not 0 in floating-point numbers.
COSTS = {"one": 0.1, "two": 0.2, "three": 0.0}


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[SqliteWriter]:
    opened = SqliteWriter(tmp_path)
    yield opened
    opened.close()


def fill(writer: SqliteWriter, directory: Path, *entries: Entry) -> None:
    """Record the entries among other entries, and index the texts of all entries."""
    others = [an_entry(b"kept prompt", b"kept answer", user="other") for _ in range(300)]
    index = SqliteTextIndex(directory)
    for start in range(0, 300, 100):
        batch = [*others[start : start + 100], *(entries if start == 100 else ())]
        writer.commit(Batch(entries=batch))
        said = (SearchText(entry.record.input_preview or "kept words and other words") for entry in batch)
        texts = [(entry.record.seq or 0, text) for entry, text in zip(batch, said, strict=True)]
        index.add(texts, batch[-1].record.seq or 0)
    index.close()


def delete(writer: SqliteWriter, directory: Path, filter_: Filter) -> None:
    deletion = SqliteDeletions(directory).request(filter_, 1, "127.0.0.1")
    reader = SqliteReader(directory)
    deadline = time.monotonic() + 20
    while next(each for each in reader.deletions(9) if each.id == deletion.id).state != "done":
        writer.delete(clock.monotonic_ns() + 20_000_000)
        writer.run_maintenance(clock.monotonic_ns() + 20_000_000)
        assert time.monotonic() < deadline, reader.deletions(9)
    reader.close()


def test_no_file_has_a_byte_of_a_deleted_request(writer: SqliteWriter, tmp_path: Path) -> None:
    canaries = Canaries(1)
    entry = canaries.entry(writer)
    early = Feedback(source="early", comment=canaries.values["early"], at=clock.wall_us())
    assert not SqliteFeedbackLog(tmp_path).add_feedback(canaries.values["id"], early)
    fill(writer, tmp_path, entry)
    assert canaries.found(tmp_path) == set(canaries.values)
    delete(writer, tmp_path, Filter((Term("namespace", (canaries.values["namespace"],)),)))
    assert canaries.found(tmp_path) == set()
    reader = SqliteReader(tmp_path)
    assert reader.count(Filter(), 2**62).requests == 300
    assert all(b"".join(reader.body(each.id, "request") or ()) == b"kept prompt" for each in _page(reader))
    reader.close()


def test_a_deletion_does_not_wait_for_the_text_of_removed_requests(writer: SqliteWriter, tmp_path: Path) -> None:
    fill(writer, tmp_path)
    writer.commit(Batch(entries=[an_entry(b"not indexed", namespace="gone")]))
    delete(writer, tmp_path, Filter((Term("namespace", ("gone",)),)))
    delete(writer, tmp_path, Filter((Term("words", ("kept words",)),)))
    reader = SqliteReader(tmp_path)
    assert reader.count(Filter(), 2**62).requests == 0
    reader.close()


def test_a_count_by_words_omits_requests_whose_text_is_still_indexed(
    writer: SqliteWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(count, "BLOCK", 16)  # so that most requests are counted in the index
    fill(writer, tmp_path)
    SqliteDeletions(tmp_path).request(Filter((Term("status", ("200",)),)), 1, "127.0.0.1")
    while not writer.delete(clock.monotonic_ns() + 1_000_000):
        pass
    reader = SqliteReader(tmp_path)
    left = len(_page(reader))
    assert left < 300
    assert reader.count(Filter((Term("words", ("kept words",)),)), 2**62).requests == left
    reader.close()


def _page(reader: SqliteReader) -> list[object]:
    return reader.page(Filter(), 500, None, 2**62).records  # type: ignore[return-value]


def test_a_users_label_is_removed_with_the_last_request(writer: SqliteWriter, tmp_path: Path) -> None:
    canaries = Canaries(2)
    fill(writer, tmp_path, canaries.entry(writer))
    SqliteLabels(tmp_path).change(LabelChange(namespace=canaries.values["namespace"], pinned=True))
    delete(writer, tmp_path, Filter((Term("user", (canaries.values["user"],)),)))
    assert canaries.found(tmp_path) == set()


def test_a_whole_day_and_a_namespace_of_a_thousand_are_gone(writer: SqliteWriter, tmp_path: Path) -> None:
    canaries = [Canaries(seed) for seed in range(3, 23)]
    fill(writer, tmp_path, *(each.entry(writer) for each in canaries))
    writer.commit(Batch(entries=[an_entry(user="other", started_at=A_TIMESTAMP) for _ in range(1000)]))
    delete(writer, tmp_path, Filter((Term("user", ("other",), negated=True),)))
    assert not any(each.found(tmp_path) for each in canaries)


def test_a_deletion_forgets_the_values_of_its_filter_before_it_erases(writer: SqliteWriter, tmp_path: Path) -> None:
    """A WAL that is written after the data is erased has no page with a value of the filter."""
    canaries = Canaries(40)
    fill(writer, tmp_path, canaries.entry(writer))
    SqliteDeletions(tmp_path).request(Filter((Term("user", (canaries.values["user"],)),)), 1, "127.0.0.1")
    reader = SqliteReader(tmp_path)
    wait_until(lambda: writer.delete(clock.monotonic_ns() + 5_000_000) < 0 or reader.deletions(1)[0].state == "erasing")
    assert reader.deletions(1)[0].filter_ == Filter((Term("user", ()),))
    reader.close()


def test_a_deletion_that_fails_is_tried_after_the_others(
    writer: SqliteWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer.commit(Batch(entries=[an_entry(user=user) for user in ("a", "b")]))
    for user in ("a", "b"):
        SqliteDeletions(tmp_path).request(Filter((Term("user", (user,)),)), 1, "127.0.0.1")
    remove = DeletionPass._remove

    def failing(self: DeletionPass, number: int, filter_: Filter, position: int, up_to: int) -> int | None:
        if filter_.terms[0].values == ("a",):
            raise ValueError("a bug")
        return remove(self, number, filter_, position, up_to)

    monkeypatch.setattr(DeletionPass, "_remove", failing)

    def removed() -> bool:
        with suppress(ValueError):
            writer.delete(clock.monotonic_ns() + 5_000_000)
        return sorted(each.state for each in reader.deletions(2)) == ["erasing", "removing"]

    reader = SqliteReader(tmp_path)
    wait_until(removed)
    reader.close()


def test_a_deletion_that_was_interrupted_anywhere_is_finished(tmp_path: Path) -> None:
    canaries = Canaries(30)
    writer = SqliteWriter(tmp_path)
    fill(writer, tmp_path, canaries.entry(writer))
    SqliteDeletions(tmp_path).request(Filter((Term("user", ("other",), negated=True),)), 1, "127.0.0.1")
    reader = SqliteReader(tmp_path)
    deadline = time.monotonic() + 30
    restarts = 0
    while reader.deletions(1)[0].state != "done":
        writer.close()
        writer = SqliteWriter(tmp_path)
        restarts += 1
        for _ in range(restarts):  # one step at first, then more, because some work must fit between two restarts
            writer.delete(clock.monotonic_ns() + 100_000)
            writer._deletions._looked_ns = 0
            writer.run_maintenance(clock.monotonic_ns() + 100_000)
        assert time.monotonic() < deadline, reader.deletions(1)
    assert restarts >= 3
    assert canaries.found(tmp_path) == set()
    reader.close()
    writer.close()


def test_the_cost_of_a_namespace_is_zero_when_only_free_requests_are_left(writer: SqliteWriter, tmp_path: Path) -> None:
    fill(writer, tmp_path, *(an_entry(namespace="a", user=user, cost_usd=cost) for user, cost in COSTS.items()))
    for user in ("one", "two"):
        delete(writer, tmp_path, Filter((Term("user", (user,)),)))
    rows, _ = SqliteReader(tmp_path).namespaces(NamespaceQuery(prefix="a"), 10, None, clock.monotonic_ns() + 10**10)
    assert [row.cost_usd for row in rows] == [0.0]
