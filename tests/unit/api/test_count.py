"""Test that requests that match a filter are counted within a time limit."""

import pytest
from tests.support.api_log import client_of, log_of, open_of, record_of
from tests.support.memory_store import MemoryStore

from relaybook import clock
from relaybook.log.ask import count
from relaybook.log.ask.count import count_deadline_ns
from relaybook.log.query.filters import Filter, Term
from relaybook.log.store.port import Batch, Count


def test_finished_requests_that_match_are_counted() -> None:
    store = log_of(record_of(1, model="m", failed=True), record_of(2, model="n"), record_of(3, model="m"))
    store.commit(Batch(running=[open_of(4, model="m")]))
    response = client_of(store).get("/api/count?model=m")
    assert response.status == 200
    assert response.json() == {
        "requests": 2,
        "failed": 1,
        "last_at": "2026-01-01T00:00:03.000000Z",
        "complete": True,
    }


def test_a_count_of_nothing_is_zero_and_has_no_timestamp() -> None:
    nothing = {"requests": 0, "failed": 0, "last_at": None, "complete": True}
    assert client_of().get("/api/count").json() == nothing
    assert client_of(log_of(record_of(1))).get("/api/count?namespace=nobody").json() == nothing


def test_an_incomplete_count_is_marked() -> None:
    class Slow(MemoryStore):
        def count(self, filter_: Filter, deadline_ns: int) -> Count:
            assert filter_ == Filter((Term("kind", ("chat",)), Term("failed", ("true",), True)))
            return Count(requests=7, failed=2, last_at=None, complete=False)

    response = client_of(Slow()).get("/api/count?kind=chat&not.failed=true").json()
    assert (response["requests"], response["complete"]) == (7, False)


def test_counting_ends_at_its_time_limit_and_at_the_query_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clock, "monotonic_ns", lambda: 1_000)
    monkeypatch.setattr(count, "COUNT_NS", 300)
    assert count_deadline_ns(5_000) == 1_300
    assert count_deadline_ns(1_100) == 1_100


@pytest.mark.parametrize(("query", "param"), [("limit=5", "limit"), ("status=x", "status"), ("q=a:b", "q")])
def test_unknown_and_malformed_parameters_are_rejected_by_name(query: str, param: str) -> None:
    response = client_of().get(f"/api/count?{query}")
    assert (response.status, response.json()["error"]["param"]) == (400, param)


def test_an_exact_count_has_ten_seconds() -> None:
    seconds: list[float] = []

    class Timed(MemoryStore):
        def count(self, filter_: Filter, deadline_ns: int) -> Count:
            seconds.append((deadline_ns - clock.monotonic_ns()) / clock.NANOSECONDS)
            return Count(requests=1)

    client = client_of(Timed())
    for query in ("", "?exact=true", "?exact=false"):
        assert client.get(f"/api/count{query}").json()["requests"] == 1
    assert [round(each, 1) for each in seconds] == [0.3, 10.0, 0.3]
    assert client.get("/api/count?exact=1").json()["error"]["param"] == "exact"
