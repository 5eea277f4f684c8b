"""All stores: after a reread, the log is the same as if today's reader had recorded every request."""

import time
from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

import pytest
from msgspec.structs import replace
from tests.conformance.stores.conftest import Store
from tests.conformance.stores.reading import EVERYTHING, FAR, a_request, derived, page
from tests.golden.exchanges import exchanges
from tests.support.long import LONG
from tests.support.no_passes import a_reread_pass
from tests.support.records import A_TIMESTAMP

from relaybook import clock, ids
from relaybook.log.aggregate.stats import Stats, StatsQuery
from relaybook.log.prices import Prices
from relaybook.log.query.filters import WORDS, Filter, Term
from relaybook.log.query.words import SearchText
from relaybook.log.record import AdviceCode, Feedback, NoteCode
from relaybook.log.rereads import Reread
from relaybook.log.retention import DAY_US, Cutoff, Cutoffs
from relaybook.log.store.clickhouse import rereads
from relaybook.log.store.entry import Entry
from relaybook.log.store.port import Reader
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.fold import JournalExchange

#: How often each of the 300 golden exchanges is in the log.
ROUNDS = 11 if LONG else 1
MINUTE_US = 60_000_000
CODES: dict[str, tuple[str, ...]] = {
    "note": get_args(NoteCode),
    "advice": get_args(AdviceCode),
    "warning": ("too_many_properties", "value_cut"),
}


def recorded(rounds: int = ROUNDS) -> Iterator[tuple[JournalExchange, JournalExchange]]:
    """Yield each golden exchange twice, with the same id, time and namespace."""
    for turn in range(rounds):
        for number, golden in enumerate(exchanges()):
            pair = golden.recorded(), golden.recorded()
            id_ = ids.new_id()
            for each in pair:
                each.id = id_
                each.opened.wall_ns = (A_TIMESTAMP + (turn * 1000 + number) * MINUTE_US) * 1000
                each.opened.namespace = f"team-{number % 5}"
                each.opened.properties = {"round": str(turn), **each.opened.properties}
            yield pair


def blank_and_read(rounds: int = ROUNDS) -> tuple[list[Entry], list[Entry]]:
    """Return the entries of exchanges by a reader that reads no bodies, and by today's reader."""
    blank, read = read_once(rounds)
    return copies(blank), copies(read)


def copies(entries: list[Entry]) -> list[Entry]:
    """Return entries that a store can number, without a change to the original ones."""
    return [replace(entry, record=replace(entry.record)) for entry in entries]


@cache
def read_once(rounds: int) -> tuple[list[Entry], list[Entry]]:
    builder = EntryBuilder(Prices(), lambda ref: b"")
    pairs = list(recorded(rounds))
    blank = [builder.entry(exchange, None) for exchange, _ in pairs]
    for entry in blank:
        entry.text = SearchText()
    return blank, [builder.entry(exchange, builder.bodies(exchange)) for _, exchange in pairs]


def reread(store: Store, filter_: Filter = EVERYTHING) -> Reread:
    """Request a reread, and carry it out."""
    asked = store.rereads.request_reread(filter_, store.reader.count(filter_, FAR).requests, "127.0.0.1")
    return finish(store, asked.id)


def finish(store: Store, reread_id: str) -> Reread:
    work = a_reread_pass(store.writer)
    deadline = time.monotonic() + 60
    while True:
        work.work(clock.monotonic_ns() + 20_000_000)
        found = next(each for each in store.reader.rereads(10) if each.id == reread_id)
        if found.state == "done":
            return found
        assert time.monotonic() < deadline, found


def contents(reader: Reader) -> dict[str, Any]:
    """Return every field, link, count and chart of the log, and which requests each of some words finds."""
    found = reader.page(EVERYTHING, 10_000, None, FAR).records
    records = [replace(record, cost_usd=rounded(record.cost_usd)) for record in found]
    spans = [
        (by, bucket) for by in (None, "namespace", "model", "outcome", "property.round") for bucket in (3600, 86_400)
    ]
    return {
        "records": records,
        "details": [reader.get(record.id) for record in records[::17]],
        "found": [
            [each.id for each in reader.find(name, 100)] for record in records[::7] for name in record.foreign_ids
        ],
        "words": {
            word: [each.id for each in reader.page(Filter((Term(WORDS, (word,)),)), 10_000, None, FAR).records]
            for word in ("hello", "weather", "paris", "error", "transistors", "the")
        },
        **{
            f"{name} {code}": [
                each.id for each in reader.page(Filter((Term(name, (code,)),)), 10_000, None, FAR).records
            ]
            for name, codes in CODES.items()
            for code in codes
        },
        **{
            f"stats {by} {bucket}": unpacked(
                reader.stats(
                    StatsQuery(
                        filter_=EVERYTHING, from_us=None, to_us=A_TIMESTAMP + 30 * DAY_US, bucket_s=bucket, by=by
                    ),
                    FAR,
                )
            )
            for by, bucket in spans
        },
        **derived(reader),
    }


def unpacked(stats: Stats) -> Stats:
    """Return statistics with decoded distributions. The bytes have the durations in the order of recording."""
    for group in (*stats.groups, *([stats.other] if stats.other is not None else [])):
        group.points = {at: point.unpacked() for at, point in group.points.items()}
    return stats


def rounded(cost: float | None) -> float | None:
    return None if cost is None else round(cost, 12)


def is_readable(entry: Entry) -> bool:
    return entry.record.body_state == "stored"


def test_a_log_recorded_without_reading_is_the_same_after_a_reread(store: Store, twin: Store) -> None:
    blank, read = blank_and_read()
    blank, read = list(filter(is_readable, blank)), list(filter(is_readable, read))
    for start in range(0, len(blank), 500):
        store.commit(*blank[start : start + 500])
        twin.commit(*read[start : start + 500])
    store.index(*blank)
    twin.index(*read)
    expected = contents(twin.reader)
    assert contents(store.reader) != expected
    done = reread(store)
    assert (done.requests, done.read) == (len(blank), len(blank))
    found = contents(store.reader)
    for name in expected:
        assert found[name] == expected[name], name
    assert reread(store).changed == 0


def test_a_second_reread_changes_nothing(store: Store) -> None:
    _, read = blank_and_read(1)
    store.commit(*read)
    store.index(*read)
    before = contents(store.reader)
    assert reread(store).changed == 0
    assert contents(store.reader) == before


def committed(store: Store, rounds: int = 1) -> tuple[list[Entry], list[Entry]]:
    """Record exchanges without reading them. Return their entries, and the entries by today's reader."""
    blank, read = blank_and_read(rounds)
    store.commit(*blank)
    store.index(*blank)
    return blank, read


def models(store: Store) -> dict[str, str | None]:
    return {record.id: record.model for record in page(store)}


def test_only_matching_requests_are_read_and_a_reread_is_remembered_without_values(store: Store) -> None:
    blank, read = committed(store)
    terms = (Term("namespace", ("team-1",)), Term("note", ("not_understood",)))
    done = reread(store, Filter(terms))
    assert done.filter_ == Filter((Term("namespace", ()), Term("note", ())))
    assert (done.requested_by, done.requests) == ("127.0.0.1", sum(e.record.namespace == "team-1" for e in blank))
    found = models(store)
    for entry in read:
        is_changed = entry.record.namespace == "team-1" and is_readable(entry)
        assert found[entry.record.id] == (entry.record.model if is_changed else None)


def test_requests_recorded_after_the_reread_was_requested_stay(store: Store) -> None:
    store.commit(a_request(1))
    asked = store.rereads.request_reread(EVERYTHING, 1, "127.0.0.1")
    blank, _ = committed(store)
    assert finish(store, asked.id).read == 1
    assert all(model is None for id_, model in models(store).items() if id_ in {entry.record.id for entry in blank})


def test_requests_without_content_keep_their_facts(store: Store) -> None:
    _, read = blank_and_read(1)
    for entry in read:
        entry.record.prompt_cache_key = "an earlier reader knew better"
    store.commit(*read)
    latest = max(entry.record.ended_at or 0 for entry in read)
    cutoffs = Cutoffs(general=Cutoff(content=latest + 1))
    while not store.writer.retain(cutoffs, clock.monotonic_ns() + 20_000_000).is_complete:
        pass
    before = {record.id: record for record in page(store)}
    done = reread(store)
    assert (done.read, done.changed) == (len(read), 0)
    assert {record.id: record for record in page(store)} == before


def test_feedback_stays(store: Store) -> None:
    blank, _ = committed(store)
    readable = next(entry for entry in blank if is_readable(entry)).record.id
    store.feedback.add_feedback(readable, Feedback(source="me", label="good", at=A_TIMESTAMP))
    reread(store)
    (record,) = [record for record in page(store) if record.id == readable]
    assert [(each.source, each.label) for each in record.feedback] == [("me", "good")]
    assert store.reader.feedback_totals(EVERYTHING, FAR).requests == 1


def test_a_property_that_is_no_longer_read_from_the_body_is_removed(store: Store) -> None:
    _, read = blank_and_read(1)
    (entry, *_) = [entry for entry in read if is_readable(entry)]
    assert entry.detail is not None
    assert entry.detail.exchange is not None
    entry.detail.exchange.properties = {"channel": "ios"}  # from a header
    entry.record.properties = {"channel": "ios", "misread": "from the body"}
    store.commit(entry)
    reread(store)
    (record,) = page(store)
    assert record.properties.get("channel") == "ios"
    assert "misread" not in record.properties
    assert "misread" not in [each.value for each in store.reader.values("property", "", 100, FAR)]


def test_a_reread_continues_after_a_restart(store: Store) -> None:
    _, read = committed(store, 2)
    asked = store.rereads.request_reread(EVERYTHING, len(read), "127.0.0.1")
    for _ in range(3):
        a_reread_pass(store.writer).work(clock.monotonic_ns() + 1)
        store.restart()
    assert finish(store, asked.id).read == len(read)
    expected = {entry.record.id: entry.record.model for entry in read if is_readable(entry)}
    assert {id_: model for id_, model in models(store).items() if id_ in expected} == expected


def test_a_request_that_cannot_be_parsed_stays_and_the_others_are_read(store: Store) -> None:
    blank, read = committed(store)
    stubborn = next(entry for entry in blank if is_readable(entry)).record.id
    work = a_reread_pass(store.writer)
    store.rereads.request_reread(EVERYTHING, len(read), "127.0.0.1")

    def read_again(entry: Entry) -> Entry | None:
        return None if entry.record.id == stubborn else work.read_again(entry)

    deadline = time.monotonic() + 60
    while store.reader.rereads(1)[0].state != "done":
        store.writer.reread(read_again, clock.monotonic_ns() + 20_000_000)
        assert time.monotonic() < deadline
    found = models(store)
    assert found[stubborn] is None
    assert sum(model is not None for model in found.values()) > 200


def test_a_request_that_memory_is_too_short_for_is_read_again_later(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, read = committed(store)
    asked = store.rereads.request_reread(EVERYTHING, len(read), "127.0.0.1")

    def no_memory(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(EntryBuilder, "bodies", no_memory)
        with pytest.raises(MemoryError):
            finish(store, asked.id)
    assert finish(store, asked.id).read == len(read)
    assert sum(model is not None for model in models(store).values()) > 200


def test_a_reread_that_ends_in_several_slices_reads_each_request_once(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rereads, "_SLICE_REQUESTS", 100)  # only ClickHouse has slices
    _, read = committed(store)
    assert reread(store).read == len(read)
    expected = {entry.record.id: entry.record.model for entry in read if is_readable(entry)}
    assert {id_: model for id_, model in models(store).items() if id_ in expected} == expected
