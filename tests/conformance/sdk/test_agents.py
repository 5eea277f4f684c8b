"""A session of a coding agent is shown as one conversation, with only what is new in each turn, and its tokens."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest
from tests.conformance.sdk.agents import Agent, ClaudeCode, Codex, GeminiCli, Ledger, Opencode
from tests.conformance.sdk.calls import World, unique
from tests.support.server import Server, SimulatedProvider, wait_until

AGENTS: Final = {agent.__name__: agent for agent in (ClaudeCode, Codex, Opencode, GeminiCli)}
QUESTIONS: Final = 25
TURNS: Final = 2 * QUESTIONS
#: The questions after which a subagent works.
_WITH_SUBAGENT: Final = (3, 11)
_MARK: Final = re.compile(r"mark-[a-z0-9-]+")


@dataclass
class Session:
    """A session that was sent: the page of its thread, and the ledgers of the agent and of its subagents."""

    thread: dict[str, Any]
    agent: Ledger
    subagents: list[Ledger]
    details: list[dict[str, Any]]


def work(agent: Agent, name: str, question: int) -> None:
    """Ask a question, and send the results of the tools that the model calls. Marks make each text unique."""
    mark = f"mark-{name}-{question}"
    turn = agent.ask(f"Read the file and run the tests, {mark}-q.")
    assert [call.name for call in turn.calls] == ["read_file", "run_command"]
    turn = agent.send_results(turn.calls, [f"def f(): ...  # {mark}-r", f"exit code 1: {mark}-e"])
    assert turn.text
    assert turn.calls == []


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("agents")
    with SimulatedProvider() as provider:
        root = provider.url.removesuffix("/v1")
        settings = directory / "relaybook.toml"
        names = dict.fromkeys(agent.route for agent in AGENTS.values())
        settings.write_text("".join(f'[routes.{name}]\nupstream = "{root}"\n' for name in names))
        with Server(directory, provider.url, "--config", str(settings)) as server:
            yield World(server, provider)


@pytest.fixture(scope="module", params=AGENTS)
def session(request: pytest.FixtureRequest, world: World) -> Session:
    kind = AGENTS[request.param]
    name = unique("session")
    agent, subagents = kind(world.server.port, name), list[Agent]()
    for question in range(QUESTIONS):
        work(agent, "main", question)
        if question in _WITH_SUBAGENT:
            headers = {"x-claude-code-agent-id": f"a{question}", "x-claude-code-parent-agent-id": "a-main"}
            subagents.append(kind(world.server.port, name, headers if kind is ClaudeCode else None))
            work(subagents[-1], f"sub{question}", question)
    expected = TURNS + 2 * len(subagents)

    def page() -> dict[str, Any] | None:
        found: dict[str, Any] = world.server.get(f"/api/thread?session={name}&limit=500")
        return found if len(found["data"]) >= expected else None

    thread = wait_until(page, what=f"the thread of {name}")
    details = [world.server.record(row["id"]) for row in thread["data"]]
    return Session(thread, agent.ledger, [each.ledger for each in subagents], details)


def rows_of(session: Session, index: int) -> list[dict[str, Any]]:
    """Return the rows of a conversation. The agent's conversation is the first one."""
    conversation = session.thread["conversations"][index]["conversation"]
    return [row for row in session.thread["data"] if row["conversation"] == conversation]


def test_the_session_is_one_conversation_and_one_of_each_subagent(session: Session) -> None:
    thread = session.thread
    assert thread["is_thread"]
    assert [each["requests"] for each in thread["conversations"]] == [TURNS, *(2 for _ in _WITH_SUBAGENT)]
    for index, conversation in enumerate(thread["conversations"]):
        rows = rows_of(session, index)
        assert [row["turn"] for row in rows] == list(range(1, conversation["requests"] + 1))
        assert [row["follows"] for row in rows] == [None, *(row["id"] for row in rows[:-1])]
        assert [row["repeats"] for row in rows] == [None] * len(rows)
    assert [row["failed"] for row in thread["data"]] == [False] * len(thread["data"])


def test_a_turn_shows_only_what_is_new(session: Session) -> None:
    details = {detail["id"]: detail for detail in session.details}
    for index, ledger in enumerate([session.agent, *session.subagents]):
        for row, texts in zip(rows_of(session, index), ledger.new_texts, strict=True):
            new = row["new_messages"]
            messages = details[row["id"]]["messages"]
            assert new["from"] + new["count"] == len(messages)
            shown = _MARK.findall(json.dumps(messages[new["from"] :]))
            assert shown == [mark for text in texts for mark in _MARK.findall(text)]
            older = _MARK.findall(json.dumps(messages[: new["from"]]))
            assert set(shown) & set(older) == set()


def test_the_tokens_are_those_of_the_clients_ledger(session: Session) -> None:
    ledgers = [session.agent, *session.subagents]
    found = [(each["input_tokens"], each["output_tokens"]) for each in session.thread["conversations"]]
    assert found == [ledger.tokens for ledger in ledgers]
    assert min(min(tokens) for tokens in found) > 0
    total = session.thread["total"]
    if total is not None:  # the aggregates can miss their deadline on a slow machine
        sums = tuple(map(sum, zip(*found, strict=True)))
        assert (total["requests"], total["input_tokens"], total["output_tokens"]) == (len(session.details), *sums)


def test_the_records_have_the_calls_and_the_texts_that_the_client_read(session: Session) -> None:
    details = {detail["id"]: detail for detail in session.details}
    for index, ledger in enumerate([session.agent, *session.subagents]):
        for row, turn in zip(rows_of(session, index), ledger.turns, strict=True):
            (output,) = details[row["id"]]["response"]["outputs"]
            assert "".join(part["text"] for part in output["parts"] if part["kind"] == "text") == turn.text
            calls = [part for part in output["parts"] if part["kind"] == "tool_call"]
            assert [(call["name"], json.loads(call["arguments"])) for call in calls] == [
                (call.name, call.arguments) for call in turn.calls
            ]
            for call, read in zip(calls, turn.calls, strict=True):
                assert read.id is None or call["id"] == read.id


def test_the_requests_of_a_subagent_have_its_id(session: Session) -> None:
    agents = [row["properties"].get("agent") for index in (1, 2) for row in rows_of(session, index)]
    is_claude_code = "claude" in session.details[0]["model"]
    assert agents == (["a3", "a3", "a11", "a11"] if is_claude_code else [None] * 4)
