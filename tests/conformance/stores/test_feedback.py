"""All stores: feedback reaches its request by any id, even if the feedback arrives first."""

import random
from typing import Any

import pytest
from tests.conformance.stores.conftest import Store
from tests.support.records import a_record, an_entry, soon

from relaybook import clock
from relaybook.log.feedback import MAX_PENDING, MAX_SOURCES, PENDING_US, TooMuchFeedback
from relaybook.log.query.filters import Filter, Term
from relaybook.log.record import Feedback
from relaybook.log.store.port import Running, ValueCount

NOW = clock.wall_us()


def given(source: str = "api", at: int = NOW, **fields: Any) -> Feedback:
    return Feedback(source=source, at=at, **(fields or {"score": 1.0}))


def feedback_of(store: Store, record_id: str) -> list[Feedback]:
    found = store.reader.get(record_id)
    assert found is not None
    (on_page,) = store.reader.page(Filter((Term("id", (record_id,)),)), 9, None, soon()).records
    assert on_page.feedback == found.record.feedback
    return found.record.feedback


def ids_of(store: Store, *terms: Term) -> list[str]:
    return [record.id for record in store.reader.page(Filter(terms), 99, None, soon()).records]


def test_a_request_has_the_latest_feedback_of_each_source(store: Store) -> None:
    entry = an_entry()
    store.commit(entry)
    assert feedback_of(store, entry.record.id) == []
    assert store.feedback.add_feedback(entry.record.id, given("users", score=0.1, comment="slow"))
    assert store.feedback.add_feedback(entry.record.id, given("judge", score=-3.5, label="rude"))
    assert store.feedback.add_feedback(entry.record.id, given("users", label="good", at=NOW + 1))
    store.restart()
    assert feedback_of(store, entry.record.id) == [
        given("judge", score=-3.5, label="rude"),
        given("users", label="good", at=NOW + 1),
    ]


@pytest.mark.parametrize("name", ["id", "provider_request_id", "completion_id", "client_request_id"])
@pytest.mark.parametrize("is_early", [True, False])
def test_any_id_leads_to_the_request_before_and_after_it_is_recorded(store: Store, name: str, is_early: bool) -> None:
    entry = an_entry(provider_request_id="req_1", completion_id="chatcmpl-1", client_request_id="client-1")
    any_id = getattr(entry.record, name)
    if is_early:
        assert not store.feedback.add_feedback(any_id, given())
        store.restart()
        store.commit(an_entry())
    store.commit(an_entry(), entry, an_entry())
    if not is_early:
        assert store.feedback.add_feedback(any_id, given())
    assert feedback_of(store, entry.record.id) == [given()]
    assert ids_of(store, Term("feedback", ("any",))) == [entry.record.id]


def test_a_relaybook_id_in_upper_case_is_found_before_and_after_its_request_is_recorded(store: Store) -> None:
    entry = an_entry()
    assert not store.feedback.add_feedback(entry.record.id.upper(), given("early"))
    store.commit(entry)
    assert store.feedback.add_feedback(entry.record.id.upper(), given("late"))
    assert feedback_of(store, entry.record.id) == [given("early"), given("late")]


def test_a_foreign_id_in_the_form_of_a_relaybook_id_keeps_its_case(store: Store) -> None:
    client_id = an_entry().record.id.upper()
    assert not store.feedback.add_feedback(client_id, given("early"))
    entry = an_entry(client_request_id=client_id)
    store.commit(entry)
    assert store.feedback.add_feedback(client_id, given("late"))
    assert feedback_of(store, entry.record.id) == [given("early"), given("late")]


def test_feedback_by_a_foreign_id_belongs_to_the_newest_request_that_has_it(store: Store) -> None:
    retried = [an_entry(client_request_id="client-1") for _ in range(2)]
    assert not store.feedback.add_feedback("client-1", given("early"))
    store.commit(*retried)
    assert store.feedback.add_feedback("client-1", given("late"))
    later = an_entry(client_request_id="client-1")
    store.commit(later)
    assert store.feedback.add_feedback("client-1", given("last"))
    assert [feedback_of(store, entry.record.id) for entry in (*retried, later)] == [
        [],
        [given("early"), given("late")],
        [given("last")],
    ]


def test_the_latest_pending_feedback_of_a_source_counts_whatever_id_it_names(store: Store) -> None:
    entry = an_entry(completion_id="chatcmpl-1", client_request_id="client-1")
    store.feedback.add_feedback("client-1", given(at=NOW + 2, score=2.0))
    store.feedback.add_feedback("client-1", given(at=NOW + 3, score=3.0))
    store.feedback.add_feedback("chatcmpl-1", given(at=NOW + 1, score=1.0))
    store.commit(entry)
    assert feedback_of(store, entry.record.id) == [given(at=NOW + 3, score=3.0)]


def test_pending_feedback_joins_only_one_request(store: Store) -> None:
    store.feedback.add_feedback("client-1", given())
    first, second = an_entry(client_request_id="client-1"), an_entry(client_request_id="client-1")
    store.commit(first)
    store.commit(second)
    assert feedback_of(store, first.record.id) == [given()]
    assert feedback_of(store, second.record.id) == []


def test_pending_feedback_expires_after_an_hour_unless_the_request_is_running(store: Store) -> None:
    now = clock.wall_us()
    late, running = an_entry(), an_entry()
    store.commit(running=[Running(record=a_record(id=running.record.id, outcome="open"))])
    for entry in (late, running):
        store.feedback.add_feedback(entry.record.id, given(at=now - PENDING_US - 1_000_000))
    store.feedback.add_feedback("client-1", given(at=now - PENDING_US + 60_000_000))
    in_time = an_entry(client_request_id="client-1")
    store.commit(late, running, in_time)
    assert feedback_of(store, late.record.id) == []
    assert len(feedback_of(store, running.record.id)) == len(feedback_of(store, in_time.record.id)) == 1


def test_feedback_that_a_record_brings_is_stored_and_combined_with_pending_feedback(store: Store) -> None:
    entry = an_entry(feedback=[given("b", at=1), given("a", at=1), given("c", at=1)])
    store.feedback.add_feedback(entry.record.id, given("b", label="new"))
    store.commit(entry)
    expected = [given("a", at=1), given("b", label="new"), given("c", at=1)]
    assert feedback_of(store, entry.record.id) == expected
    store.commit(an_entry(id=entry.record.id))
    assert feedback_of(store, entry.record.id) == expected
    assert [each.record.feedback for each in store.reader.entries(0, 9, 1000)] == [expected]


@pytest.mark.parametrize("score", [0.1, 1 / 3, -1e300, 5e-324, 1.7976931348623157e308, 12345678901234567.0])
def test_texts_and_numbers_come_back_exactly(store: Store, score: float) -> None:
    entry = an_entry()
    store.commit(entry)
    feedback = given('it\'s "quoted"; --', score=score, label="ünï 🙂\n\x01", comment='{"json": [1]}')
    store.feedback.add_feedback(entry.record.id, feedback)
    assert feedback_of(store, entry.record.id) == [feedback]


def test_filters_find_a_request_once_if_one_of_its_sources_matches(store: Store) -> None:
    entries = [an_entry() for _ in range(4)]
    store.commit(*entries)
    a, b, _, d = (entry.record.id for entry in entries)
    for source in ("users", "judge"):
        store.feedback.add_feedback(a, given(source, score=1.0, label="good"))
    store.feedback.add_feedback(b, given("users", score=1.0, label="good"))
    store.feedback.add_feedback(b, given("judge", score=-0.5))
    store.feedback.add_feedback(d, given("users", comment="fine"))
    for terms, expected in [
        ((Term("score", (">0.0",)),), [b, a]),
        ((Term("score", ("<0.0",)),), [b]),
        ((Term("score", (">0.0",)), Term("score", ("<0.0",))), [b]),
        ((Term("score", ("=-0.5", "=7.0")),), [b]),
        ((Term("label", ("good",)),), [b, a]),
        ((Term("label", (), prefixes=("go",)),), [b, a]),
        ((Term("label", ("good",), negated=True), Term("feedback", ("any",))), [d]),
        ((Term("feedback", ("any",)),), [d, b, a]),
        ((Term("feedback", ("any",), negated=True),), ids_of(store, Term("feedback", ("none",)))),
        ((Term("feedback", ("any", "none")),), [entry.record.id for entry in entries[::-1]]),
    ]:
        assert ids_of(store, *terms) == expected
        assert store.reader.count(Filter(terms), soon()).requests == len(expected)
        records, _ = store.reader.since(0, Filter(terms), 99)
        assert [record.id for record in records] == expected[::-1]


def test_labels_are_counted_once_per_request_and_no_longer_when_they_are_replaced(store: Store) -> None:
    entries = [an_entry() for _ in range(3)]
    store.commit(*entries)
    rng = random.Random(7)
    for _ in range(60):
        entry = rng.choice(entries)
        label = rng.choice(("good", "bad", None))
        store.feedback.add_feedback(entry.record.id, given(rng.choice("abc"), comment="…", label=label))
        counts: dict[str, int] = {}
        for record in store.reader.page(Filter(), 9, None, soon()).records:
            for label in {given.label for given in record.feedback} - {None}:
                counts[str(label)] = counts.get(str(label), 0) + 1
        expected = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        listed = store.reader.values("label", "", 9, soon())
        assert listed == [ValueCount(value=label, requests=requests) for label, requests in expected]


def test_sources_of_a_request_and_pending_feedback_are_limited(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = an_entry(feedback=[given(f"source {number}") for number in range(MAX_SOURCES)])
    store.commit(entry)
    with pytest.raises(TooMuchFeedback, match="feedback from 100 other sources"):
        store.feedback.add_feedback(entry.record.id, given("another"))
    assert store.feedback.add_feedback(entry.record.id, given("source 7", score=7.0))
    assert MAX_PENDING > 3
    stores = "relaybook.log.store"
    for module in ("tests.support.memory_store.store", f"{stores}.sqlite.feedback", f"{stores}.clickhouse.feedback"):
        monkeypatch.setattr(f"{module}.MAX_PENDING", 3)
    for number in range(3):
        assert not store.feedback.add_feedback(f"client-{number}", given())
    with pytest.raises(TooMuchFeedback, match="pending"):
        store.feedback.add_feedback("client-3", given())
    assert not store.feedback.add_feedback("client-2", given(score=2.0))
