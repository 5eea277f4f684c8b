"""All stores: readers no longer see deleted requests, and counts are as if those requests had never existed."""

import json
import random
import time
from typing import Any

import pytest
from tests.conformance.stores.conftest import Store
from tests.conformance.stores.reading import EVERYTHING, FAR, MIDNIGHT, a_request, derived, page
from tests.support.long import LONG
from tests.support.records import an_entry

from relaybook import clock
from relaybook.log.aggregate.stats import StatsQuery
from relaybook.log.deletions import Deletion, filter_digest
from relaybook.log.namespaces import NamespaceQuery
from relaybook.log.query.filters import Filter, Term, matches
from relaybook.log.record import Feedback
from relaybook.log.retention import DAY_US, Cutoff, Cutoffs
from relaybook.log.store.clickhouse import deletions as deletion_pass

WEB = Filter((Term("property.channel", ("web",)),))
NO_FEEDBACK = Term("feedback", ("none",))
DELETIONS = 200 if LONG else 20


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the writer of ClickHouse continue a deletion in each call. By default, it pauses for up to half a second."""
    monkeypatch.setattr(deletion_pass, "_LOOK_EVERY_NS", 0)
    monkeypatch.setattr(deletion_pass, "_CONTINUE_EVERY_NS", 0)


def delete(store: Store, filter_: Filter) -> Deletion:
    """Delete the matching requests, and wait until the deletion is done."""
    asked = store.deletions.request(filter_, store.reader.count(filter_, FAR).requests, "127.0.0.1")
    return finish(store, asked.id)


def finish(store: Store, deletion_id: str) -> Deletion:
    deadline = time.monotonic() + 20
    while True:
        store.writer.delete(clock.monotonic_ns() + 20_000_000)
        store.writer.run_maintenance(clock.monotonic_ns() + 20_000_000)
        found = next(each for each in store.reader.deletions(10) if each.id == deletion_id)
        if found.state == "done":
            return found
        assert time.monotonic() < deadline, found


def test_matching_requests_are_deleted(store: Store) -> None:
    store.commit(a_request(1, properties={"channel": "web"}), a_request(0), a_request(0, properties={"channel": "web"}))
    deletion = delete(store, WEB)
    assert (deletion.requests, deletion.removed, deletion.requested_by) == (2, 2, "127.0.0.1")
    assert deletion.done_at is not None
    assert [record.seq for record in page(store)] == [2]
    assert store.reader.count(WEB, FAR).requests == 0
    assert store.reader.values("property", "", 10, FAR) == []


def test_a_deletion_is_remembered_without_the_values_of_its_filter(store: Store) -> None:
    store.commit(a_request(1))
    terms = (Term("from", ("5",)), Term("namespace", ("production",)), Term("property.user", ("ada",), negated=True))
    deletion = delete(store, Filter(terms))
    assert deletion.filter_ == Filter((Term("from", ("5",)), Term("namespace", ()), Term("property", (), negated=True)))


def test_requests_recorded_after_the_deletion_was_requested_stay(store: Store) -> None:
    store.commit(a_request(1))
    asked = store.deletions.request(EVERYTHING, 1, "127.0.0.1")
    store.commit(a_request(0))
    finish(store, asked.id)
    assert [record.seq for record in page(store)] == [2]


def test_deletions_are_carried_out_one_after_another(store: Store) -> None:
    store.commit(*(a_request(days, model=f"model-{days}") for days in (2, 1, 0)))
    asked = [store.deletions.request(Filter((Term("model", (f"model-{days}",)),)), 1, "cli") for days in (2, 0)]
    for each in asked:
        assert finish(store, each.id).removed == 1
    assert [record.model for record in page(store)] == ["model-1"]
    assert [each.id for each in store.reader.deletions(10)] == [asked[1].id, asked[0].id]
    assert len(store.reader.deletions(1)) == 1


def test_a_namespace_without_requests_disappears_with_its_label(store: Store) -> None:
    store.commit(a_request(0, namespace="pinned"), a_request(0, namespace="other"))
    delete(store, Filter((Term("namespace", ("pinned",)),)))
    rows, _ = store.reader.namespaces(NamespaceQuery(), 10, None, FAR)
    assert [row.namespace for row in rows] == ["other"]


def test_an_export_omits_requests_that_are_deleted_before_it_reads_them(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.commit(a_request(2), a_request(1, properties={"channel": "web"}), a_request(0))
    found, _ = store.reader.stored_since(0, Filter(), 500)
    read = [next(found).record.seq]
    delete(store, WEB)
    monotonic_ns = clock.monotonic_ns
    monkeypatch.setattr(clock, "monotonic_ns", lambda: monotonic_ns() + 2 * clock.NANOSECONDS)
    assert read + [stored.record.seq for stored in found] == [1, 3]


def test_requests_after_a_deletion_are_counted_under_their_names(store: Store, twin: Store) -> None:
    store.commit(a_request(1, properties={"channel": "web"}), a_request(0))
    delete(store, Filter((Term("from", ("0",)),)))
    for days in (1, 0):
        fresh = a_request(days, properties={"channel": "web"})
        for each in (store, twin):
            each.commit(fresh)
            each.restart()
    assert aggregates(store) == aggregates(twin)


def test_charts_of_requests_that_were_removed_by_age_keep_their_property_after_a_deletion(store: Store) -> None:
    store.commit(a_request(9, properties={"channel": "ios"}), a_request(0, properties={"channel": "web"}))
    cutoffs = Cutoffs(general=Cutoff(0, MIDNIGHT - DAY_US))
    while not store.writer.retain(cutoffs, FAR).is_complete:
        pass
    delete(store, WEB)
    question = StatsQuery(filter_=EVERYTHING, from_us=MIDNIGHT - 9 * DAY_US, to_us=MIDNIGHT, by="property.channel")
    found = store.reader.stats(question, FAR)
    assert [(group.value, group.total.requests) for group in found.groups] == [("ios", 1)]


def test_deleted_values_of_a_property_do_not_count_towards_its_maximum(store: Store) -> None:
    """With more than 64 values, a property would lose the kept aggregates of removed requests."""
    store.commit(*(a_request(9, properties={"user": f"kept {number}"}) for number in range(50)))
    store.commit(*(a_request(0, properties={"user": f"deleted {number}"}) for number in range(10)))
    cutoffs = Cutoffs(general=Cutoff(0, MIDNIGHT - DAY_US))
    while not store.writer.retain(cutoffs, FAR).is_complete:
        pass
    delete(store, Filter((Term("property.user", (), prefixes=("deleted",)),)))
    store.commit(*(a_request(0, properties={"user": f"new {number}"}) for number in range(10)))
    term = Term("property.user", ("kept 7",))
    question = StatsQuery(filter_=Filter((term,)), from_us=MIDNIGHT - 9 * DAY_US, to_us=MIDNIGHT)
    assert store.reader.stats(question, FAR).total.requests == 1


def test_a_deletion_can_select_requests_by_words(store: Store) -> None:
    entries = [a_request(2), a_request(1)]
    store.commit(*entries)
    store.index(*entries)
    filter_ = Filter((Term("words", ("day 1",)),))
    deletion = delete(store, filter_)
    assert deletion.removed == 1
    assert [record.seq for record in page(store)] == [1]
    assert deletion.removed_at is not None
    assert deletion.requested_at <= deletion.removed_at <= (deletion.done_at or 0)
    assert deletion.filter_digest == filter_digest(deletion.id, filter_)


@pytest.mark.parametrize("term", [Term("words", ("alpha beta",)), Term("contains", ("alpha\nbeta",))])
def test_a_deletion_by_words_matches_no_phrase_across_two_texts(store: Store, term: Term) -> None:
    prompt, answer = ({"messages": [{"content": "beta"}]}, {"choices": [{"message": {"content": "alpha"}}]})
    entry = an_entry(json.dumps(prompt).encode(), json.dumps(answer).encode())
    store.commit(entry)
    store.index(entry)
    assert delete(store, Filter((term,))).removed == 0
    assert [record.id for record in page(store)] == [entry.record.id]


def test_after_random_deletions_everything_equals_a_fresh_log(store: Store, twin: Store) -> None:
    chosen = random.Random(11)
    entries = [
        a_request(
            chosen.randrange(4),
            namespace=chosen.choice(["production", "dev", f"user-{chosen.randrange(200):08d}"]),
            model=chosen.choice(["gpt-4o", "gpt-4o-mini", None]),
            status=chosen.choice([200, 200, 429]),
            failed=chosen.random() < 0.2,
            user=f"user-{chosen.randrange(3 * DELETIONS)}",
            properties=chosen.choice([{}, {"channel": "ios"}, {"channel": "web", "build": f"{chosen.randrange(999)}"}]),
            cost_usd=chosen.choice([None, 0.125]),
            feedback=[
                Feedback(source=source, score=chosen.choice([None, 1.0, -1.0]), label=chosen.choice("gb"), at=1)
                for source in "xy"[: chosen.randrange(3)]
            ],
        )
        for _ in range(1500)
    ]
    for start in range(0, len(entries), 100):
        store.commit(*entries[start : start + 100])
    left = entries
    for entry in chosen.sample(entries, DELETIONS):
        build = entry.record.properties.get("build", "")
        terms = Term("id", (entry.record.id,)), Term("user", (entry.record.user,)), Term("property.build", (build,))
        filter_ = Filter((chosen.choice(terms),))
        removed = delete(store, filter_).removed
        remaining = [each for each in left if not matches(filter_, each.record)]
        assert removed == len(left) - len(remaining)
        left = remaining
    for start in range(0, len(left), 100):
        twin.commit(*left[start : start + 100])
    assert derived(store.reader) == derived(twin.reader)
    assert aggregates(store) == aggregates(twin)
    assert store.reader.values("label", "", 9, FAR) == twin.reader.values("label", "", 9, FAR)
    assert store.reader.status().feedback == twin.reader.status().feedback
    for term in (Term("score", ("<0.0",)), Term("label", ("g",)), Term("feedback", ("any",)), NO_FEEDBACK):
        assert store.reader.count(Filter((term,)), FAR) == twin.reader.count(Filter((term,)), FAR)


def test_feedback_is_deleted_with_its_request(store: Store) -> None:
    entries = [a_request(0), a_request(0)]
    store.commit(*entries)
    for entry in entries:
        for source in ("users", "judge"):
            assert store.feedback.add_feedback(entry.record.id, Feedback(source=source, label=source, at=1))
    delete(store, Filter((Term("id", (entries[0].record.id,)),)))
    assert store.reader.count(Filter((Term("label", ("users",)),)), FAR).requests == 1
    assert [count.requests for count in store.reader.values("label", "", 9, FAR)] == [1, 1]
    assert not store.feedback.add_feedback(
        entries[0].record.id, Feedback(source="late", label="late", at=clock.wall_us())
    )
    store.restart()
    delete(store, Filter((Term("feedback", ("any",)),)))
    assert store.reader.status().feedback == 0
    assert store.reader.values("label", "", 9, FAR) == []


def aggregates(store: Store) -> dict[str, Any]:
    found = {}
    for by in (None, "model", "namespace", "outcome", "property.channel", "property.build"):
        question = StatsQuery(
            filter_=EVERYTHING, from_us=MIDNIGHT - 9 * DAY_US, to_us=MIDNIGHT + DAY_US, bucket_s=3600, by=by
        )
        stats = store.reader.stats(question, FAR)
        found[by or "total"] = [(group.value, group.points, group.total) for group in stats.groups]
    return found
