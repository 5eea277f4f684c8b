"""Test feedback through the API: valid and invalid feedback, where feedback appears, and the feedback token."""

import json
from typing import Any

import pytest
from tests.support.api_log import app_of, client_of, log_of, record_of, running_of
from tests.support.asgi import Client, Response
from tests.support.memory_store import MemoryStore

from relaybook.log.record import Feedback
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.port import Batch, Running

JSON = ("content-type", "application/json")
TOKEN, FEEDBACK_TOKEN = "the-reading-token", "the-writing-token"


def give(client: Client, any_id: str, *headers: tuple[str, str], **fields: Any) -> Response:
    return client.request("POST", f"/api/requests/{any_id}/feedback", JSON, *headers, body=json.dumps(fields).encode())


def bearer(token: str) -> tuple[str, str]:
    return "authorization", f"Bearer {token}"


def test_feedback_is_stored_and_shown_in_lists_and_details() -> None:
    record = record_of(1)
    client = client_of(log_of(record, record_of(2)))
    response = give(client, record.id, score=1, label="good", comment="Thanks!", source="users")
    assert response.status == 200
    accepted = response.json()
    assert accepted["state"] == "stored"
    at = accepted["feedback"].pop("at")
    assert accepted["feedback"] == {"source": "users", "score": 1.0, "label": "good", "comment": "Thanks!"}
    expected = [accepted["feedback"] | {"at": at}]
    assert client.get(f"/api/requests/{record.id}").json()["feedback"] == expected
    rows = client.get("/api/requests").json()["data"]
    assert [row["feedback"] for row in rows] == [[], expected]


def test_null_and_omitted_fields_are_the_same_and_the_source_is_api_by_default() -> None:
    record = record_of(1)
    client = client_of(log_of(record))
    assert give(client, record.id, score=None, label=None, comment="fine").status == 200
    (feedback,) = client.get(f"/api/requests/{record.id}").json()["feedback"]
    assert (feedback["source"], feedback["score"], feedback["label"]) == ("api", None, None)


@pytest.mark.parametrize("any_id", ["req_1", "chatcmpl-1", "client%20id%2F1"])
def test_any_id_of_the_request_can_be_used(any_id: str) -> None:
    record = record_of(1, provider_request_id="req_1", completion_id="chatcmpl-1", client_request_id="client id/1")
    client = client_of(log_of(record))
    assert give(client, any_id, score=-1).json()["state"] == "stored"
    assert client.get(f"/api/requests/{record.id}").json()["feedback"][0]["score"] == -1


def test_feedback_by_a_completion_id_joins_the_request_when_it_is_recorded() -> None:
    store = MemoryStore()
    running = running_of(1, completion_id="chatcmpl-1")
    store.commit(Batch(running=[Running(record=running)]))
    client = client_of(store)
    assert give(client, "chatcmpl-1", score=1).json()["state"] == "pending"
    assert client.get("/api/requests?feedback=any").json()["data"] == []
    store.commit(Batch(entries=log_of(record_of(1, completion_id="chatcmpl-1")).entries(0, 1, 99)))
    (row,) = client.get("/api/requests?feedback=any").json()["data"]
    assert (row["id"], row["feedback"][0]["score"]) == (running.id, 1)


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("score=>0", [3, 1]),
        ("score=%3E%3D1", [3]),
        ("score=-0.5", [2]),
        ("score=<0", [2]),
        ("not.score=>0", [5, 4, 2]),
        ("label=good", [3, 1]),
        ("label=good&label=bad", [3, 2, 1]),
        ("begins.label=go", [3, 1]),
        ("feedback=any", [4, 3, 2, 1]),
        ("feedback=none", [5]),
        ("q=feedback:any+-label:good", [4, 2]),
        ("q=score:>0+score:<1", [1]),
        ("q=score:-0.5", [2]),
        ("q=label:g*", [3, 1]),
    ],
)
def test_requests_are_filtered_by_their_feedback(query: str, numbers: list[int]) -> None:
    given = [
        [Feedback(source="a", score=0.5, label="good", at=1)],
        [Feedback(source="a", score=-0.5, label="bad", at=1)],
        [Feedback(source="a", score=1.0, label="good", at=1)],
        [Feedback(source="a", comment="…", at=1)],
        [],
    ]
    records = [record_of(number, feedback=feedback) for number, feedback in enumerate(given, 1)]
    client = client_of(log_of(*records))
    found = [row["id"] for row in client.get(f"/api/requests?{query}").json()["data"]]
    assert found == [records[number - 1].id for number in numbers]
    assert client.get(f"/api/count?{query}").json()["requests"] == len(numbers)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("score=good", "score is 'good': expected a number, or a comparison such as >0."),
        ("score=>1s", "score is '>1s': expected a number"),
        ("score=$1", "score is '$1': expected a number"),
        ("feedback=some", "feedback is 'some': expected one of any, none."),
        ("begins.score=1", "score cannot be searched by prefix"),
        ("q=feedback:yes", "expected one of any, none"),
        ("q=input_tokens:-5", "expected an integer"),
    ],
)
def test_invalid_values_of_the_filters_are_rejected(query: str, message: str) -> None:
    response = client_of().get(f"/api/requests?{query}")
    assert response.status == 400
    assert message in response.json()["error"]["message"]


def test_the_feedback_on_matching_requests_is_summarized() -> None:
    given = [
        [Feedback(source="a", score=1.0, at=1), Feedback(source="b", score=0.5, at=1)],
        [Feedback(source="a", score=0.0, at=1)],
        [Feedback(source="a", label="good", at=1)],
        [],
    ]
    records = [record_of(number, feedback=each, model=f"m{number % 2}") for number, each in enumerate(given)]
    client = client_of(log_of(*records))
    assert client.get("/api/feedback").json() == {"requests": 3, "scores": 3, "mean_score": 0.5, "complete": True}
    assert client.get("/api/feedback?model=m0").json()["mean_score"] == 0.75
    assert client.get("/api/feedback?feedback=none").json() == {
        "requests": 0,
        "scores": 0,
        "mean_score": None,
        "complete": True,
    }
    assert client.get("/api/feedback?nothing=x").status == 400


@pytest.mark.parametrize(
    ("body", "param", "message"),
    [
        ({}, None, "The body contains no feedback. Set at least one of score, label and comment."),
        ({"score": None, "source": "users"}, None, "The body contains no feedback."),
        ({"score": "good"}, "score", 'score is "good": expected a finite number, or null.'),
        ({"score": True}, "score", "score is true"),
        ({"score": 10**400}, "score", "score is 1000"),
        ({"label": ""}, "label", 'label is "": expected a string of 1 to 100 characters without NUL, or null.'),
        ({"label": "x" * 101}, "label", "label is"),
        ({"label": "a\0"}, "label", "label is"),
        ({"label": 5}, "label", "label is 5"),
        ({"comment": ""}, "comment", 'comment is "": expected a string of 1 to 4000 characters'),
        ({"comment": "x" * 4001}, "comment", "comment is"),
        ({"score": 1, "source": ""}, "source", 'source is "": expected a string of 1 to 100 characters without NUL.'),
        ({"score": 1, "source": None}, "source", "source is null"),
        ({"score": 1, "source": "x" * 101}, "source", "source is"),
        ({"rating": 5}, "rating", "rating is not a known field. Known: score, label, comment, source."),
    ],
)
def test_an_invalid_body_is_rejected_with_the_field(body: dict[str, Any], param: str | None, message: str) -> None:
    record = record_of(1)
    client = client_of(log_of(record))
    response = give(client, record.id, **body)
    error = response.json()["error"]
    assert (response.status, error["code"], error["param"]) == (400, "bad_body", param)
    assert message in error["message"]
    assert client.get(f"/api/requests/{record.id}").json()["feedback"] == []


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b"\xff", b"[" * 60_000, b'{"score": 1e999}', b'{"score": NaN}', b'{"label": "\\ud800"}'],
)
def test_a_body_that_is_not_valid_json_is_rejected(body: bytes) -> None:
    response = client_of().request("POST", "/api/requests/x/feedback", JSON, body=body)
    assert (response.status, response.json()["error"]["code"]) == (400, "bad_body")


@pytest.mark.parametrize("any_id", ["%00", "%20"])
def test_an_invalid_id_is_rejected(any_id: str) -> None:
    error = give(client_of(), any_id, score=1).json()["error"]
    assert (error["code"], error["param"]) == ("bad_parameter", "id")


def test_parameters_other_content_types_and_other_origins_are_rejected() -> None:
    client = client_of()
    assert client.request("POST", "/api/requests/x/feedback?a=b", JSON, body=b'{"score": 1}').status == 400
    assert client.request("POST", "/api/requests/x/feedback", body=b"score=1").status == 415
    assert give(client, "x", ("origin", "http://evil.example"), score=1).json()["error"]["code"] == "cross_site"
    assert client.request("PUT", "/api/requests/x/feedback", JSON, body=b'{"score": 1}').status == 405


def test_too_much_feedback_is_rejected() -> None:
    record = record_of(1)
    client = client_of(log_of(record))
    for number in range(100):
        assert give(client, record.id, score=1, source=f"source {number}").status == 200
    response = give(client, record.id, score=1, source="another")
    assert (response.status, response.json()["error"]["code"]) == (422, "too_much_feedback")
    assert give(client, record.id, score=0, source="source 0").status == 200


def test_a_store_that_cannot_be_written_says_that_nothing_was_stored() -> None:
    class Busy(MemoryStore):
        def add_feedback(self, any_id: str, feedback: Feedback) -> bool:
            raise StoreUnavailable("relaybook.sqlite: another program is using the database")

    response = give(client_of(Busy()), "x", score=1)
    assert (response.status, response.json()["error"]["code"]) == (503, "store_unavailable")
    assert "The feedback was not stored" in response.json()["error"]["message"]
    assert give(Client(app_of(MemoryStore())), "x", score=1).status == 503


READING = [
    *(
        "/",
        "/api/requests",
        "/api/requests/x",
        "/api/requests/x/feedback",
        "/api/requests/x/request",
        "/api/status",
        "/api/feedback",
    ),
    *("/api/live", "/api/stats", "/api/namespaces", "/api/values/label", "/metrics", "/openapi.json", "/nothing"),
]


@pytest.mark.parametrize("token", [TOKEN, None])
def test_the_feedback_token_gives_feedback_and_reads_nothing(token: str | None) -> None:
    record = record_of(1)
    client = client_of(log_of(record), token=token, feedback_token=FEEDBACK_TOKEN)
    assert give(client, record.id, bearer(FEEDBACK_TOKEN), score=1).status == 200
    for path in READING:
        response = client.get(path, bearer(FEEDBACK_TOKEN))
        assert (response.status, response.json()["error"]["code"]) == (403, "feedback_only"), path
    for method, path in (("PATCH", "/api/namespaces"), ("DELETE", "/api/session"), ("POST", "/api/requests/x")):
        response = client.request(method, path, JSON, bearer(FEEDBACK_TOKEN), body=b"{}")
        assert response.status == 403, path


def test_the_feedback_token_does_not_sign_in_to_the_page() -> None:
    client = client_of(token=TOKEN, feedback_token=FEEDBACK_TOKEN)
    body = json.dumps({"token": FEEDBACK_TOKEN}).encode()
    assert client.request("POST", "/api/session", JSON, body=body).status == 401


def test_the_dashboards_token_gives_feedback_too_and_a_wrong_one_does_not() -> None:
    record = record_of(1)
    client = client_of(log_of(record), token=TOKEN, feedback_token=FEEDBACK_TOKEN)
    assert give(client, record.id, bearer(TOKEN), score=1).status == 200
    assert give(client, record.id, bearer("wrong"), score=1).status == 401
    assert give(client, record.id, score=1).status == 401
    assert give(client_of(token=TOKEN), record.id, bearer(FEEDBACK_TOKEN), score=1).status == 401
