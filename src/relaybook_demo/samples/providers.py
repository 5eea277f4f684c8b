"""Send sample requests in the formats of Anthropic, Google and Ollama, each to its own base URL.

The requests are sent with the HTTP client of the OpenAI SDK. A coding agent uses Anthropic's API, a planner uses
Google's, and a notebook uses a local model in Ollama.
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import httpx2
import openai

from relaybook_demo.samples import personas, questions, tools

AGENT_MODEL: Final = "claude-sonnet-5-5"
PLANNER_MODEL: Final = "gemini-3.8-flash"
LOCAL_MODEL: Final = "llama3.2"

_SEED: Final = 1947
_TIMEOUT_S: Final = 120.0
_PAUSE: Final = (8.0, 20.0)
_FAULT_PROBABILITY: Final = 0.12
_AGENT_KEY: Final = "sk-ant-demo-workshop-5d19c0"
_GEMINI_KEY: Final = "AIzaSy-demo-daybook-83b2f1"
_AGENT_TOOLS: Final = (
    ("read_file", "Read a file of the project", "name", "^(parser|journal|clock)$"),
    ("run_tests", "Run the tests of a directory", "suite", "^(unit|integration)$"),
)
_AGENT_RESULTS: Final = {
    "parser": "line 41 of parser.py is `return lines[:-1]`, which drops the last line.",
    "journal": "journal.py opens the file in text mode, so that line ends are translated.",
    "clock": "clock.py reads the wall clock, which can go backwards.",
    "unit": "214 tests passed, none failed.",
    "integration": "Exit code: 1\n38 tests passed, 1 failed: `test_the_last_line_is_kept`.",
}
_AGENT_SESSIONS: Final = (
    (
        "Why does the parser drop the last line?",
        "Fix it and run the unit tests.",
        "Now run the integration tests.",
        "Write the message of the commit.",
    ),
    ("Does the journal work on Windows?", "Run the unit tests before you change anything.", "Thank you."),
    ("Is the clock safe for durations?", "Run the integration tests."),
)
_PLANNER_TURNS: Final = (
    ("What should I wear in Hamburg today?", "And in Lisbon tomorrow?"),
    ("Give me a recipe for a quick dinner.", "What can I do with the leftovers?"),
)
_LOCAL_PROMPTS: Final = ("Tell me a joke about teapots.", "Explain recursion in one sentence.", "Hello!")


@dataclass(frozen=True, slots=True)
class Client:
    """A program that sends requests to one base URL. ``headers`` are sent with each request."""

    http: httpx2.AsyncClient
    base_url: str
    headers: dict[str, str]
    rng: random.Random

    async def post(self, path: str, body: dict[str, Any], model: str, **headers: str) -> Any:
        """Send a request and return the JSON of the response. Raises ``httpx2.HTTPError``."""
        response = await self.http.post(self.base_url + path, json=body, headers=self._headers(model, headers))
        return response.raise_for_status().json()

    async def stream(self, path: str, body: dict[str, Any], model: str, **headers: str) -> AsyncIterator[Any]:
        """Send a request and yield the JSON of each event or line of the response. Raises ``httpx2.HTTPError``."""
        options: Any = {"json": body, "headers": self._headers(model, headers)}
        async with self.http.stream("POST", self.base_url + path, **options) as response:
            response.raise_for_status()
            async for line in response.aiter_lines():
                data = line.removeprefix("data:").strip()
                if data.startswith("{"):
                    yield json.loads(data)

    def is_faulty(self) -> bool:
        """Decide whether the next request fails on purpose."""
        return self.rng.random() < _FAULT_PROBABILITY

    def _headers(self, model: str, headers: dict[str, str]) -> dict[str, str]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return {**self.headers, **personas.pace(model, self.rng), **named}


@dataclass(slots=True)
class AgentSession:
    """A session of a coding agent, which sends the whole conversation with each request to Anthropic's API."""

    client: Client
    session_id: str
    messages: list[dict[str, Any]] = field(default_factory=list)

    async def ask(self, text: str) -> None:
        """Ask a question. Tools run until the model responds with text."""
        content: Any = text
        while content:
            self.messages.append({"role": "user", "content": content})
            blocks = await self._request()
            self.messages.append({"role": "assistant", "content": blocks})
            content = [
                {"type": "tool_result", "tool_use_id": block["id"], "content": _agent_result(block["input"])}
                for block in blocks
                if block["type"] == "tool_use"
            ]

    async def _request(self) -> list[dict[str, Any]]:
        """Send the conversation and return the blocks of the streamed message."""
        body = {
            "model": AGENT_MODEL,
            "max_tokens": 8000,
            "system": "You are a coding agent. Read before you write, and run the tests.",
            "messages": self.messages,
            "tools": [_agent_tool(*each) for each in _AGENT_TOOLS],
            "thinking": {"type": "enabled", "budget_tokens": 2048},
            "metadata": {"user_id": json.dumps({"device_id": "laptop-4", "session_id": self.session_id})},
            "stream": True,
        }
        headers = {"x_api_key": _AGENT_KEY, "anthropic_version": "2023-06-01"}
        blocks: list[dict[str, Any]] = []
        arguments = ""
        async for event in self.client.stream(
            "/v1/messages", body, AGENT_MODEL, X_Claude_Code_Session_Id=self.session_id, **headers
        ):
            match event["type"]:
                case "content_block_start":
                    blocks.append(event["content_block"])
                    arguments = ""
                case "content_block_delta":
                    arguments += add_delta(blocks[event["index"]], event["delta"])
                case "content_block_stop" if blocks[event["index"]]["type"] == "tool_use":
                    blocks[event["index"]]["input"] = json.loads(arguments)
        return blocks


def add_delta(block: dict[str, Any], delta: dict[str, Any]) -> str:
    """Add one delta of a stream to a block of an Anthropic message. Returns the part of a tool's arguments in it."""
    for name in ("text", "thinking", "signature"):
        if name in delta:
            block[name] += delta[name]
    return str(delta.get("partial_json", ""))


async def run_agent(client: Client) -> None:
    """Run one session of the coding agent."""
    session = AgentSession(client, str(UUID(int=client.rng.getrandbits(128), version=4)))
    for turn in client.rng.choice(_AGENT_SESSIONS):
        await session.ask(turn)


async def run_planner(client: Client) -> None:
    """Hold one conversation with Gemini, or count, embed, or describe a picture."""
    key = {"x_goog_api_key": _GEMINI_KEY}
    path = f"/v1beta/models/{PLANNER_MODEL}"
    if client.rng.random() < 0.4:
        picture = {"inlineData": {"mimeType": "image/png", "data": questions.DATA_URL.partition(",")[2]}}
        contents = [{"role": "user", "parts": [{"text": "What does the picture show?"}, picture]}]
        await client.post(f"{path}:countTokens", {"contents": contents}, PLANNER_MODEL, **key)
        await client.post(f"{path}:generateContent", {"contents": contents}, PLANNER_MODEL, **key)
        requests = [
            {"model": "models/gemini-embedding-001", "content": {"parts": [{"text": name}]}}
            for name in questions.PRODUCTS[:4]
        ]
        embed = "/v1beta/models/gemini-embedding-001:batchEmbedContents"
        await client.post(embed, {"requests": requests}, "gemini-embedding-001", **key)
        return
    contents = []
    for turn in client.rng.choice(_PLANNER_TURNS):
        contents.append({"role": "user", "parts": [{"text": turn}]})
        while contents[-1]["role"] == "user":
            parts = await _generate(client, path, contents, key)
            contents.append({"role": "model", "parts": parts})
            results = [
                {"functionResponse": {"name": call["name"], "id": call.get("id"), "response": _function_result(call)}}
                for call in (part["functionCall"] for part in parts if "functionCall" in part)
            ]
            contents += [{"role": "user", "parts": results}] if results else []


async def _generate(
    client: Client, path: str, contents: list[dict[str, Any]], key: dict[str, str]
) -> list[dict[str, Any]]:
    """Return the parts of streamed content. Texts are joined, and thoughts are dropped."""
    function = tools.TOOLS["get_weather"]["function"]
    declaration = {
        "name": function["name"],
        "description": function["description"],
        "parametersJsonSchema": function["parameters"],
    }
    body = {
        "contents": contents,
        "systemInstruction": {"parts": [{"text": personas.PLANNER.system}]},
        "tools": [{"functionDeclarations": [declaration]}],
        "generationConfig": {"temperature": 0.4, "thinkingConfig": {"includeThoughts": True}},
    }
    fault = {"Sim_Status": "429"} if client.is_faulty() else {}
    text, calls = "", []
    async for chunk in client.stream(f"{path}:streamGenerateContent?alt=sse", body, PLANNER_MODEL, **key, **fault):
        for part in chunk["candidates"][0]["content"].get("parts", ()):
            if "functionCall" in part:
                calls.append(part)
            elif not part.get("thought"):
                text += part["text"]
    return calls or [{"text": text}]


async def run_local_model(client: Client) -> None:
    """Hold one conversation with a local model, and complete one prompt. Sometimes the model is not installed."""
    model = "llama4" if client.is_faulty() else LOCAL_MODEL
    messages = [{"role": "user", "content": client.rng.choice(_LOCAL_PROMPTS)}]
    answer = await _chat_locally(client, model, messages)
    messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": "Shorter, please."}]
    await _chat_locally(client, model, messages)
    prompt = {"model": LOCAL_MODEL, "prompt": "Write a title for this notebook.", "think": True, "stream": False}
    await client.post("/api/generate", prompt, LOCAL_MODEL)
    inputs = {"model": "nomic-embed-text", "input": list(questions.PRODUCTS[:3])}
    await client.post("/api/embed", inputs, "nomic-embed-text")


async def _chat_locally(client: Client, model: str, messages: list[dict[str, str]]) -> str:
    """Return the text of a streamed chat."""
    lines = client.stream("/api/chat", {"model": model, "messages": messages}, model)
    return "".join([line["message"]["content"] async for line in lines])


#: The sample program of each API, and the headers of its requests.
PROGRAMS: Final[dict[str, tuple[Callable[[Client], Awaitable[None]], dict[str, str]]]] = {
    "anthropic": (run_agent, {"Service-Namespace": "development", "Service-Property-Tool": "agent"}),
    "gemini": (run_planner, {"Service-Namespace": "web", "Service-Property-Tool": "planner"}),
    "ollama": (run_local_model, {"Service-Namespace": "development", "Service-Property-Tool": "notebook"}),
}


async def send_provider_samples(base_urls: Mapping[str, str]) -> None:
    """Run the program of each API in ``base_urls`` again and again, until canceled.

    The keys are ``anthropic``, ``gemini`` and ``ollama``. A base URL is the one that the SDK of the API gets.
    """
    async with open_http_client() as http, asyncio.TaskGroup() as group:
        for number, (name, base_url) in enumerate(base_urls.items()):
            program, headers = PROGRAMS[name]
            rng = random.Random(_SEED + number)  # noqa: S311 - the same demo for everybody
            group.create_task(_repeat(program, Client(http, base_url, headers, rng)))


def open_http_client() -> httpx2.AsyncClient:
    """Return a client that ignores the environment, including proxies."""
    return openai.DefaultAsyncHttpxClient(trust_env=False, timeout=_TIMEOUT_S)


async def _repeat(program: Callable[[Client], Awaitable[None]], client: Client) -> None:
    while True:
        with suppress(httpx2.HTTPError):  # some requests fail on purpose
            await program(client)
        await asyncio.sleep(client.rng.uniform(*_PAUSE))


def _agent_tool(name: str, purpose: str, parameter: str, pattern: str) -> dict[str, Any]:
    properties = {parameter: {"type": "string", "pattern": pattern}}
    schema = {"type": "object", "properties": properties, "required": [parameter]}
    return {"name": name, "description": purpose, "input_schema": schema}


def _agent_result(arguments: dict[str, str]) -> str:
    return next((_AGENT_RESULTS[value] for value in arguments.values() if value in _AGENT_RESULTS), "Not found.")


def _function_result(call: dict[str, Any]) -> Any:
    return json.loads(tools.run(call["name"], json.dumps(call["args"])))
