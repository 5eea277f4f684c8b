"""Test routes, API keys and errors."""

import json
from typing import Any

import pytest

from relaybook_demo.simulator.directives import NO_DIRECTIVES, Directives
from relaybook_demo.simulator.incoming import Request
from relaybook_demo.simulator.provider import metadata_of, reply_to
from relaybook_demo.simulator.replies import Reply, Stamp

STAMP = Stamp("ab", 0)
KEY = (b"Authorization", b"Bearer sk-test")
CHAT = b"/v1/chat/completions"


def send(
    target: bytes = CHAT,
    body: bytes = b"",
    method: str = "POST",
    key: Any = KEY,
    directives: Directives = NO_DIRECTIVES,
) -> Reply:
    request = Request(method, target, [key] if key else [])
    request.begin_body()
    request.add_body(body)
    return reply_to(request, directives, STAMP)


def error_of(reply: Reply) -> Any:
    return json.loads(reply.body)["error"]


@pytest.mark.parametrize("key", [None, (b"authorization", b"Basic x"), (b"authorization", b"Bearer ")])
def test_an_api_key_is_required(key: Any) -> None:
    assert (send(key=key).status, error_of(send(key=key))["code"]) == (401, None)


def test_an_invalid_key_is_rejected() -> None:
    reply = send(key=(b"AUTHORIZATION", b"bearer sk-invalid"))
    assert (reply.status, error_of(reply)["code"]) == (401, "invalid_api_key")


@pytest.mark.parametrize(
    ("body", "status", "code", "param"),
    [
        (b"{", 400, None, None),
        (b"\xff", 400, None, None),
        (b"[]", 400, "invalid_type", None),
        (b"{}", 400, "missing_required_parameter", "messages"),
        (b'{"messages": []}', 400, None, None),
        (b'{"messages": [], "model": "gpt-4o"}', 400, "empty_array", "messages"),
        (b'{"messages": [{}], "model": "gpt-4o", "n": 0}', 400, "invalid_value", "n"),
        (b'{"messages": [{}], "model": "gpt-4o", "n": "1"}', 400, "invalid_type", "n"),
        (b'{"messages": [{}], "model": "llama"}', 404, "model_not_found", None),
    ],
)
def test_an_invalid_body_gets_an_error_in_openai_format(
    body: bytes, status: int, code: str | None, param: str | None
) -> None:
    reply = send(body=body)
    error = error_of(reply)
    assert (reply.status, error["code"], error["param"]) == (status, code, param)
    assert error["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        ("GET", b"/v1/models", 200),
        ("HEAD", b"/v1/models/gpt-4o", 200),
        ("GET", b"/v1/models/nothing", 404),
        ("POST", b"/v1/models", 404),
        ("GET", CHAT, 405),
        ("POST", b"/v1/files", 404),
        ("POST", b"/chat/completions", 404),
        ("OPTIONS", b"/anything", 204),
    ],
)
def test_paths_and_methods_have_their_status(method: str, target: bytes, status: int) -> None:
    assert send(target, method=method).status == status


def test_echo_returns_body_and_type_without_a_key() -> None:
    reply = send(b"/v1/echo/deep?x=1", b"\x00\xff", "PATCH", (b"Content-Type", b"x/y"))
    assert (reply.body, reply.content_type) == (b"\x00\xff", b"x/y")


def test_a_status_directive_gets_an_error_in_openai_format() -> None:
    assert error_of(send(key=None, directives=Directives(status=429)))["code"] == "rate_limit_exceeded"
    assert send(b"/v1/echo", directives=Directives(status=307)).status == 307
    assert (b"upgrade", b"websocket") in send(b"/v1/echo", directives=Directives(status=101)).headers
    assert send(directives=Directives(when="head")).status == 413


def test_every_api_responds() -> None:
    assert send(body=b'{"model": "gpt-4o", "messages": [{"role": "user", "content": "a"}]}').status == 200
    assert send(b"/v1/responses", b'{"model": "gpt-4o", "input": "a"}').status == 200
    assert send(b"/v1/fim/completions", b'{"model": "codestral-latest", "prompt": "a"}').status == 200
    assert send(b"/v1/embeddings", b'{"model": "text-embedding-3-small", "input": "a"}').status == 200


@pytest.mark.parametrize("path", [b"/v1beta/openai/", b"/v1/"])
def test_models_of_other_providers_are_served_on_the_paths_of_openai(path: bytes) -> None:
    for model in ("gemini-2.5-flash", "mistral-small-latest", "llama3.2:1b"):
        body = json.dumps({"model": model, "messages": [{"role": "user", "content": "a"}]}).encode()
        assert json.loads(send(path + b"chat/completions", body).body)["model"] == model
    embeddings = b'{"model": "gemini-embedding-001", "input": "a"}'
    assert send(path + b"embeddings", embeddings).status == 200
    assert send(path + b"models/gemini-2.5-flash", method="GET").status == 200
    assert send(path + b"models", method="GET", key=None).status == 401


def test_metadata_is_parsed_only_if_it_may_contain_directives() -> None:
    assert metadata_of(b'{"metadata": {"a": "b"}}') is None
    assert metadata_of(b'{"metadata": {"sim_delay_ms": "5"}}') == {"sim_delay_ms": "5"}
    assert metadata_of(b'{"metadata": ["sim_"], "sim_": 1}') is None
    assert metadata_of(b'{"sim_') is None
