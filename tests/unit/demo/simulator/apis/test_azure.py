"""Test Azure OpenAI of the simulated upstream."""

import json
from typing import Any

import pytest

from relaybook_demo.simulator.directives import NO_DIRECTIVES, Directives
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.provider import reply_to
from relaybook_demo.simulator.replies import Reply, Stamp

STAMP = Stamp("ab", 0)
KEY = (b"api-key", b"azure-test")
CHAT: dict[str, Any] = {"messages": [{"role": "user", "content": "Can I get a refund?"}]}
PATH = "/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21"


def send(path: str = PATH, body: Any = CHAT, key: Any = KEY, directives: Directives = NO_DIRECTIVES) -> Reply:
    request = Request("POST", path.encode(), [key] if key else [])
    request.begin_body()
    request.add_body(body if isinstance(body, bytes) else json.dumps(body).encode())
    return reply_to(request, directives, STAMP)


def error_of(reply: Reply) -> Any:
    return json.loads(reply.body)["error"]


def test_the_deployment_replaces_the_model_of_the_body() -> None:
    body = json.loads(send(body={**CHAT, "model": "anything"}).body)
    assert body["model"] == "gpt-4o-2024-08-06"


def test_the_reply_is_that_of_openai_with_the_results_of_filters() -> None:
    azure = json.loads(send().body)
    request = Request("POST", b"/v1/chat/completions", [(b"authorization", b"Bearer x")])
    request.begin_body()
    request.add_body(json.dumps({**CHAT, "model": "gpt-4o"}).encode())
    openai = json.loads(reply_to(request, NO_DIRECTIVES, STAMP).body)
    assert azure.pop("prompt_filter_results")
    assert azure["choices"][0].pop("content_filter_results")
    assert azure == openai


def test_the_first_chunk_of_a_stream_has_only_the_results_of_filters() -> None:
    first, second, *_, last = send(body={**CHAT, "stream": True}).events or ()
    chunk = json.loads(first.data)
    assert (chunk["id"], chunk["model"], chunk["choices"]) == ("", "", [])
    assert chunk["prompt_filter_results"]
    assert json.loads(second.data)["id"] == "chatcmpl-ab"
    assert last.is_end_mark


@pytest.mark.parametrize("key", [KEY, (b"Authorization", b"Bearer entra-token")])
def test_a_key_and_a_token_are_accepted(key: Any) -> None:
    reply = send(key=key)
    assert reply.status == 200
    assert (b"apim-request-id", b"ab") in reply.headers


@pytest.mark.parametrize("key", [None, (b"api-key", b""), (b"api-key", b"sk-invalid"), (b"authorization", b"Basic x")])
def test_a_request_without_a_valid_key_is_refused(key: Any) -> None:
    reply = send(key=key)
    assert (reply.status, error_of(reply)["code"]) == (401, "401")


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/openai/deployments/nothing/chat/completions?api-version=1", 404, "DeploymentNotFound"),
        ("/openai/deployments/gpt-4o/chat/completions", 404, "404"),
        ("/openai/deployments/gpt-4o/chat?api-version=1", 404, None),
        ("/openai/v1/chat/completions", 400, None),
    ],
)
def test_a_path_without_a_reply_gets_an_error(path: str, status: int, code: str | None) -> None:
    reply = send(path)
    assert (reply.status, error_of(reply)["code"]) == (status, code)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"1"])
def test_a_body_that_is_not_an_object_is_refused(body: bytes) -> None:
    assert send(body=body).status == 400


def test_the_api_without_deployments_has_the_model_in_the_body() -> None:
    body = json.loads(send("/openai/v1/responses", {"model": "gpt-4o", "input": "Hello"}).body)
    assert body["model"] == "gpt-4o-2024-08-06"
    assert send("/openai/v1/embeddings", {"model": "text-embedding-3-small", "input": "tea"}).status == 200
    assert send("/openai/embeddings", {"model": "text-embedding-3-small", "input": "tea"}).status == 404


@pytest.mark.parametrize("status", [429, 500, 418])
def test_a_status_of_a_directive_gets_azures_error(status: int) -> None:
    reply = send(directives=Directives(status=status))
    assert (reply.status, error_of(reply)["code"]) == (status, str(status))
    assert error_of(reply)["message"]
