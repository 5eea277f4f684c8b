"""Test that rereads are requested by filter, and listed."""

from typing import Any

from tests.support.api_log import client_of, log_of, record_of

JSON = ("content-type", "application/json")


def test_a_reread_is_accepted_with_the_number_of_matching_requests() -> None:
    store = log_of(record_of(1, namespace="ios"), record_of(2, namespace="web"), record_of(3, namespace="ios"))
    client = client_of(store)
    response = client.request("POST", "/api/rereads?namespace=ios", JSON)
    reread: dict[str, Any] = response.json()
    assert (response.status, reread["state"], reread["requests"], reread["read"]) == (202, "reading", 2, 0)
    assert (reread["filter"], reread["requested_by"]) == ([["namespace", "ios"]], "127.0.0.1")
    store.reread(lambda entry: None, 0)
    assert client.get(f"/api/rereads/{reread['id']}").json()["state"] == "done"
    assert [each["id"] for each in client.get("/api/rereads").json()["data"]] == [reread["id"]]


def test_a_filter_in_the_body_is_rejected_because_all_requests_would_be_read() -> None:
    client = client_of(log_of(record_of(1)))
    response = client.request("POST", "/api/rereads", JSON, body=b'{"namespace": "ios"}')
    assert (response.status, response.json()["error"]["code"]) == (400, "bad_body")
    assert client.get("/api/rereads").json()["data"] == []


def test_unknown_parameters_and_ids_are_rejected() -> None:
    client = client_of(log_of(record_of(1)))
    assert client.request("POST", "/api/rereads?namspace=ios", JSON).status == 400
    response = client.get("/api/rereads/nothing")
    assert (response.status, response.json()["error"]["param"]) == (404, "id")
