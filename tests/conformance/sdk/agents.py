"""Send the session of a coding agent in the format of its API, as the agent would, without an SDK.

Each question is answered with two parallel tool calls, of which one fails, and then with text. A subagent asks a
question of its own between them. The client keeps a ledger of what it sent and which tokens the upstream reported.
"""

import http.client
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

KEY: Final = "sk-agent-1234567890"
_PARAMETERS: Final = {"type": "object", "properties": {"path": {"type": "string"}}}
#: The names of the tools. The simulated model calls both if a question has the word "and".
TOOLS: Final = ("read_file", "run_command")
SYSTEM: Final = "You are a coding agent."


@dataclass
class ToolCall:
    """A tool call of the model. ``id`` is `None` if the API has no ids of calls."""

    name: str
    arguments: dict[str, Any]
    id: str | None


@dataclass
class Turn:
    """What a client reads from the response to one request."""

    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass
class Ledger:
    """What the client knows: the new texts of each request, and the tokens of all responses."""

    new_texts: list[list[str]] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)

    @property
    def tokens(self) -> tuple[int, int]:
        return sum(turn.input_tokens for turn in self.turns), sum(turn.output_tokens for turn in self.turns)


class Agent(ABC):
    """A conversation of an agent. Each request has the whole history."""

    #: The route, and the path of the requests below the route.
    route: ClassVar[str]
    path: ClassVar[str]

    def __init__(self, port: int, session: str, headers: dict[str, str] | None = None) -> None:
        self._port = port
        self.session = session
        self._headers = headers or {}
        self.history: list[Any] = []
        self.ledger = Ledger()

    def ask(self, question: str) -> Turn:
        """Send a question."""
        self.add_question(question)
        return self._send([question])

    def send_results(self, calls: list[ToolCall], results: list[str]) -> Turn:
        """Send the results of tool calls. The last tool failed."""
        is_errors = [False] * (len(calls) - 1) + [True]
        self.add_results(list(zip(calls, results, is_errors, strict=True)))
        return self._send(results)

    def _send(self, new_texts: list[str]) -> Turn:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        body = json.dumps(self.body()).encode()
        headers = {"Content-Type": "application/json", **self.headers(), **self._headers}
        connection.request("POST", f"/{self.route}{self.path}", body, headers)
        response = connection.getresponse()
        events = response.read().decode().split("\n\n")
        connection.close()
        assert response.status == 200, events
        lines = [line for event in events for line in event.splitlines() if line.startswith("data: {")]
        turn = self.read([json.loads(line.removeprefix("data: ")) for line in lines])
        self.ledger.new_texts.append(new_texts)
        self.ledger.turns.append(turn)
        return turn

    @abstractmethod
    def headers(self) -> dict[str, str]:
        """Return the headers of a request."""

    @abstractmethod
    def body(self) -> dict[str, Any]:
        """Return the body of a request with the history."""

    @abstractmethod
    def add_question(self, question: str) -> None:
        """Append a question to the history."""

    @abstractmethod
    def add_results(self, results: list[tuple[ToolCall, str, bool]]) -> None:
        """Append the results of tool calls to the history. Each is a call, its result, and whether it failed."""

    @abstractmethod
    def read(self, events: list[Any]) -> Turn:
        """Read the events of a response, and append its message to the history."""


class ClaudeCode(Agent):
    """Anthropic's messages. The last message has a cache mark, which moves with each request."""

    route, path = "anthropic", "/v1/messages?beta=true"

    def headers(self) -> dict[str, str]:
        return {"x-api-key": KEY, "anthropic-version": "2023-06-01", "X-Claude-Code-Session-Id": self.session}

    def body(self) -> dict[str, Any]:
        mark = {"cache_control": {"type": "ephemeral"}}
        *blocks, last = self.history[-1]["content"]
        marked = {**self.history[-1], "content": [*blocks, {**last, **mark}]}
        return {
            "model": "claude-haiku-4-5",
            "max_tokens": 32_000,
            "stream": True,
            "system": [{"type": "text", "text": SYSTEM, **mark}],
            "messages": [*self.history[:-1], marked],
            "tools": [{"name": name, "input_schema": _PARAMETERS} for name in TOOLS],
            "metadata": {"user_id": json.dumps({"device_id": "d" * 64, "session_id": self.session})},
        }

    def add_question(self, question: str) -> None:
        reminder = "<system-reminder>\nThe task list is empty.\n</system-reminder>"
        texts = [reminder, question] if not self.history else [question]
        self.history.append({"role": "user", "content": [{"type": "text", "text": text} for text in texts]})

    def add_results(self, results: list[tuple[ToolCall, str, bool]]) -> None:
        blocks = [
            {"type": "tool_result", "tool_use_id": call.id, "content": result, "is_error": is_error}
            for call, result, is_error in results
        ]
        self.history.append({"role": "user", "content": blocks})

    def read(self, events: list[Any]) -> Turn:
        turn, blocks, arguments = Turn(), list[Any](), dict[int, str]()
        for event in events:
            match event["type"]:
                case "message_start":
                    turn.input_tokens = event["message"]["usage"]["input_tokens"]
                    turn.input_tokens += event["message"]["usage"].get("cache_read_input_tokens") or 0
                case "content_block_start":
                    blocks.append(dict(event["content_block"]))
                case "content_block_delta" if event["delta"]["type"] == "text_delta":
                    blocks[-1]["text"] += event["delta"]["text"]
                case "content_block_delta" if event["delta"]["type"] == "input_json_delta":
                    index = event["index"]
                    arguments[index] = arguments.get(index, "") + event["delta"]["partial_json"]
                case "message_delta":
                    turn.output_tokens = event["usage"]["output_tokens"]
        for index, text in arguments.items():
            blocks[index]["input"] = json.loads(text)
        turn.text = "".join(block["text"] for block in blocks if block["type"] == "text")
        called = [block for block in blocks if block["type"] == "tool_use"]
        turn.calls = [ToolCall(block["name"], block["input"], block["id"]) for block in called]
        self.history.append({"role": "assistant", "content": blocks})
        return turn


class Codex(Agent):
    """OpenAI's Responses API. Responses are not stored, so each request has all items."""

    route, path = "openai", "/v1/responses"

    def headers(self) -> dict[str, str]:
        ids = {"session-id": self.session, "thread-id": self.session, "x-client-request-id": self.session}
        return {"Authorization": f"Bearer {KEY}", "originator": "codex_exec", **ids}

    def body(self) -> dict[str, Any]:
        tools = [{"type": "function", "name": name, "parameters": _PARAMETERS, "strict": False} for name in TOOLS]
        context = {"type": "input_text", "text": "<environment_context>\n  <cwd>/src</cwd>\n</environment_context>"}
        return {
            "model": "gpt-5.1",
            "instructions": SYSTEM,
            "input": [{"type": "message", "role": "user", "content": [context]}, *self.history],
            "tools": tools,
            "parallel_tool_calls": True,
            "store": False,
            "stream": True,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": self.session,
        }

    def add_question(self, question: str) -> None:
        content = [{"type": "input_text", "text": question}]
        self.history.append({"type": "message", "role": "user", "content": content})

    def add_results(self, results: list[tuple[ToolCall, str, bool]]) -> None:
        for call, result, _ in results:
            self.history.append({"type": "function_call_output", "call_id": call.id, "output": result})

    def read(self, events: list[Any]) -> Turn:
        turn = Turn()
        for event in events:
            if event["type"] == "response.output_item.done":
                item = event["item"]
                if item["type"] == "function_call":
                    turn.calls.append(ToolCall(item["name"], json.loads(item["arguments"]), item["call_id"]))
                    kept = {name: item[name] for name in ("type", "name", "arguments", "call_id")}
                else:
                    texts = [part["text"] for part in item["content"]]
                    turn.text += "".join(texts)
                    content = [{"type": "output_text", "text": text} for text in texts]
                    kept = {"type": "message", "role": "assistant", "content": content}
                self.history.append(kept)
            if event["type"] == "response.completed":
                usage = event["response"]["usage"]
                turn.input_tokens, turn.output_tokens = usage["input_tokens"], usage["output_tokens"]
        return turn


class Opencode(Agent):
    """OpenAI's chat completions. The client encodes the arguments of tool calls again, with other white space."""

    route, path = "openai", "/v1/chat/completions"

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {KEY}", "x-session-id": self.session, "x-session-affinity": self.session}

    def body(self) -> dict[str, Any]:
        functions = [{"name": name, "parameters": _PARAMETERS} for name in TOOLS]
        return {
            "model": "gpt-4.1",
            "messages": [{"role": "system", "content": SYSTEM}, *self.history],
            "tools": [{"type": "function", "function": function} for function in functions],
            "tool_choice": "auto",
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    def add_question(self, question: str) -> None:
        self.history.append({"role": "user", "content": question})

    def add_results(self, results: list[tuple[ToolCall, str, bool]]) -> None:
        for call, result, _ in results:
            self.history.append({"role": "tool", "tool_call_id": call.id, "content": result})

    def read(self, events: list[Any]) -> Turn:
        turn, ids, names, arguments = Turn(), list[str](), list[str](), list[str]()
        for event in events:
            for choice in event["choices"]:
                turn.text += choice["delta"].get("content") or ""
                for call in choice["delta"].get("tool_calls") or ():
                    if "id" in call:
                        ids.append(call["id"])
                        names.append(call["function"]["name"])
                        arguments.append("")
                    arguments[call["index"]] += call["function"]["arguments"]
            if event.get("usage"):
                turn.input_tokens = event["usage"]["prompt_tokens"]
                turn.output_tokens = event["usage"]["completion_tokens"]
        parsed = [json.loads(text) for text in arguments]
        turn.calls = [ToolCall(*call) for call in zip(names, parsed, ids, strict=True)]
        message: dict[str, Any] = {"role": "assistant", "content": turn.text}
        if turn.calls:
            functions = [{"name": call.name, "arguments": json.dumps(call.arguments)} for call in turn.calls]
            message["tool_calls"] = [
                {"id": id_, "type": "function", "function": function}
                for id_, function in zip(ids, functions, strict=True)
            ]
        self.history.append(message)
        return turn


class GeminiCli(Agent):
    """Gemini's generateContent. The client sends no session, so its user sets a header for all requests."""

    route, path = "gemini", "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"

    def headers(self) -> dict[str, str]:
        return {"x-goog-api-key": KEY, "x-gemini-api-privileged-user-id": "u-1", "x-session-id": self.session}

    def body(self) -> dict[str, Any]:
        functions = [{"name": name, "parametersJsonSchema": _PARAMETERS} for name in TOOLS]
        return {
            "contents": [
                {"role": "user", "parts": [{"text": "This is the Gemini CLI. The directory is /src."}]},
                {"role": "model", "parts": [{"text": "Got it. Thanks for the context!"}]},
                *self.history,
            ],
            "systemInstruction": {"role": "user", "parts": [{"text": SYSTEM}]},
            "tools": [{"functionDeclarations": functions}],
            "generationConfig": {"temperature": 0, "topP": 1},
        }

    def add_question(self, question: str) -> None:
        self.history.append({"role": "user", "parts": [{"text": question}]})

    def add_results(self, results: list[tuple[ToolCall, str, bool]]) -> None:
        parts = []
        for call, result, is_error in results:
            response = {"name": call.name, "response": {"error" if is_error else "output": result}}
            parts.append({"functionResponse": {"id": call.id, **response} if call.id else response})
        self.history.append({"role": "user", "parts": parts})

    def read(self, events: list[Any]) -> Turn:
        turn, parts = Turn(), list[Any]()
        for event in events:
            for part in event["candidates"][0].get("content", {}).get("parts") or ():
                if "functionCall" in part:
                    call = part["functionCall"]
                    turn.calls.append(ToolCall(call["name"], call["args"], call.get("id")))
                    parts.append(part)
                elif part.get("text"):
                    turn.text += part["text"]
            usage = event.get("usageMetadata") or {}
            turn.input_tokens = usage.get("promptTokenCount", turn.input_tokens)
            turn.output_tokens = usage.get("candidatesTokenCount", turn.output_tokens)
        texts = [{"text": turn.text}] if turn.text else []
        self.history.append({"role": "model", "parts": [*texts, *parts]})
        return turn
