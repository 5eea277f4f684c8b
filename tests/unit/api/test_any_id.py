"""Test that a request is found by any id that a client gives it, however the id is written in a URL."""

import json
from urllib.parse import quote

import pytest
from tests.support.api_log import client_of, entry_of, log_of, record_of
from tests.support.asgi import Client
from tests.support.memory_store import MemoryStore

from relaybook.log.record import stored_id
from relaybook.log.store.port import Batch

JSON = ("content-type", "application/json")
FEEDBACK = json.dumps({"score": 1}).encode()
LONG = "job-" + "0123456789" * 30
#: Long ids, ids that end like a path of the API, and ids with characters that URLs encode.
CLIENT_IDS = [
    *(LONG, LONG[:256], "x" * 20_000, "é" * 300),
    *("my/request", "my/response", "my/feedback", "request", "/request", "a/request/feedback", "a/feedback/request"),
    *("a?b=c#d", "a b", "100%", "a%2Fb", "a%2Frequest", "é", "注文/request", "..", "a//b", "+a&b;c", '"a\\b"'),
]


def client_with(*client_ids: str) -> Client:
    store = MemoryStore()
    records = (record_of(number, client_request_id=stored_id(each)) for number, each in enumerate(client_ids, 1))
    store.commit(Batch(entries=[entry_of(record, request=b"sent", response=b"returned") for record in records]))
    return client_of(store)


@pytest.mark.parametrize("client_id", CLIENT_IDS)
def test_details_bodies_and_feedback_are_found_by_any_client_id(client_id: str) -> None:
    client, path = client_with(client_id), f"/api/requests/{quote(client_id, safe='')}"
    assert client.get(path).json()["id"] == record_of(1).id
    assert client.get(f"{path}/request").body == b"sent"
    assert client.get(f"{path}/response").body == b"returned"
    assert client.request("POST", f"{path}/feedback", JSON, body=FEEDBACK).json()["state"] == "stored"
    assert client.get(path).json()["feedback"][0]["score"] == 1


@pytest.mark.parametrize("client_id", ["a/b", "my/request", "my/response", "a/request/feedback/x", "feedback"])
def test_slashes_in_an_id_need_not_be_encoded(client_id: str) -> None:
    client = client_with(client_id)
    assert client.get(f"/api/requests/{client_id}").json()["id"] == record_of(1).id
    assert client.get(f"/api/requests/{client_id}/request").body == b"sent"


@pytest.mark.parametrize("prefix", ["", "/logs", "/logs/é"])
def test_an_encoded_slash_is_part_of_an_id_below_the_sub_path_of_the_dashboard_too(prefix: str) -> None:
    store = log_of(record_of(1, client_request_id="job/request"))
    client = client_of(store, dashboard_url=f"https://a.example{prefix}", token="t", feedback_token="f")
    path = f"{quote(prefix)}/api/requests/job%2Frequest"
    headers = ("host", "a.example"), JSON
    assert client.get(path, ("authorization", "Bearer t"), *headers).json()["id"] == record_of(1).id
    feedback = client.request("POST", f"{path}/feedback", ("authorization", "Bearer f"), *headers, body=FEEDBACK)
    assert feedback.json()["state"] == "stored"
    assert client.request("POST", f"{path}%2Ffeedback", ("authorization", "Bearer f"), *headers).status == 405


def test_a_body_is_preferred_to_a_request_whose_id_ends_like_the_path_of_the_body() -> None:
    client = client_with("job", "job/request")
    assert client.get("/api/requests/job/request").body == b"sent"
    assert client.get("/api/requests/job%2Frequest").json()["id"] == record_of(2).id


def test_long_ids_with_the_same_beginning_are_different() -> None:
    client = client_with(LONG + "a", LONG + "b")
    for number, client_id in enumerate((LONG + "a", LONG + "b"), 1):
        found = client.get(f"/api/requests/{client_id}").json()
        assert (found["id"], found["also"]) == (record_of(number).id, [])
        assert client.get(f"/api/requests/{found['client_request_id']}").json()["id"] == found["id"]
    assert client.get(f"/api/requests/{LONG}").status == 404


def test_pending_feedback_for_a_long_id_arrives_with_the_request() -> None:
    store = MemoryStore()
    client = client_of(store)
    response = client.request("POST", f"/api/requests/{LONG}/feedback", JSON, body=FEEDBACK)
    assert response.json()["state"] == "pending"
    store.commit(Batch(entries=[entry_of(record_of(1, client_request_id=stored_id(LONG)))]))
    assert client.get(f"/api/requests/{LONG}").json()["feedback"][0]["score"] == 1


@pytest.mark.parametrize("client_id", ["job", "job/request"])
def test_a_request_is_deleted_only_by_its_relaybook_id(client_id: str) -> None:
    response = client_with(client_id).request("DELETE", f"/api/requests/{quote(client_id, safe='')}")
    assert (response.status, response.json()["error"]["code"]) == (404, "not_found")
