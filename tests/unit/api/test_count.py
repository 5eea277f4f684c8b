"""A filter's requests are counted within a moment."""

import pytest
from tests.support.api_log import client_of, log_of, open_of, record_of

from relaybook import clock
from relaybook.api import count
from relaybook.api.count import budget_ns
from relaybook.log.query.filters import Filter, Term
from relaybook.log.store.memory import MemoryStore
from relaybook.log.store.port import Batch, Count


def test_what_the_filter_selects_is_counted_without_the_running_ones() -> None:
    store = log_of(record_of(1, model="m", failed=True), record_of(2, model="n"), record_of(3, model="m"))
    store.commit(Batch(running=[open_of(4, model="m")]))
    answer = client_of(store).get("/api/count?model=m")
    assert answer.status == 200
    assert answer.json() == {
        "requests": 2,
        "failed": 1,
        "last_at": "2026-01-01T00:00:03.000000Z",
        "complete": True,
    }


def test_nothing_is_none_and_has_no_moment() -> None:
    nothing = {"requests": 0, "failed": 0, "last_at": None, "complete": True}
    assert client_of().get("/api/count").json() == nothing
    assert client_of(log_of(record_of(1))).get("/api/count?namespace=nobody").json() == nothing


def test_a_count_that_is_not_complete_says_so() -> None:
    class Slow(MemoryStore):
        def count(self, wanted: Filter, deadline_ns: int) -> Count:
            assert wanted == Filter((Term("kind", ("chat",)), Term("failed", ("true",), True)))
            return Count(requests=7, failed=2, last_at=None, complete=False)

    answer = client_of(Slow()).get("/api/count?kind=chat&not.failed=true").json()
    assert (answer["requests"], answer["complete"]) == (7, False)


def test_counting_takes_its_own_time_at_most_and_never_more_than_a_question_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clock, "monotonic_ns", lambda: 1_000)
    monkeypatch.setattr(count, "COUNT_NS", 300)
    assert budget_ns(5_000) == 1_300
    assert budget_ns(1_100) == 1_100


@pytest.mark.parametrize(("query", "param"), [("limit=5", "limit"), ("status=x", "status"), ("q=a:b", "q")])
def test_what_is_unknown_or_malformed_is_refused_by_name(query: str, param: str) -> None:
    answer = client_of().get(f"/api/count?{query}")
    assert (answer.status, answer.json()["error"]["param"]) == (400, param)
