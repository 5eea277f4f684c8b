"""Test that namespaces are listed in sorted pages, and that namespaces can be pinned and unpinned for all users."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from tests.support.api_log import START_US, app_of, client_of, log_of, record_of
from tests.support.asgi import Client, Response
from tests.support.memory_store import MemoryStore, lists

from relaybook import clock
from relaybook.log.ask import count
from relaybook.log.namespaces import LabelChange, NamespaceRow
from relaybook.log.query.filters import Filter
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.port import Count

JSON = ("content-type", "application/json")


def change(client: Client, **fields: Any) -> Response:
    return client.request("PATCH", "/api/namespaces", JSON, body=json.dumps(fields).encode())


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
        "failed_share": 0.5,
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


@pytest.mark.parametrize("query", ["from=-1h", "to=-1h", "pinned=false&from=-1h", "pinned=false&to=-1h&contains=a"])
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


def test_pages_of_names_with_a_prefix_skip_names_that_only_contain_it() -> None:
    names = ["ab", "cab", "abc", "Ab", "xabx", "abd"]
    client = client_of(log_of(*(record_of(number, namespace=name) for number, name in enumerate(names))))
    found: list[str] = []
    target = ""
    while True:
        page = client.get(f"/api/namespaces?prefix=ab&limit=1{target}").json()
        found += [row["namespace"] for row in page["data"]]
        if page["next_cursor"] is None:
            break
        target = f"&cursor={quote(page['next_cursor'])}"
    assert sorted(found) == ["ab", "abc", "abd"]
    both = client.get("/api/namespaces?prefix=ab&contains=C").json()["data"]
    assert [row["namespace"] for row in both] == ["abc"]


def test_a_rare_prefix_is_read_at_once_however_many_names_contain_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[list[NamespaceRow]] = []

    def counted(*arguments: Any) -> tuple[list[NamespaceRow], str | None]:
        found = list_namespaces(*arguments)
        pages.append(found[0])
        return found

    list_namespaces = lists.namespaces
    monkeypatch.setattr(lists, "namespaces", counted)
    names = [f"x-{number}-rare" for number in range(300)]
    names.insert(150, "rare-1")
    client = client_of(log_of(*(record_of(number, namespace=name) for number, name in enumerate(names))))
    page = client.get("/api/namespaces?prefix=rare&limit=1").json()
    assert ([row["namespace"] for row in page["data"]], page["next_cursor"]) == (["rare-1"], None)
    assert [[row.namespace for row in rows] for rows in pages] == [["rare-1"]]


def test_a_part_of_a_name_has_no_wildcards() -> None:
    client = client_of(log_of(record_of(1, namespace="100%"), record_of(2, namespace="100 euros")))
    assert [row["namespace"] for row in client.get("/api/namespaces?contains=00%25").json()["data"]] == ["100%"]


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
        ("contains=%ff", "contains"),
    ],
)
def test_unknown_and_malformed_parameters_are_rejected_by_name(query: str, param: str) -> None:
    response = client_of().get(f"/api/namespaces?{query}")
    assert (response.status, response.json()["error"]["param"]) == (400, param)


def test_a_namespace_is_pinned_with_the_fields_of_the_body() -> None:
    client = client_of(log_of(record_of(1, namespace="user-1234")))
    response = change(client, namespace="user-1234", pinned=True, color=3, group="Customers", position=4)
    assert response.status == 200
    assert response.json() == {
        "namespace": "user-1234",
        "requests": 1,
        "failed": 0,
        "failed_share": 0.0,
        "input_tokens": 0,
        "output_tokens": 0,
        "cost_usd": None,
        "first_at": "2026-01-01T00:00:01.000000Z",
        "last_at": "2026-01-01T00:00:01.000000Z",
        "pinned": True,
        "color": 3,
        "group": "Customers",
        "position": 4,
    }
    assert client.get("/api/namespaces?pinned=true").json()["data"] == [response.json()]


def test_a_namespace_without_a_request_can_be_pinned_and_unpinned() -> None:
    client = client_of()
    pinned = change(client, namespace="ios", pinned=True).json()
    assert (pinned["color"], pinned["group"], pinned["position"]) == (1, "Channel", 0)
    assert (pinned["requests"], pinned["first_at"], pinned["last_at"]) == (0, None, None)
    assert change(client, namespace="ios", group=None).json()["group"] is None
    unpinned = change(client, namespace="ios", pinned=False).json()
    assert [unpinned[name] for name in ("pinned", "color", "group", "position")] == [False, None, None, None]
    assert client.get("/api/namespaces").json()["data"] == []


@pytest.mark.parametrize(
    ("body", "param", "message"),
    [
        ({"pinned": True}, "namespace", "namespace is missing: expected a string of 1 to 256 characters"),
        ({"namespace": ""}, "namespace", 'namespace is ""'),
        ({"namespace": "x" * 257}, "namespace", "namespace is"),
        ({"namespace": "a\0"}, "namespace", r"namespace is \"a\\u0000\""),
        ({"namespace": 5}, "namespace", "namespace is 5"),
        ({"namespace": "a", "pinned": None}, "pinned", "pinned is null: expected true or false"),
        ({"namespace": "a", "pinned": 1}, "pinned", "pinned is 1"),
        ({"namespace": "a", "color": 0}, "color", "color is 0: expected an integer from 1 to 8"),
        ({"namespace": "a", "color": 9}, "color", "color is 9"),
        ({"namespace": "a", "color": "red"}, "color", 'color is "red"'),
        ({"namespace": "a", "group": ""}, "group", 'group is "": expected a string of 1 to 40 characters, or null'),
        ({"namespace": "a", "group": "x" * 41}, "group", "group is"),
        ({"namespace": "a", "position": -1}, "position", "position is -1: expected an integer from 0 to 9999"),
        ({"namespace": "a", "position": 10_000}, "position", "position is 10000"),
        (
            {"namespace": "a", "colour": 3},
            "colour",
            "colour is not a known field. Known: namespace, pinned, color",
        ),
        ({"namespace": "a", "at `$.color`": 3}, "at `$.color`", "at `$.color` is not a known field."),
        ({"namespace": "a", "color": [{"x` at `$.group": 1}]}, "color", 'color is [{"x` at `$.group":1}]: expected an'),
        ({"namespace": "a"}, None, "The body contains no change. Set at least one of pinned"),
        ({"namespace": "a", "color": 3}, "pinned", "'a' is not pinned after this change, so it cannot have a color"),
        (
            {"namespace": "a", "pinned": False, "color": 3},
            "pinned",
            "'a' is not pinned after this change, so it cannot have a color",
        ),
    ],
)
def test_an_invalid_body_is_rejected_with_the_field(body: dict[str, Any], param: str | None, message: str) -> None:
    store = MemoryStore()
    response = change(client_of(store), **body)
    error = response.json()["error"]
    assert (response.status, error["code"], error["param"]) == (400, "bad_body", param)
    assert message.replace(r"\"", '"').replace(r"\\", "\\") in error["message"]
    assert store.status().labels == 0


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"[]", b"5", b"{", b"\xff", b"[1e400]"),
        b'{"namespace": "\\ud800", "pinned": true}',
        b'{"namespace": "a", "color": 1e400}',
    ],
)
def test_a_body_that_is_not_an_object_is_rejected(body: bytes) -> None:
    response = client_of().request("PATCH", "/api/namespaces", JSON, body=body)
    assert (response.status, response.json()["error"]["code"]) == (400, "bad_body")


def test_cross_site_requests_and_other_content_types_change_nothing() -> None:
    store = MemoryStore()
    body = b'{"namespace": "a", "pinned": true}'
    other = client_of(store).request("PATCH", "/api/namespaces", JSON, ("origin", "http://evil.example"), body=body)
    assert (other.status, other.json()["error"]["code"]) == (403, "cross_site")
    assert client_of(store).request("PATCH", "/api/namespaces", ("content-type", "text/plain"), body=body).status == 415
    assert store.status().labels == 0


def test_a_change_has_no_parameters() -> None:
    response = client_of().request("PATCH", "/api/namespaces?a=b", JSON, body=b'{"namespace": "a", "pinned": true}')
    assert (response.status, response.json()["error"]["param"]) == (400, "a")


def test_the_error_for_a_store_that_cannot_be_written_says_that_nothing_changed() -> None:
    class Busy(MemoryStore):
        def change(self, change: LabelChange) -> NamespaceRow:
            raise StoreUnavailable("relaybook.sqlite: another program is using the database")

    response = change(client_of(Busy()), namespace="a", pinned=True)
    assert (response.status, response.json()["error"]["code"]) == (503, "store_unavailable")
    assert "Nothing was changed" in response.json()["error"]["message"]


def test_labels_of_a_read_only_log_cannot_be_changed() -> None:
    response = change(Client(app_of(MemoryStore(), labels=None)), namespace="a", pinned=True)
    assert (response.status, response.json()["error"]["code"]) == (503, "store_unavailable")
