"""Namespaces are listed by a sort, in pages, and nothing unknown is ignored."""

import pytest
from tests.support.api_log import client_of, log_of, record_of

from relaybook.stores.base import Batch, Pin


def test_namespaces_have_their_counters_and_moments_as_text() -> None:
    store = log_of(record_of(1, namespace="a", input_tokens=3), record_of(2, namespace="a", failed=True, cost_usd=0.5))
    [row] = client_of(store).get("/api/namespaces").json()["data"]
    assert row == {
        "namespace": "a",
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
    }


def test_pinned_ones_can_be_asked_for_or_left_out() -> None:
    store = log_of(record_of(1, namespace="a"))
    store.commit(Batch(pins=[Pin(namespace="p", pinned=True, color=3, group="Environment")]))
    client = client_of(store)
    [pinned] = client.get("/api/namespaces?pinned=true").json()["data"]
    assert (pinned["namespace"], pinned["color"], pinned["first_at"], pinned["last_at"]) == ("p", 3, None, None)
    assert [row["namespace"] for row in client.get("/api/namespaces?pinned=false").json()["data"]] == ["a"]


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


def test_a_prefix_is_only_text() -> None:
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
        ("namespace=a", "namespace"),
        ("prefix=%ff", "prefix"),
    ],
)
def test_what_is_unknown_or_malformed_is_refused_by_name(query: str, param: str) -> None:
    answer = client_of().get(f"/api/namespaces?{query}")
    assert (answer.status, answer.json()["error"]["param"]) == (400, param)
