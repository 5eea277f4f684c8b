"""Test that ``show --thread`` prints the turns, the calls of each turn, and the totals."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.agent_session import AgentSession
from tests.support.memory_store import MemoryStore

from relaybook import clock
from relaybook.cli import show_thread as module
from relaybook.cli.failure import BadArgument, CommandFailed
from relaybook.log.ask.asker import Asker
from relaybook.log.ask.errors import AskError
from relaybook.log.query.parameters import parse_filter
from relaybook.log.store.port import Batch
from relaybook.settings.configuration import Configuration, resolve


class AgentLog:
    """A fake log with a session of an agent: two parallel calls, of which one fails, and one call without a result."""

    def __init__(self) -> None:
        session = AgentSession("chat")
        agent = session.agent("Fix it")
        calls = [session.call("read_file", path="a.py"), session.call("run\x1b", suite="all")]
        session.ask(agent, "Fix it", calls, takes_ms=1500)
        calls[0].result, calls[1].result = "line\n" * 212, "Error: 2 failed"
        session.run(agent, calls, 2000)
        session.ask(agent, "read_file: 212 lines", [session.call("grep", pattern="x" * 99)], takes_ms=500)
        self.store = MemoryStore()
        self.store.commit(Batch(entries=session.entries))

    def lanes(self, terms: list[tuple[str, str]]) -> Any:
        ((name, value),) = terms
        selected = value if name == "conversation" else parse_filter(terms, clock.wall_us())
        try:
            return msgspec.to_builtins(Asker(self.store, clock.monotonic_ns() + 10**10).lanes(selected))
        except AskError:
            return None

    def lag_seconds(self) -> float:
        return 0.0


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configuration:
    monkeypatch.setattr(module, "open_log", lambda _: AgentLog())
    return resolve({"data": "log"}, {}, tmp_path)


def test_turns_calls_and_totals_are_printed(settings: Configuration, capsys: pytest.CaptureFixture[str]) -> None:
    assert module.show_thread(settings, "session=s1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "requests    2"
    assert lines[1] == "tool calls  3 (1 failed, 1 without a result)"
    assert lines[2] == "time        4.00 s in all: model 2.00 s, tools 2.00 s (sum of calls 4.00 s), idle 0.0 ms"
    assert "tool        read_file: 1 call, 2.00 s, longest 2.00 s" in lines
    turns = [line for line in lines if line.startswith("turn ")]
    assert [line.split()[1] for line in turns] == ["1", "2"]
    assert turns[1].endswith("✓ 200  read_file: 212 lines")
    at = lines.index(turns[0])
    assert (
        lines[at + 1]
        == '           ✓ read_file({"path": "a.py"})  2.00 s → 212 lines: line line line'
        + lines[at + 1].partition("line line line")[2]
    )
    assert lines[at + 2] == '           ✗ run\\x1b({"suite": "all"})  2.00 s → Error: 2 failed'
    assert lines[-1].startswith('           ◌ grep({"pattern": "xxx')
    assert lines[-1].endswith("…)  no result")


def test_an_id_selects_its_conversation(settings: Configuration, capsys: pytest.CaptureFixture[str]) -> None:
    module.show_thread(settings, "resp_2", as_json=True)
    assert json.loads(capsys.readouterr().out)["totals"]["requests"] == 2


@pytest.mark.parametrize("selector", ["nobody", "session=nobody"])
def test_a_thread_without_requests_is_a_failure(settings: Configuration, selector: str) -> None:
    with pytest.raises(CommandFailed, match=f"The log has no .*request .*{selector}"):
        module.show_thread(settings, selector)


@pytest.mark.parametrize("selector", ["model=gpt", "session=", "property.=x", "caf\udce9"])
def test_anything_else_is_no_thread(settings: Configuration, selector: str) -> None:
    with pytest.raises(BadArgument, match="is not a thread"):
        module.show_thread(settings, selector)
