"""Test that filters can be saved under a name for all users, and can be deleted."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from tests.support.api_log import app_of, client_of
from tests.support.asgi import Client, Response
from tests.support.memory_store import MemoryStore

from relaybook.log.saved_filters import MAX_SAVED_FILTERS, SavedFilter
from relaybook.log.store.errors import StoreUnavailable

JSON = ("content-type", "application/json")
PARAMS = [["namespace", "staging"], ["not.model", "gpt-4o"], ["from", "-1h"], ["sort", "cost_usd"]]


def save(client: Client, name: str, params: Any = PARAMS, **fields: Any) -> Response:
    body = json.dumps({"params": params} | fields).encode()
    return client.request("PUT", f"/api/saved-filters/{quote(name, safe='')}", JSON, body=body)


def listed(client: Client) -> list[dict[str, Any]]:
    data: list[dict[str, Any]] = client.get("/api/saved-filters").json()["data"]
    return data


def test_a_filter_is_saved_as_its_parameters_and_listed_by_name() -> None:
    client = client_of()
    assert listed(client) == []
    saved = save(client, "staging")
    assert saved.status == 200
    assert saved.json()["created_at"].endswith("Z")
    assert saved.json() == {"name": "staging", "params": PARAMS, "created_at": saved.json()["created_at"]}
    save(client, "Failed today", [["failed", "true"], ["from", "-1d"]])
    assert [one["name"] for one in listed(client)] == ["Failed today", "staging"]
    assert listed(client)[1] == saved.json()


def test_saving_again_replaces_the_filter() -> None:
    client = client_of()
    first = save(client, "mine").json()
    second = save(client, "mine", [["model", "gpt-4o"]]).json()
    assert second == first | {"params": [["model", "gpt-4o"]]}
    assert listed(client) == [second]


def test_a_deleted_filter_is_returned_and_gone() -> None:
    client = client_of()
    saved = save(client, "a/b ü").json()
    path = f"/api/saved-filters/{quote('a/b ü', safe='')}"
    deleted = client.request("DELETE", path)
    assert (deleted.status, deleted.json()) == (200, saved)
    assert listed(client) == []
    again = client.request("DELETE", path)
    assert (again.status, again.json()["error"]["code"], again.json()["error"]["param"]) == (404, "not_found", "name")
    assert again.json()["error"]["message"] == "No saved filter has the name 'a/b ü'."


@pytest.mark.parametrize("name", ["", "x" * 65, " a", "a ", "a\0", "a\nb", ".", ".."])
def test_an_invalid_name_is_rejected(name: str) -> None:
    client = client_of()
    response = save(client, name)
    error = response.json()["error"]
    assert (response.status, error["code"], error["param"]) == (400, "bad_parameter", "name")
    assert listed(client) == []


@pytest.mark.parametrize("name", ["x" * 64, "🙂" * 64, "a  b", "..."])
def test_a_name_has_up_to_64_characters(name: str) -> None:
    client = client_of()
    assert save(client, name).status == 200
    assert [one["name"] for one in listed(client)] == [name]


@pytest.mark.parametrize(
    ("params", "param", "message"),
    [
        ([], "params", "params is empty"),
        ([["colour", "red"]], "colour", "'colour' is not a known parameter."),
        ([["status", "9"]], "status", "status"),
        ([["duration", "long"]], "duration", "duration"),
        ([["from", "-1h"], ["from", "-2h"]], "from", "cannot be repeated"),
        ([["contains", "refund"]], "contains", "needs a start time"),
        ([["sort", "name"]], "sort", "sort"),
        ([["sort", "cost_usd"], ["sort", "cost_usd"]], "sort", "sort cannot be repeated."),
        ([["q", "modle:x"]], "q", "modle"),
        ([["live", "off"]], "live", "'live' is not a known parameter."),
        ([["namespace", "x" * 200]] * 41, "params", "more than 8000 characters"),
        ([["namespace"]], "params", "Send a JSON object such as"),
        ([["namespace", 5]], "params", "Send a JSON object such as"),
        ("namespace=staging", "params", "Send a JSON object such as"),
    ],
)
def test_an_invalid_filter_is_rejected_with_its_parameter(params: Any, param: str, message: str) -> None:
    client = client_of()
    response = save(client, "mine", params)
    error = response.json()["error"]
    assert (response.status, error["code"], error["param"]) == (400, "bad_body", param)
    assert message in error["message"]
    assert listed(client) == []


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"{", b"\xff", b"[" * 60_000, b'{"params": [], "name": "a"}'])
def test_a_body_that_is_not_a_filter_is_rejected(body: bytes) -> None:
    response = client_of().request("PUT", "/api/saved-filters/mine", JSON, body=body)
    assert (response.status, response.json()["error"]["code"]) == (400, "bad_body")


def test_a_full_list_rejects_another_name() -> None:
    store = MemoryStore()
    for number in range(MAX_SAVED_FILTERS):
        store.save_filter(SavedFilter(f"filter {number}", (("model", "gpt-4o"),), number))
    response = save(client_of(store), "one more")
    assert (response.status, response.json()["error"]["code"]) == (409, "too_many_saved_filters")
    assert save(client_of(store), "filter 7").status == 200


def test_cross_site_requests_and_other_content_types_save_nothing() -> None:
    client, path = client_of(), "/api/saved-filters/mine"
    body = json.dumps({"params": PARAMS}).encode()
    evil = ("origin", "http://evil.example")
    assert client.request("PUT", path, JSON, evil, body=body).json()["error"]["code"] == "cross_site"
    assert client.request("PUT", path, ("content-type", "text/plain"), body=body).status == 415
    assert listed(client) == []
    save(client, "mine")
    assert client.request("DELETE", path, evil).json()["error"]["code"] == "cross_site"
    assert len(listed(client)) == 1


def test_parameters_are_rejected() -> None:
    client = client_of()
    for method, path in (("GET", ""), ("PUT", "/mine"), ("DELETE", "/mine")):
        headers = [JSON] if method == "PUT" else []
        response = client.request(method, f"/api/saved-filters{path}?a=b", *headers, body=b"{}")
        assert (response.status, response.json()["error"]["param"]) == (400, "a")


def test_the_error_for_a_store_that_cannot_be_written_says_that_nothing_changed() -> None:
    class Busy(MemoryStore):
        def save_filter(self, saved: SavedFilter) -> SavedFilter:
            raise StoreUnavailable("relaybook.sqlite: another program is using the database.")

    response = save(client_of(Busy()), "mine")
    assert (response.status, response.json()["error"]["code"]) == (503, "store_unavailable")
    assert "Nothing was changed" in response.json()["error"]["message"]


def test_a_log_opened_for_reading_lists_saved_filters_but_does_not_change_them() -> None:
    client = Client(app_of(MemoryStore()))
    assert listed(client) == []
    response = save(client, "mine")
    assert (response.status, response.json()["error"]["code"]) == (503, "store_unavailable")
