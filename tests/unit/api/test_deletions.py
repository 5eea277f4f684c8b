"""Test that requests are deleted by id or by filter, and that the deletions are listed."""

from typing import Any
from urllib.parse import urlencode

import pytest
from tests.support.api_log import app_of, client_of, entry_of, log_of, open_of, record_of
from tests.support.asgi import Client
from tests.support.memory_store import MemoryStore

from relaybook import clock
from relaybook.log.deletions import Deletion
from relaybook.log.query.filters import Filter
from relaybook.log.store.errors import BodyDamaged, StoreUnavailable
from relaybook.log.store.port import Batch, Count, StoredRecord


def ids(client: Client) -> list[int]:
    return [row["seq"] for row in client.get("/api/requests").json()["data"]]


def carry_out(store: MemoryStore) -> None:
    store.delete(clock.monotonic_ns() + 10**9)


def test_matching_requests_are_deleted_and_running_ones_are_told_apart() -> None:
    store = log_of(record_of(1, namespace="ios"), record_of(2, namespace="web"), record_of(3, namespace="ios"))
    store.commit(Batch(running=[open_of(4, namespace="ios"), open_of(5, namespace="web")]))
    client = client_of(store)
    response = client.request("DELETE", "/api/requests?namespace=ios&confirm=2")
    deletion = response.json()
    assert response.status == 202
    assert {
        name: deletion[name] for name in ("state", "requests", "removed", "running", "requested_by", "done_at")
    } == {
        "state": "removing",
        "requests": 2,
        "removed": 0,
        "running": 1,
        "requested_by": "127.0.0.1",
        "done_at": None,
    }
    assert deletion["filter"] == [["namespace", "ios"]]
    carry_out(store)
    assert ids(client) == [2]
    assert len(client.get("/api/requests").json()["running"]) == 2


def test_the_receipt_says_when_and_whether_requests_match_its_filter_again() -> None:
    store = log_of(record_of(1, user="cy@example.com"), record_of(2, user="bo@example.com"))
    client = client_of(store)
    sent = client.request("DELETE", "/api/requests?user=cy%40example.com&to=2100-01-01&confirm=1").json()
    link = f"/api/deletions/{sent['id']}?{urlencode([*map(tuple, sent['filter'])])}"
    carry_out(store)
    receipt = client.get(link).json()
    assert (receipt["state"], receipt["removed"], receipt["filter"][0]) == ("done", 1, ["user", None])
    assert receipt["requested_at"] <= receipt["removed_at"] <= receipt["done_at"]
    check = receipt["check"]
    assert (check["is_filter"], check["requests"], check["complete"]) == (True, 0, True)
    assert len(receipt["not_erased"]) == 3
    store.commit(Batch(entries=[entry_of(record_of(3, user="cy@example.com"))]))
    assert client.get(link).json()["check"]["requests"] == 1
    other = client.get(link.replace("cy%40", "bo%40")).json()["check"]
    assert (other["is_filter"], other["requests"], other["complete"]) == (False, 1, True)
    assert client.get(f"/api/deletions/{sent['id']}").json()["check"] is None


def test_the_receipt_has_the_checked_values_and_says_whether_it_is_final() -> None:
    store = log_of(record_of(1, user="cy@example.com"))
    client = client_of(store)
    sent = client.request("DELETE", "/api/requests?user=cy%40example.com&confirm=1").json()
    link = f"/api/deletions/{sent['id']}?user=cy%40example.com"
    assert client.get(link).json()["is_final"] is False
    carry_out(store)
    receipt = client.get(link).json()
    assert receipt["is_final"] is True
    assert receipt["check"]["filter"] == [["user", "cy@example.com"]]
    assert receipt["done_at"] <= receipt["check"]["checked_at"] <= clock.format_timestamp(clock.wall_us())


def test_a_request_is_deleted_by_its_id() -> None:
    store = log_of(record_of(1), record_of(2))
    client = client_of(store)
    response = client.request("DELETE", f"/api/requests/{record_of(2).id.upper()}")
    assert (response.status, response.json()["requests"], response.json()["running"]) == (202, 1, 0)
    carry_out(store)
    assert ids(client) == [1]


def test_a_request_whose_content_is_damaged_is_deleted_by_its_id(monkeypatch: pytest.MonkeyPatch) -> None:
    def get(_: str) -> StoredRecord | None:
        raise BodyDamaged("2026-01-01.pack is damaged")

    store = log_of(record_of(1))
    monkeypatch.setattr(store, "get", get)
    assert client_of(store).request("DELETE", f"/api/requests/{record_of(1).id}").status == 202


def test_a_request_that_is_not_found_in_time_is_not_reported_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    store = log_of()
    monkeypatch.setattr(store, "count", lambda *_: Count(complete=False))
    response = client_of(store).request("DELETE", f"/api/requests/{record_of(1).id}")
    assert (response.status, response.json()["error"]["code"]) == (503, "deadline")


def test_a_running_request_is_not_deleted() -> None:
    store = log_of(record_of(1))
    store.commit(Batch(running=[open_of(2)]))
    response = client_of(store).request("DELETE", f"/api/requests/{record_of(2).id}")
    assert (response.status, response.json()["error"]["code"]) == (409, "request_running")
    assert store.deletions(10) == []


@pytest.mark.parametrize("any_id", [record_of(9).id, "chatcmpl-1", "a/b"])
def test_only_the_relaybook_id_of_a_request_deletes_it(any_id: str) -> None:
    store = log_of(record_of(1, completion_id="chatcmpl-1"))
    response = client_of(store).request("DELETE", f"/api/requests/{any_id}")
    assert (response.status, response.json()["error"]["code"]) == (404, "not_found")
    assert store.deletions(10) == []


def test_the_present_count_is_returned_if_it_is_not_confirmed() -> None:
    store = log_of(record_of(1), record_of(2))
    response = client_of(store).request("DELETE", "/api/requests?kind=chat&confirm=3")
    error = response.json()["error"]
    assert (response.status, error["code"], error["param"], error["requests"]) == (409, "wrong_count", "confirm", 2)
    assert error["message"] == "confirm is 3, but 2 requests match. To delete them, send confirm=2."
    assert store.deletions(10) == []


def test_nothing_is_counted_for_a_deletion_that_confirms_nothing() -> None:
    class Uncounted(MemoryStore):
        def count(self, filter_: Filter, deadline_ns: int) -> Count:
            raise AssertionError

    response = client_of(Uncounted()).request("DELETE", "/api/requests?kind=chat")
    error = response.json()["error"]
    assert (response.status, error["code"], error["param"]) == (400, "bad_parameter", "confirm")
    assert "GET /api/count?exact=true" in error["message"]


@pytest.mark.parametrize("query", ["confirm=1", "q=&confirm=1", ""])
def test_a_deletion_without_a_filter_is_rejected(query: str) -> None:
    store = log_of(record_of(1))
    response = client_of(store).request("DELETE", f"/api/requests?{query}")
    assert (response.status, response.json()["error"]["code"]) == (400, "bad_parameter")
    assert "To delete all requests, send from=1970-01-01T00:00:00Z" in response.json()["error"]["message"]
    assert store.deletions(10) == []


def test_everything_is_deleted_with_a_start_time() -> None:
    store = log_of(record_of(1), record_of(2))
    client = client_of(store)
    assert client.request("DELETE", "/api/requests?from=1970-01-01T00:00:00Z&confirm=2").status == 202
    carry_out(store)
    assert ids(client) == []


@pytest.mark.parametrize("query", ["namespace=a&confirm=-1", "namespace=a&confirm=", "namespace=a&confirm=all"])
def test_a_count_that_is_not_a_number_is_rejected(query: str) -> None:
    response = client_of().request("DELETE", f"/api/requests?{query}")
    assert (response.status, response.json()["error"]["param"]) == (400, "confirm")


def test_parameters_of_pages_are_rejected() -> None:
    response = client_of(log_of(record_of(1))).request("DELETE", "/api/requests?kind=chat&limit=1&confirm=1")
    assert (response.status, response.json()["error"]["param"]) == (400, "limit")
    assert client_of(log_of(record_of(1))).request("DELETE", f"/api/requests/{record_of(1).id}?confirm=1").status == 400


def test_nothing_is_deleted_if_the_matches_cannot_be_counted_in_time() -> None:
    class Slow(MemoryStore):
        def count(self, filter_: Filter, deadline_ns: int) -> Count:
            return Count(requests=5, complete=False)

    store = Slow()
    response = client_of(store).request("DELETE", "/api/requests?kind=chat&confirm=5")
    assert (response.status, response.json()["error"]["code"]) == (503, "deadline")
    assert "nothing was deleted. Delete the requests in parts" in response.json()["error"]["message"]
    assert store.deletions(10) == []


def test_pages_of_other_origins_cannot_delete() -> None:
    store = log_of(record_of(1))
    for target in ("/api/requests?kind=chat&confirm=1", f"/api/requests/{record_of(1).id}"):
        for header in (("origin", "http://evil.example"), ("sec-fetch-site", "cross-site")):
            response = client_of(store).request("DELETE", target, header)
            assert (response.status, response.json()["error"]["code"]) == (403, "cross_site")
    assert store.deletions(10) == []


def test_deleting_requires_the_token() -> None:
    store = log_of(record_of(1))
    assert client_of(store, token="secret").request("DELETE", "/api/requests?kind=chat&confirm=1").status == 401
    assert store.deletions(10) == []


def test_the_token_for_feedback_cannot_delete() -> None:
    store = log_of(record_of(1))
    client = client_of(store, token="secret", feedback_token="feedback")
    target = "/api/requests?kind=chat&confirm=1"
    assert client.request("DELETE", target, ("authorization", "Bearer feedback")).status == 403
    assert store.deletions(10) == []
    assert client.request("DELETE", target, ("authorization", "Bearer secret")).status == 202


@pytest.mark.parametrize(("trusted", "expected"), [([], "127.0.0.1"), (["127.0.0.1"], "203.0.113.7")])
def test_the_address_is_that_of_the_client_behind_a_trusted_proxy(trusted: list[str], expected: str) -> None:
    client = client_of(log_of(record_of(1)), trusted_proxies=trusted)
    target = "/api/requests?kind=chat&confirm=1"
    response = client.request("DELETE", target, ("x-forwarded-for", "198.51.100.1, 203.0.113.7"))
    assert response.json()["requested_by"] == expected


def test_deletions_are_listed_newest_first_without_values_when_done() -> None:
    store = log_of(record_of(1, namespace="ios"), record_of(2, namespace="web"))
    client = client_of(store)
    first = client.request("DELETE", "/api/requests?namespace=ios&failed=false&confirm=1").json()
    carry_out(store)
    second = client.request("DELETE", "/api/requests?namespace=web&confirm=1").json()
    listed = client.get("/api/deletions").json()["data"]
    assert [each["id"] for each in listed] == [second["id"], first["id"]]
    assert listed[1]["state"] == "done"
    assert listed[1]["removed"] == 1
    assert listed[1]["done_at"] is not None
    assert listed[1]["filter"] == [["namespace", None], ["failed", "false"]]
    assert client.get(f"/api/deletions/{first['id']}").json().items() >= listed[1].items()


def test_a_deletion_older_than_the_latest_hundred_is_found() -> None:
    store = log_of(record_of(1))
    oldest = store.request(Filter(), 1, "127.0.0.1")
    for _ in range(120):
        store.request(Filter(), 1, "127.0.0.1")
    client = client_of(store)
    assert len(client.get("/api/deletions").json()["data"]) == 100
    assert client.get(f"/api/deletions/{oldest.id}").json()["id"] == oldest.id
    assert client.get("/api/deletions/none").json()["error"]["code"] == "not_found"


def test_the_error_for_a_store_that_cannot_be_written_says_that_nothing_was_deleted() -> None:
    class Busy(MemoryStore):
        def request(self, filter_: Filter, requests: int, by: str) -> Deletion:
            raise StoreUnavailable("relaybook.sqlite: another program is using the database.")

    response = client_of(Busy()).request("DELETE", "/api/requests?kind=chat&confirm=0")
    assert (response.status, response.json()["error"]["code"]) == (503, "store_unavailable")
    assert response.json()["error"]["message"].startswith("Nothing was deleted: relaybook.sqlite")


def test_requests_of_a_read_only_log_cannot_be_deleted() -> None:
    response = Client(app_of(MemoryStore())).request("DELETE", "/api/requests?kind=chat&confirm=0")
    assert (response.status, response.json()["error"]["code"]) == (503, "store_unavailable")


def test_the_document_describes_the_accepted_deletion() -> None:
    document: dict[str, Any] = client_of().get("/openapi.json").json()
    for path in ("/api/requests", "/api/requests/{id}"):
        assert "202" in document["paths"][path]["delete"]["responses"]
