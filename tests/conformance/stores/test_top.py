"""All stores: the requests with the highest and the lowest values of a number."""

import random
from typing import Any

import pytest
from tests.conformance.stores.conftest import Store
from tests.support.memory_store import MemoryStore
from tests.support.records import an_entry, soon

from relaybook import clock
from relaybook.log.numbers import number_of
from relaybook.log.query.filters import SORT_FIELDS, Filter, Sort, Term, matches
from relaybook.log.record import Record
from relaybook.log.store.entry import Entry
from relaybook.log.store.port import Page
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.schema import BLOCK
from relaybook.log.store.sqlite.search import top as sqlite_top

EVERYTHING = Filter()
#: SQLite sorts few matching requests in another way than many.
FEW = (0, sqlite_top._FEW)
FILTERS = (
    EVERYTHING,
    Filter((Term("namespace", ("staging",)),)),
    Filter((Term("namespace", ("rare", "production")), Term("failed", ("true",)))),
    Filter((Term("model", ("gpt-5", "gpt-4o")), Term("status", ("4xx",)))),
    Filter((Term("model", ("gpt-5",), negated=True),)),
    Filter((Term("from", ("20000000",)), Term("to", ("50000000",)))),
    Filter((Term("from", ("30000000",)), Term("property.channel", ("ios",)))),
    Filter((Term("input_tokens", (">5",)), Term("duration", ("<400.0",)))),
    Filter((Term("namespace", ("nobody",)),)),
)


def random_entry(rng: random.Random, number: int) -> Entry:
    """Return a random entry. Fields have few different values, so many values are equal. Some values are unknown."""

    def sometimes(value: Any) -> Any:
        return value if rng.random() < 0.8 else None

    status = rng.choice((200, 200, 200, 429, 500))
    return an_entry(
        started_at=number * 10_000 + rng.randrange(5_000_000),
        namespace=rng.choices(("production", "staging", "rare"), (60, 39, 1))[0],
        model=rng.choice(("gpt-5", "gpt-4o", None)),
        status=status,
        failed=status >= 400,
        properties={"channel": "ios"} if rng.random() < 0.3 else {},
        cost_usd=sometimes(rng.choice((0.0, 0.001, rng.random()))),
        duration_ms=sometimes(rng.lognormvariate(6, 1)),
        first_token_ms=sometimes(float(rng.randrange(50))) if number < 2 * BLOCK else None,
        input_tokens=sometimes(rng.randrange(20)),
        output_tokens=sometimes(min(2**62, int(rng.paretovariate(0.3)))),
        cached_tokens=sometimes(rng.randrange(22)),
        reasoning_tokens=sometimes(rng.randrange(5)),
        relay_ms=sometimes(rng.random()),
        request_bytes=rng.randrange(3000),
        response_bytes=rng.randrange(100) * 1000,
        chunks=rng.randrange(9),
    )


def in_order(matched: list[Record], sort: Sort) -> list[str]:
    """Return the ids of the records that have the number, in this order. Equal values are sorted newest first."""
    number, sign = number_of(sort.field), 1 if sort.is_ascending else -1
    scored = [(sign * value, record.id) for record in matched[::-1] if (value := number(record)) is not None]
    return [record_id for _, record_id in sorted(scored, key=lambda each: each[0])]


def ids(page: Page) -> list[str]:
    assert page.complete
    assert (page.next_cursor, page.newer_cursor) == (None, None)
    return [record.id for record in page.records]


def test_top_returns_the_same_as_sorting_the_whole_log(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    # The memory store has no blocks, and sorts its whole log for each page.
    count = 1_000 if isinstance(store.reader, MemoryStore) else 5 * BLOCK + 100
    entries = [random_entry(rng, number) for number in range(count)]
    ends = sorted(rng.sample(range(1, len(entries)), 8))
    for start, end in zip([0, *ends], [*ends, len(entries)], strict=True):
        store.commit(*entries[start:end])
    records = [entry.record for entry in entries]
    for expected in FILTERS:
        matched = [record for record in records if matches(expected, record)]
        for sort in (Sort(field, is_ascending) for field in SORT_FIELDS for is_ascending in (False, True)):
            sorted_ids = in_order(matched, sort)
            for few in FEW if isinstance(store.reader, SqliteReader) else FEW[:1]:
                monkeypatch.setattr(sqlite_top, "_FEW", few)
                for limit in (7, 200):
                    found = ids(store.reader.top(expected, sort, limit, soon()))
                    assert found == sorted_ids[:limit], (expected, sort, limit, few)


def test_equal_values_are_listed_newest_first(store: Store) -> None:
    store.commit(*(an_entry(cost_usd=0.5) for _ in range(5)))
    page = store.reader.top(EVERYTHING, Sort("cost_usd"), 3, soon())
    assert [record.seq for record in page.records] == [5, 4, 3]


def test_requests_without_a_value_are_omitted(store: Store) -> None:
    store.commit(an_entry(first_token_ms=None), an_entry(first_token_ms=0.0), an_entry(first_token_ms=12.5))
    page = store.reader.top(EVERYTHING, Sort("first_token_ms"), 200, soon())
    assert [record.first_token_ms for record in page.records] == [12.5, 0.0]


def test_an_empty_log_has_no_highest_values(store: Store) -> None:
    assert ids(store.reader.top(EVERYTHING, Sort("cost_usd"), 200, soon())) == []


def test_records_of_a_later_batch_are_ranked_with_earlier_ones(store: Store) -> None:
    store.commit(an_entry(cost_usd=None), an_entry(cost_usd=1.0))
    store.commit(an_entry(cost_usd=3.0), an_entry(cost_usd=None))
    store.commit(an_entry(cost_usd=2.0))
    page = store.reader.top(EVERYTHING, Sort("cost_usd"), 200, soon())
    assert [record.cost_usd for record in page.records] == [3.0, 2.0, 1.0]


def test_at_its_deadline_the_search_is_incomplete_and_returns_what_it_found(store: Store) -> None:
    store.commit(*(an_entry(cost_usd=float(number)) for number in range(10)))
    page = store.reader.top(EVERYTHING, Sort("cost_usd"), 5, clock.monotonic_ns() - 1)
    found = [record.cost_usd for record in page.records]
    assert page.complete == (found == [9.0, 8.0, 7.0, 6.0, 5.0])
    assert found == sorted(found, reverse=True)  # type: ignore[type-var]  # no value is None
