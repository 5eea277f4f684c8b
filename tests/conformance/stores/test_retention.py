"""All stores: requests are removed by age and namespace, together with all data derived from them."""

import random

import msgspec
from tests.conformance.stores.conftest import Store
from tests.conformance.stores.reading import EVERYTHING, FAR, MIDNIGHT, a_request, derived, page
from tests.support.records import A_TIMESTAMP, an_entry
from tests.support.server import wait_until

from relaybook import clock
from relaybook.log.aggregate.stats import StatsQuery
from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import Detail, Feedback
from relaybook.log.retention import DAY_US, Cutoff, Cutoffs
from relaybook.log.store.port import Retained


def retain(store: Store, cutoffs: Cutoffs) -> tuple[int, int]:
    """Run a complete retention pass, then maintenance. Returns the numbers of removed and expired requests."""
    removed = expired = 0
    done = Retained(is_complete=False)
    while not done.is_complete:
        done = store.writer.retain(cutoffs, clock.monotonic_ns() + 5_000_000)
        removed, expired = removed + done.removed, expired + done.expired
    while store.writer.run_maintenance(clock.monotonic_ns() + 50_000_000):
        pass
    return removed, expired


def test_requests_older_than_the_cutoff_are_removed(store: Store) -> None:
    store.commit(*(a_request(days) for days in (5, 4, 3, 2, 1, 0)))
    assert retain(store, Cutoffs(general=Cutoff(0, MIDNIGHT - 2 * DAY_US))) == (3, 0)
    assert [record.input_preview for record in page(store)] == [f"prompt of day {days}" for days in (0, 1, 2)]
    assert store.reader.count(EVERYTHING, FAR).requests == 3
    assert store.reader.status().records == 3
    assert store.reader.status().last_seq == 6
    assert retain(store, Cutoffs(general=Cutoff(0, MIDNIGHT - 2 * DAY_US))) == (0, 0)


def test_a_request_belongs_to_the_day_on_which_it_ended(store: Store) -> None:
    over_midnight = an_entry(started_at=MIDNIGHT - 1_000_000, ended_at=MIDNIGHT + 1)
    store.commit(over_midnight)
    assert retain(store, Cutoffs(general=Cutoff(MIDNIGHT, MIDNIGHT))) == (0, 0)
    assert retain(store, Cutoffs(general=Cutoff(MIDNIGHT + 2, 0))) == (0, 1)


def test_removed_headers_differ_from_a_request_without_headers(store: Store) -> None:
    without_headers = Detail()
    old, new = (a_request(days, body_state="no_bodies") for days in (9, 0))
    for each in (old, new):
        each.request, each.response, each.detail = None, None, without_headers
    imported = msgspec.structs.replace(a_request(0), detail=None, request=None, response=None)
    store.commit(old, new, imported)
    assert retain(store, Cutoffs(general=Cutoff(MIDNIGHT, 0))) == (0, 1)
    found = [store.reader.get(each.record.id) for each in (old, new, imported)]
    assert [each and each.detail for each in found] == [None, without_headers, None]
    assert found[0] is not None
    assert found[0].record.body_state == "no_bodies"


def test_expired_requests_keep_their_record_without_content(store: Store) -> None:
    old = a_request(9, error_message="Message of the provider", completion_id="chatcmpl-9")
    old.chain = b"chain"
    store.commit(old, new := a_request(0))
    store.index(old, new)
    assert retain(store, Cutoffs(general=Cutoff(MIDNIGHT, 0))) == (0, 1)
    stored = store.reader.get(old.record.id)
    assert stored is not None
    record = stored.record
    assert (record.body_state, record.input_preview, record.output_preview) == ("expired", None, None)
    assert (record.error_message, record.model, record.input_tokens) == (None, "gpt-4o-mini", 48)
    assert (stored.request_size, stored.response_size, stored.detail) == (None, None, None)
    assert [each.detail for each in store.reader.entries(0, 1, 1000)] == [None]
    assert [each.detail for each in store.reader.stored_since(0, EVERYTHING, 1)[0]] == [None]
    assert store.reader.body(old.record.id, "request") is None
    assert [link.chain for link in store.reader.links(EVERYTHING, 10, None, FAR)] == [None, None]
    assert [found.seq for found in store.reader.find("chatcmpl-9", 10)] == [1]
    found = store.reader.page(Filter((Term("words", ("prompt",)),)), 10, None, FAR)
    assert [each.seq for each in found.records] == [2]
    status = store.reader.status()
    assert status.oldest_at == record.started_at
    assert status.oldest_content_at == MIDNIGHT + 3_600_000_000
    assert retain(store, Cutoffs(general=Cutoff(MIDNIGHT, 0))) == (0, 0)


def test_the_oldest_content_is_found_among_requests_that_were_imported_later(store: Store) -> None:
    def wait_for_oldest(days: int) -> None:
        at = MIDNIGHT - days * DAY_US + 3_600_000_000
        # a busy ClickHouse returns totals that are some seconds old
        wait_until(lambda: store.reader.status().oldest_content_at == at, what=f"content of day {days} as the oldest")

    store.commit(*(a_request(0) for _ in range(1100)))
    store.commit(a_request(9), a_request(5))
    wait_for_oldest(9)
    retain(store, Cutoffs(general=Cutoff(MIDNIGHT - 8 * DAY_US, 0)))
    wait_for_oldest(5)
    retain(store, Cutoffs(general=Cutoff(MIDNIGHT, 0)))
    store.commit(a_request(0))
    wait_for_oldest(0)


def test_a_request_without_bodies_keeps_saying_so_when_its_headers_expire(store: Store) -> None:
    store.commit(an_entry(None, None, body_state="no_bodies"))
    assert retain(store, Cutoffs(general=Cutoff(A_TIMESTAMP + DAY_US, 0))) == (0, 1)
    assert page(store)[0].body_state == "no_bodies"


def test_a_pattern_can_shorten_and_lengthen_retention(store: Store) -> None:
    store.commit(*(a_request(days, namespace=name) for days in (6, 4, 2) for name in ("dev-a", "production", "audit")))
    cutoffs = Cutoffs(
        general=Cutoff(MIDNIGHT - DAY_US, MIDNIGHT - 5 * DAY_US),
        by_pattern={"dev-*": Cutoff(0, MIDNIGHT - 3 * DAY_US), "audit": Cutoff()},
    )
    assert retain(store, cutoffs) == (3, 2)
    kept = {
        (record.namespace, record.body_state, (MIDNIGHT - record.started_at) // DAY_US + 1) for record in page(store)
    }
    assert kept == {
        ("audit", "stored", 6),
        ("audit", "stored", 4),
        ("audit", "stored", 2),
        ("production", "expired", 4),
        ("production", "expired", 2),
        ("dev-a", "stored", 2),
    }


def test_aggregates_of_removed_requests_remain_until_their_own_time(store: Store) -> None:
    store.commit(*(a_request(days, cost_usd=0.25) for days in (3, 2, 1)))
    question = StatsQuery(
        filter_=EVERYTHING, from_us=MIDNIGHT - 9 * DAY_US, to_us=MIDNIGHT, bucket_s=86_400, by="model"
    )
    before = store.reader.stats(question, FAR)
    retain(store, Cutoffs(general=Cutoff(0, MIDNIGHT)))
    assert page(store) == []
    assert store.reader.stats(question, FAR).groups == before.groups
    retain(store, Cutoffs(general=Cutoff(0, MIDNIGHT), aggregates=MIDNIGHT - DAY_US))
    (group,) = store.reader.stats(question, FAR).groups
    assert group.total.requests == 1
    whole_log = StatsQuery(filter_=EVERYTHING, from_us=None, to_us=MIDNIGHT, bucket_s=86_400, by=None)
    assert store.reader.stats(whole_log, FAR).total.requests == 1


def test_a_removed_request_that_is_recorded_again_is_in_the_log_with_its_feedback(store: Store) -> None:
    entry = a_request(3, namespace="n")
    store.commit(entry, a_request(3, namespace="n"))
    cutoffs = Cutoffs(general=Cutoff(0, MIDNIGHT))
    retain(store, cutoffs)
    again = a_request(-1, namespace="n", id=entry.record.id, feedback=[Feedback(source="users", at=1, score=0.5)])
    store.commit(again)
    retain(store, cutoffs)
    (record,) = page(store)
    assert (record.id, [each.score for each in record.feedback]) == (entry.record.id, [0.5])
    assert store.reader.get(entry.record.id) is not None


def test_charts_count_removed_requests_by_the_fields_whose_aggregates_are_kept(store: Store) -> None:
    store.commit(a_request(3, model="m", namespace="n", failed=True, status=429, properties={"channel": "ios"}))
    retain(store, Cutoffs(general=Cutoff(0, MIDNIGHT)))

    def count(by: str | None, *terms: Term) -> int:
        question = StatsQuery(filter_=Filter(terms), from_us=MIDNIGHT - 9 * DAY_US, to_us=MIDNIGHT, by=by)
        return store.reader.stats(question, FAR).total.requests

    kept = [Term("namespace", ("n",)), Term("model", ("m",)), Term("property.channel", ("ios",))]
    assert [count(by) for by in (None, "namespace", "model", "outcome", "property.channel")] == [1] * 5
    assert [count(None, term) for term in kept] == [1] * 3
    not_kept = [Term("failed", ("true",)), Term("status", ("429",)), Term("kind", ("chat",))]
    assert [count(None, term) for term in not_kept] == [0] * 3
    assert count("model", Term("namespace", ("n",))) == count(None, *kept[:2]) == count("label") == 0
    assert count(None, Term("model", ("other",), negated=True)) == 0


def test_charts_end_where_aggregates_do_although_the_requests_are_kept(store: Store) -> None:
    store.commit(*(a_request(days, model="m", namespace="n") for days in (3, 2, 1)))
    retain(store, Cutoffs(aggregates=MIDNIGHT - DAY_US))
    assert len(page(store)) == 3
    by_model = StatsQuery(filter_=EVERYTHING, from_us=MIDNIGHT - 9 * DAY_US, to_us=MIDNIGHT, by="model")
    assert store.reader.stats(by_model, FAR).total.requests == 1
    both = msgspec.structs.replace(by_model, filter_=Filter((Term("namespace", ("n",)),)))
    assert store.reader.stats(both, FAR).total.requests == 3


def test_everything_derived_from_the_log_equals_a_fresh_log_of_what_is_left(store: Store, twin: Store) -> None:
    chosen = random.Random(7)
    entries = [
        a_request(
            chosen.randrange(6),
            namespace=chosen.choice(["production", "dev-a", "dev-b", f"user-{chosen.randrange(300):08d}"]),
            model=chosen.choice(["gpt-4o", "gpt-4o-mini", None]),
            status=chosen.choice([200, 200, 429]),
            failed=chosen.random() < 0.2,
            user=chosen.choice([None, "user-1"]),
            properties=chosen.choice([{}, {"channel": "ios"}, {"channel": "web", "build": "7"}]),
            completion_id=f"chatcmpl-{number}",
            cost_usd=chosen.choice([None, 0.125]),
        )
        for number in range(1500)
    ]
    for start in range(0, len(entries), 100):
        store.commit(*entries[start : start + 100])
    cutoffs = Cutoffs(general=Cutoff(0, MIDNIGHT - 2 * DAY_US), by_pattern={"dev-*": Cutoff(0, MIDNIGHT)})
    removed, _ = retain(store, cutoffs)
    left = [each for each in entries if cutoffs.fate(each.record.namespace, each.record.ended_at) == "kept"]
    assert len(left) == len(entries) - removed
    for start in range(0, len(left), 100):
        twin.commit(*left[start : start + 100])
    assert derived(store.reader) == derived(twin.reader)
    gone = next(each for each in entries if each not in left)
    assert store.reader.get(gone.record.id) is None
    assert store.reader.find(gone.record.completion_id, 1) == []
