"""How a request of a client is answered: with a logged response, or with an error of its API."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from relaybook.log.ask.replay import ReplayablePage, ReplayableRequest
from relaybook.log.request_key import key_of
from relaybook.replay.recording import Recording
from relaybook.replay.replayer import Failure, Replayer
from relaybook.replay.source import ClientRequest, LogUnreadable

CHAT = "/v1/chat/completions"


class FakeLog:
    """A log with requests to which all responses are ``{}``."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, bytes]] = []
        self.details: dict[str, dict[str, Any]] = {}
        self.is_readable = True

    def add(self, target: str, body: bytes) -> str:
        name = f"0199a3aa-0000-7000-8000-{len(self.requests):012x}"
        self.requests.append((target, body))
        path, _, query = target.partition("?")
        self.details[name] = {
            "id": name,
            "outcome": "complete",
            "status": 200,
            "reason": None,
            "method": "POST",
            "path": path,
            "query": query,
            "request_headers": [],
            "response_headers": [("Content-Length", "2")],
            "timeline": [],
            "response_bytes": 2,
            "stored_response_bytes": 2,
            "duration_ms": 5.0,
            "error_code": None,
            "error_message": None,
            "stream_ended": None,
        }
        return name

    def replayable(self, terms: Any, after: int, ignored: list[str]) -> ReplayablePage:
        if not self.is_readable:
            raise LogUnreadable("The server does not respond.")
        paths = [field.split(".") for field in ignored]
        data = [
            ReplayableRequest(name, "2026-01-01", "POST", target, key_of(body, paths))
            for name, (target, body) in zip(list(self.details)[after:], self.requests[after:], strict=True)
        ]
        return ReplayablePage(data=data, omitted=0, after=len(self.requests), complete=True)

    def find(self, text: str) -> dict[str, Any] | None:
        return self.details[text]

    def body(self, record_id: str, side: str) -> bytes | None:
        return b"{}" if side == "response" else self.requests[list(self.details).index(record_id)][1]


def replayer_of(log: FakeLog, **options: Any) -> Replayer:
    replayer = Replayer(log, **options)
    replayer.read()
    return replayer


def error_of(replayer: Replayer, target: str, body: bytes = b"{}") -> tuple[int, dict[str, Any]]:
    response = replayer.answer(ClientRequest("POST", target, body)).response
    assert isinstance(response, Failure)
    return response.status, json.loads(response.body)


@pytest.mark.parametrize(
    ("logged", "sent"),
    [
        (CHAT, f"/ns/staging{CHAT}"),
        ("/gemini/v1beta/m?alt=sse&key=key:0123456789ab", "/gemini/v1beta/m?alt=sse&key=AIzaSyExample"),
        ("/azure/chat?api-version=1", "/azure/chat?api-version=1"),
    ],
)
def test_a_namespace_before_the_path_and_keys_in_the_query_make_no_difference(logged: str, sent: str) -> None:
    log = FakeLog()
    log.add(logged.replace("key:0123456789ab", "key"), b"{}")
    answer = replayer_of(log).answer(ClientRequest("POST", sent, b"{}"))
    assert isinstance(answer.response, Recording)


def test_a_request_that_was_logged_meanwhile_is_found() -> None:
    log = FakeLog()
    replayer = replayer_of(log)
    assert error_of(replayer, CHAT)[0] == 404
    name = log.add(CHAT, b"{}")
    assert replayer.answer(ClientRequest("POST", CHAT, b"{}")).header == f"exact; id={name}; number=1/1"


def test_one_id_answers_every_request() -> None:
    log = FakeLog()
    name = log.add(CHAT, b"{}")
    answer = replayer_of(log, only_id=name).answer(ClientRequest("GET", "/anything", b""))
    assert (answer.header, isinstance(answer.response, Recording)) == (f"id; id={name}; number=1/1", True)


MESSAGE: list[Callable[[dict[str, Any]], Any]] = [
    lambda body: body["error"]["message"],
    lambda body: body["error"],
    lambda body: body["message"],
]


@pytest.mark.parametrize(
    ("target", "place"),
    [
        (CHAT, 0),
        ("/anthropic/v1/messages", 0),
        ("/gemini/v1beta/models/gemini-2.5-flash:generateContent", 0),
        ("/ollama/api/chat", 1),
        ("/cohere/v2/chat", 2),
        ("/cohere/v2/embed", 2),
        ("/unknown", 0),
    ],
)
def test_each_sdk_finds_the_message_of_a_404(target: str, place: int) -> None:
    log = FakeLog()
    name = log.add(target, b'{"model": "m"}')
    status, body = error_of(replayer_of(log), target, b'{"model": "n"}')
    assert status == 404
    expected = f'No logged request equals this POST {target}. The nearest is {name}. They differ in model: sent "n"'
    assert MESSAGE[place](body).startswith(expected)


def test_without_a_request_to_the_path_the_message_lists_the_paths() -> None:
    log = FakeLog()
    log.add(CHAT, b"{}")
    message = error_of(replayer_of(log), "/v1/embeddings")[1]["error"]["message"]
    assert message.endswith("The log has: POST /v1/chat/completions.")


def test_with_a_filter_the_message_is_about_the_requests_of_the_filter() -> None:
    log = FakeLog()
    log.add(CHAT, b"{}")
    message = error_of(replayer_of(log, terms=[("namespace", "ios")]), "/v1/embeddings")[1]["error"]["message"]
    assert message == (
        "No request that matches the filter equals this POST /v1/embeddings. No request with this method and path can "
        "be replayed. The filter selects: POST /v1/chat/completions."
    )


def test_a_query_that_differs_is_named() -> None:
    log = FakeLog()
    log.add("/azure/chat?api-version=1", b"{}")
    message = error_of(replayer_of(log), "/azure/chat?api-version=2")[1]["error"]["message"]
    assert "with the query api-version=1" in message


def test_a_log_that_cannot_be_read_is_no_404() -> None:
    log = FakeLog()
    replayer = replayer_of(log)
    log.is_readable = False
    status, body = error_of(replayer, CHAT)
    assert (status, body["error"]["message"]) == (503, "The server does not respond.")
