"""The sample programs of Anthropic's, Google's and Ollama's APIs work with the simulated upstream."""

import base64
import json
import random
from typing import Any

import httpx2
import pytest
from tests.integration.simulator_wire import Wire, with_simulator

from relaybook_demo.samples import personas, providers
from relaybook_demo.samples.providers import PROGRAMS, Client


@pytest.fixture(autouse=True)
def unpaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(personas, "pace", lambda *_: {})


def run(name: str, times: int, faults: float = 0.0) -> list[tuple[str, Any, dict[str, str]]]:
    """Run the program of an API several times. Returns the path, body and headers of each request."""

    class _Client(Client):
        def is_faulty(self) -> bool:
            return self.rng.random() < faults

    async def test(wire: Wire) -> None:
        program, headers = PROGRAMS[name]
        async with providers.open_http_client() as http:
            client = _Client(http, f"http://127.0.0.1:{wire.port}", headers, random.Random(1))
            for _ in range(times):
                try:
                    await program(client)
                except httpx2.HTTPStatusError:
                    assert faults
        for entry in wire.ledger_entries("request"):
            body = json.loads(base64.b64decode(entry.body or ""))
            sent.append((entry.target or "", body, {key.lower(): value for key, value in entry.headers or ()}))

    sent: list[tuple[str, Any, dict[str, str]]] = []
    with_simulator(test)
    return sent


def test_the_agent_sends_the_whole_session_and_the_results_of_its_tools() -> None:
    sent = run("anthropic", 3)
    assert {target for target, _, _ in sent} == {"/v1/messages"}
    sessions: dict[str, list[Any]] = {}
    for _, body, headers in sent:
        session = headers["x-claude-code-session-id"]
        assert json.loads(body["metadata"]["user_id"])["session_id"] == session
        earlier = sessions.get(session, [])
        assert body["messages"][: len(earlier)] == earlier
        sessions[session] = body["messages"]
    assert len(sessions) == 3
    results = [
        block["content"]
        for messages in sessions.values()
        for message in messages
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    assert len(results) > 3
    assert "Not found." not in results


def test_the_planner_uses_each_method_of_gemini() -> None:
    sent = run("gemini", 8)
    methods = [target.rpartition(":")[2] for target, _, _ in sent]
    assert set(methods) == {"streamGenerateContent?alt=sse", "generateContent", "countTokens", "batchEmbedContents"}
    roles = [
        next(iter(part)) for _, body, _ in sent for content in body.get("contents", ()) for part in content["parts"]
    ]
    assert {"text", "inlineData", "functionCall", "functionResponse"} <= set(roles)


def test_the_notebook_uses_a_local_model() -> None:
    sent = run("ollama", 2)
    assert [target for target, _, _ in sent] == ["/api/chat", "/api/chat", "/api/generate", "/api/embed"] * 2
    assert len(sent[1][1]["messages"]) == 3


@pytest.mark.parametrize("name", ["gemini", "ollama"])
def test_some_requests_fail_on_purpose(name: str) -> None:
    assert len(run(name, 6, faults=1.0)) >= 6
