"""Test that namespaces are listed in sorted pages, and that unknown parameters are rejected."""

import pytest
from tests.support.api_log import START_US, client_of, log_of, record_of
from tests.support.memory_store import MemoryStore

from relaybook import clock
from relaybook.log.ask import count
from relaybook.log.namespaces import LabelChange
from relaybook.log.query.filters import Filter
from relaybook.log.store.port import Count


def test_namespaces_have_counters_and_timestamps() -> None:
    name = "user-1234"
    records = record_of(1, namespace=name, input_tokens=3), record_of(2, namespace=name, failed=True, cost_usd=0.5)
    store = log_of(*records)
    page = client_of(store).get("/api/namespaces").json()
    assert page["complete"] is True
    [row] = page["data"]
    assert row == {
        "namespace": name,
        "requests": 2,
        "failed": 1,
        "input_tokens": 3,
        "output_tokens": 0,
        "cost_usd": 0.5,
        "first_at": "2026-01-01T00:00:01.000000Z",
        "last_at": "2026-01-01T00:00:02.000000Z",
        "pinned": False,
        "color": None,
        "group": None,
        "position": None,
    }


def test_namespaces_can_be_filtered_by_pinned() -> None:
    store = log_of(record_of(1, namespace="user-1234"))
    store.change(LabelChange(namespace="p", pinned=True, color=3, position=5))
    client = client_of(store)
    [pinned] = client.get("/api/namespaces?pinned=true").json()["data"]
    assert (pinned["namespace"], pinned["color"], pinned["first_at"], pinned["last_at"]) == ("p", 3, None, None)
    assert pinned["position"] == 5
    assert [row["namespace"] for row in client.get("/api/namespaces?pinned=false").json()["data"]] == ["user-1234"]


def test_labels_are_counted_for_a_time_range_and_other_counters_are_null() -> None:
    store = log_of(
        *(record_of(number, namespace="ab"[number % 2], failed=number == 4, cost_usd=0.5) for number in range(6))
    )
    page = client_of(store).get(
        "/api/namespaces?pinned=true&sort=requests&from=2026-01-01T00:00:02Z&to=2026-01-01T00:00:05Z"
    )
    a, b = page.json()["data"]
    assert page.json()["complete"] is True
    assert (a["namespace"], a["requests"], a["failed"], a["last_at"]) == ("a", 2, 1, "2026-01-01T00:00:04.000000Z")
    assert (b["namespace"], b["requests"], b["failed"], b["last_at"]) == ("b", 1, 0, "2026-01-01T00:00:03.000000Z")
    for row in (a, b):
        assert [row[name] for name in ("input_tokens", "output_tokens", "cost_usd", "first_at")] == [None] * 4
        assert row["pinned"]


def test_labels_share_the_time_limit_and_an_incomplete_page_is_marked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clock, "monotonic_ns", lambda: 0)
    monkeypatch.setattr(count, "COUNT_NS", 300)
    deadlines: list[int] = []

    class Slow(MemoryStore):
        def count(self, filter_: Filter, deadline_ns: int) -> Count:
            deadlines.append(deadline_ns)
            return Count(requests=5, last_at=START_US, complete=filter_.terms[0].values != ("b",))

    store = Slow()
    for name in "abc":
        store.change(LabelChange(namespace=name, pinned=True))
    page = client_of(store).get("/api/namespaces?pinned=true&from=-1h").json()
    assert page["complete"] is False
    assert [row["requests"] for row in page["data"]] == [5, 5, 5]
    assert deadlines == [100, 150, 300]


@pytest.mark.parametrize("query", ["from=-1h", "to=-1h", "pinned=false&from=-1h", "pinned=false&to=-1h&prefix=a"])
def test_a_time_range_requires_pinned(query: str) -> None:
    response = client_of().get(f"/api/namespaces?{query}")
    error = response.json()["error"]
    assert (response.status, error["param"]) == (400, "from" if "from" in query else "to")
    assert "pinned=true" in error["message"]


@pytest.mark.parametrize("sort", ["last_at", "requests", "failed", "cost_usd"])
def test_pages_of_any_sort_cover_all_namespaces(sort: str) -> None:
    names = [f"user {number}/ü" for number in range(23)]
    client = client_of(log_of(*(record_of(number, namespace=name) for number, name in enumerate(names))))
    seen: list[str] = []
    target = ""
    while True:
        page = client.get(f"/api/namespaces?limit=5&sort={sort}{target}").json()
        seen += [row["namespace"] for row in page["data"]]
        if page["next_cursor"] is None:
            break
        cursor = "".join(f"%{byte:02X}" for byte in page["next_cursor"].encode())
        target = f"&cursor={cursor}"
    assert sorted(seen) == sorted(names)


def test_a_prefix_has_no_wildcards() -> None:
    client = client_of(log_of(record_of(1, namespace="100%"), record_of(2, namespace="100 euros")))
    assert [row["namespace"] for row in client.get("/api/namespaces?prefix=100%25").json()["data"]] == ["100%"]


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ("sort=namespace", "sort"),
        ("sort=", "sort"),
        ("pinned=1", "pinned"),
        ("pinned=true&pinned=true", "pinned"),
        ("limit=x", "limit"),
        ("cursor=o5", "cursor"),
        ("cursor=", "cursor"),
        ("pinned=true&from=yesterday", "from"),
        ("pinned=true&to=", "to"),
        ("namespace=a", "namespace"),
        ("prefix=%ff", "prefix"),
    ],
)
def test_unknown_and_malformed_parameters_are_rejected_by_name(query: str, param: str) -> None:
    response = client_of().get(f"/api/namespaces?{query}")
    assert (response.status, response.json()["error"]["param"]) == (400, param)
