"""Test that namespaces can be pinned and unpinned for all users."""

import json
from typing import Any

import pytest
from tests.support.api_log import app_of, client_of, log_of, record_of
from tests.support.asgi import Client, Response
from tests.support.memory_store import MemoryStore

from relaybook.log.namespaces import LabelChange, NamespaceRow
from relaybook.log.store.errors import StoreUnavailable

JSON = ("content-type", "application/json")


def change(client: Client, **fields: Any) -> Response:
    return client.request("PATCH", "/api/namespaces", JSON, body=json.dumps(fields).encode())


def test_a_namespace_is_pinned_with_the_fields_of_the_body() -> None:
    client = client_of(log_of(record_of(1, namespace="user-1234")))
    response = change(client, namespace="user-1234", pinned=True, color=3, group="Customers", position=4)
    assert response.status == 200
    assert response.json() == {
        "namespace": "user-1234",
        "requests": 1,
        "failed": 0,
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


def test_parameters_are_rejected() -> None:
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
