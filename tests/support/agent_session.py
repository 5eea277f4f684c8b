"""Generate the requests of an agent's session in the format of an API, with a ledger of its models and tools."""

import json
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from tests.support.api_log import entry_of, record_of

from relaybook.apis import BY_KIND, Kind, Match
from relaybook.log.formats.message_chain import build_chain
from relaybook.log.formats.reading import read_request, read_response
from relaybook.log.record import encode_chain
from relaybook.log.store.entry import Entry

#: ``linked`` is the Responses API with ``previous_response_id``, so that requests have only the new messages.
Format = Literal["chat", "response", "linked", "message", "generate"]
KINDS: dict[Format, Kind] = {
    "chat": "chat",
    "response": "response",
    "linked": "response",
    "message": "message",
    "generate": "generate",
}
_TOOLS = ("read_file", "grep", "list_dir", "run_tests")
_MS = 1000


@dataclass
class Call:
    """A tool call in the ledger. Times are in milliseconds since the start of the session."""

    name: str
    id: str
    arguments: dict[str, Any]
    start_ms: int = 0
    end_ms: int | None = None
    result: str = ""
    failed: bool = False


@dataclass
class Agent:
    """A conversation: its messages so far, in the format of the API."""

    messages: list[Any]
    new: list[Any] = field(default_factory=list)
    response_id: str | None = None


class AgentSession:
    """Builds a session. ``entries`` are its requests, ``calls`` and ``requests`` are the ledger."""

    def __init__(self, format_: Format, seed: int = 0, **fields: Any) -> None:
        self.random = Random(seed)
        self.format = format_
        self.kind = KINDS[format_]
        self.fields = {"session": "s1", "namespace": "agents", "kind": self.kind} | fields
        self.now_ms = 0
        self.entries: list[Entry] = []
        self.calls: list[Call] = []
        #: Start, end, input tokens, output tokens and cost of each request.
        self.requests: list[tuple[int, int, int, int, float]] = []

    def agent(self, prompt: str) -> Agent:
        return Agent(self._user(prompt))

    def ask(
        self, agent: Agent, text: str, calls: list[Call], *, failed: bool = False, takes_ms: int | None = None
    ) -> Entry:
        """Send the next request of an agent. The response has a text and the calls."""
        start, end = self.now_ms, self.now_ms + (takes_ms or self.random.randrange(200, 3000))
        number = len(self.entries) + 1
        request, response_id = self._request(agent), f"resp_{number}"
        output = [] if failed else self._output(text, calls)
        response = {"error": {"message": "Slow down"}} if failed else self._response(output, response_id)
        tokens = (self.random.randrange(1, 5000), 0 if failed else self.random.randrange(1, 500))
        cost = 0.0 if failed else self.random.randrange(1, 1000) / 1_000_000
        record = record_of(
            number,
            started_at=_us(start),
            ended_at=_us(end),
            failed=failed,
            status=429 if failed else 200,
            input_tokens=tokens[0],
            output_tokens=tokens[1],
            cost_usd=cost,
            completion_id=None if failed else response_id,
            input_preview=text,
            **self.fields,
        )
        entry = entry_of(record, json.dumps(request).encode(), json.dumps(response).encode())
        read = read_request(entry.request.rest[0], Match(BY_KIND[self.kind])) if entry.request else None
        assert read is not None
        found = read_response(json.dumps(response).encode(), self.kind, is_event_stream=False, complete=True).response
        chain = build_chain(read, None if failed else found)
        entry.chain = None if chain is None else encode_chain(chain)
        self.entries.append(entry)
        self.requests.append((start, end, *tokens, cost))
        self.now_ms = end
        if not failed:
            agent.messages = [*agent.messages, *output]
            agent.new, agent.response_id = [], response_id
            for call in calls:
                call.start_ms = end
                self.calls.append(call)
        return entry

    def call(self, name: str, **arguments: Any) -> Call:
        number = self.random.randrange(1 << 40)
        return Call(name, f"call_{number:010x}", arguments)

    def run(self, agent: Agent, calls: list[Call], takes_ms: int) -> None:
        """Run the tools, and add their results to the messages of the agent."""
        self.now_ms += takes_ms
        for call in calls:
            call.end_ms = self.now_ms
        self._add(agent, self._results(calls))

    def say(self, agent: Agent, text: str, after_ms: int) -> None:
        """Add a message of the user."""
        self.now_ms += after_ms
        self._add(agent, self._user(text))

    def _add(self, agent: Agent, messages: list[Any]) -> None:
        agent.messages = [*agent.messages, *messages]
        agent.new += messages

    def _user(self, text: str) -> list[Any]:
        if self.format == "generate":
            return [{"role": "user", "parts": [{"text": text}]}]
        return [{"role": "user", "content": text}]

    def _request(self, agent: Agent) -> dict[str, Any]:
        match self.format:
            case "chat":
                system = {"role": "system", "content": "You are an agent."}
                return {"model": "m", "messages": [system, *agent.messages]}
            case "response":
                return {"model": "m", "instructions": "You are an agent.", "input": agent.messages}
            case "linked":
                sent = agent.new if agent.response_id else agent.messages
                return {"model": "m", "input": sent, "previous_response_id": agent.response_id}
            case "message":
                return {"model": "m", "max_tokens": 9, "system": "You are an agent.", "messages": agent.messages}
            case "generate":
                return {"contents": agent.messages}

    def _output(self, text: str, calls: list[Call]) -> list[Any]:
        match self.format:
            case "chat":
                made = [_chat_call(call) for call in calls]
                return [{"role": "assistant", "content": text or None} | ({"tool_calls": made} if made else {})]
            case "response" | "linked":
                said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
                made = [
                    {"type": "function_call", "name": c.name, "call_id": c.id, "arguments": json.dumps(c.arguments)}
                    for c in calls
                ]
                return [*([said] if text else []), *made]
            case "message":
                said = {"type": "text", "text": text}
                made = [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments} for c in calls]
                return [{"role": "assistant", "content": [*([said] if text else []), *made]}]
            case "generate":
                made = [{"functionCall": {"name": c.name, "args": c.arguments}} for c in calls]
                return [{"role": "model", "parts": [*([{"text": text}] if text else []), *made]}]

    def _response(self, output: list[Any], response_id: str) -> dict[str, Any]:
        match self.format:
            case "chat":
                return {"id": response_id, "choices": [{"index": 0, "message": output[0], "finish_reason": "stop"}]}
            case "response" | "linked":
                return {"id": response_id, "object": "response", "status": "completed", "output": output}
            case "message":
                return {"id": response_id, "type": "message", **output[0], "stop_reason": "tool_use"}
            case "generate":
                return {"responseId": response_id, "candidates": [{"content": output[0], "finishReason": "STOP"}]}

    def _results(self, calls: list[Call]) -> list[Any]:
        match self.format:
            case "chat":
                return [{"role": "tool", "tool_call_id": call.id, "content": call.result} for call in calls]
            case "response" | "linked":
                return [{"type": "function_call_output", "call_id": call.id, "output": call.result} for call in calls]
            case "message":
                blocks = [
                    {"type": "tool_result", "tool_use_id": call.id, "content": call.result}
                    | ({"is_error": True} if call.failed else {})
                    for call in calls
                ]
                return [{"role": "user", "content": blocks}]
            case "generate":
                parts = [
                    {"functionResponse": {"name": c.name, "response": {"error" if c.failed else "output": c.result}}}
                    for c in calls
                ]
                return [{"role": "user", "parts": parts}]


def _chat_call(call: Call) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
    }


def _us(at_ms: int) -> int:
    return record_of(0).started_at + at_ms * _MS


def agent_session(format_: Format, turns: int = 120, seed: int = 0, **fields: Any) -> AgentSession:
    """Return a session with parallel tools, a subagent, a failing tool, a retry, and a call without a result."""
    session = AgentSession(format_, seed, **fields)
    agent = session.agent("Fix the failing test")
    random, step = session.random, 0
    while len(session.entries) < turns - 1:
        step += 1
        if step == 20:
            session.ask(agent, "", [], failed=True)
            session.now_ms += 500
        if step == 30:
            task = session.call("task", prompt="Find all callers of parse()")
            session.ask(agent, "I ask a subagent.", [task])
            subagent = session.agent("Find all callers of parse()")
            for part in range(4):
                found = session.call("grep", pattern=f"parse {part}")
                session.ask(subagent, f"Searching {part}", [found])
                found.result = f"{part} callers"
                session.run(subagent, [found], random.randrange(10, 300))
            session.ask(subagent, "There are 6 callers.", [])
            task.result = "There are 6 callers."
            session.run(agent, [task], 5)
        if step % 25 == 0:
            session.ask(agent, f"Done with step {step}.", [])
            session.say(agent, f"Go on with step {step}", after_ms=60_000)
        calls = [
            session.call(random.choice(_TOOLS), path=f"src/{step}_{at}.py") for at in range(random.choice((1, 1, 2, 4)))
        ]
        session.ask(agent, random.choice(("", f"Step {step}.")), calls)
        for call in calls:
            call.failed = call.name == "run_tests" and random.random() < 0.5
            call.result = "Error: 2 tests failed\n" * 3 if call.failed else f"content of {call.arguments}\n" * 40
        session.run(agent, calls, random.randrange(20, 9000))
    session.ask(agent, "", [session.call("read_file", path="never read")])
    return session
