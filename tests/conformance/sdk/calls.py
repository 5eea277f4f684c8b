"""Make calls with the official SDK. Its client uses the relay's base URL and one additional header."""

import asyncio
import base64
import http.client
import json
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urlsplit
from uuid import uuid4

import openai
from openai.types.chat import ChatCompletionChunk
from tests.support.parts import parts_of, text_of
from tests.support.server import Server, SimulatedProvider, wait_until

KEY: Final = "sk-sdk-client-1234567890"
QUESTION: Final[Any] = [{"role": "user", "content": "Can I get a refund?"}]
TOOLS: Final[Any] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
        },
    }
    for name in ("weather", "news")
]


@dataclass(frozen=True)
class World:
    """A relay and its upstream. ``route`` is the route that clients use; it is empty for the default route."""

    server: Server
    provider: SimulatedProvider
    route: str = ""

    @property
    def mount(self) -> str:
        """The path that precedes ``/v1``."""
        return f"/{self.route}" if self.route else ""

    @property
    def base_url(self) -> str:
        """The base URL of the relay for OpenAI's SDK."""
        return f"http://127.0.0.1:{self.server.port}{self.mount}/v1"

    def client(self, namespace: str | None = None, **options: Any) -> openai.OpenAI:
        return openai.OpenAI(**self._options(namespace, options))

    def async_client(self, namespace: str | None = None, **options: Any) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(**self._options(namespace, options))

    def direct_client(self, **options: Any) -> openai.OpenAI:
        """Return a client that does not use the relay."""
        return openai.OpenAI(**{"base_url": self.provider.url, "api_key": KEY, "max_retries": 0, **options})

    def _options(self, namespace: str | None, options: dict[str, Any]) -> dict[str, Any]:
        headers = {} if namespace is None else {"Service-Namespace": namespace}
        defaults = {"base_url": self.base_url, "api_key": KEY, "max_retries": 0, "default_headers": headers}
        return {**defaults, **options}

    def recorded(self, namespace: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait until a namespace has this many records. Returns the records by start time, earliest first."""
        query = f"namespace={quote(namespace, safe='')}"
        found = wait_until(lambda: [] if len(rows := self.server.records(query)) < count else rows, what=query)
        assert len(found) == count, found
        return sorted(found, key=lambda row: row["started_at"])

    def requests(self, tag: str) -> list[dict[str, Any]]:
        """Return the upstream's ledger entries for requests with this ``Sim-Tag``."""
        connection = http.client.HTTPConnection(urlsplit(self.provider.url).netloc, timeout=10)
        try:
            connection.request("GET", "/__sim/ledger")
            entries = [json.loads(line) for line in connection.getresponse().read().splitlines()]
        finally:
            connection.close()
        return [entry for entry in entries if entry["event"] == "request" and entry.get("tag") == tag]


def unique(word: str = "sdk") -> str:
    """Return a name that no other test uses."""
    return f"{word}-{uuid4().hex[:12]}"


def body_of(entry: dict[str, Any]) -> bytes:
    """Return the request body from a ledger entry."""
    return base64.b64decode(entry["body"])


@dataclass
class Completion:
    """A response from the SDK, either whole or assembled from the chunks of a stream."""

    headers: Any
    sent: bytes
    completion_id: str
    model: str
    choices: list["Choice"]
    usage: Any
    chunks: int = 0

    @property
    def request_id(self) -> str:
        return str(self.headers["service-request-id"])


@dataclass
class Choice:
    """One choice of a response: text, reasoning, tool calls (name, arguments) and finish reason."""

    text: str = ""
    reasoning: str = ""
    tools: list[list[str]] = field(default_factory=list)
    finish_reason: str | None = None


def chat(world: World, style: str, namespace: str | None = None, **parameters: Any) -> Completion:
    """Request a chat completion with the ``sync`` or ``async`` client. A stream is read to its end."""
    parameters = {"model": "gpt-4o-mini", "messages": QUESTION, **parameters}
    if parameters.get("stream"):
        return _chat_streamed(world, style, namespace, parameters)
    if style == "sync":
        with world.client(namespace) as client:
            raw: Any = client.chat.completions.with_raw_response.create(**parameters)
    else:

        async def call(client: openai.AsyncOpenAI) -> Any:
            return await client.chat.completions.with_raw_response.create(**parameters)

        raw = in_loop(world.async_client(namespace), call)
    completion = raw.parse()
    choices = [
        Choice(
            choice.message.content or "",
            (choice.message.model_extra or {}).get("reasoning_content", ""),
            [[call.function.name, call.function.arguments] for call in choice.message.tool_calls or []],
            choice.finish_reason,
        )
        for choice in completion.choices
    ]
    sent = raw.http_request.content
    return Completion(raw.headers, sent, completion.id, completion.model, choices, completion.usage)


def _chat_streamed(world: World, style: str, namespace: str | None, parameters: dict[str, Any]) -> Completion:
    chunks: list[ChatCompletionChunk] = []
    if style == "sync":
        with world.client(namespace) as client:
            raw: Any = client.chat.completions.with_raw_response.create(**parameters)
            chunks += raw.parse()
    else:

        async def call(client: openai.AsyncOpenAI) -> Any:
            raw = await client.chat.completions.with_raw_response.create(**parameters)
            async for chunk in raw.parse():
                chunks.append(chunk)
            return raw

        raw = in_loop(world.async_client(namespace), call)
    usage = next((chunk.usage for chunk in chunks if chunk.usage is not None), None)
    choices = assemble(chunks)
    return Completion(raw.headers, raw.http_request.content, chunks[0].id, chunks[0].model, choices, usage, len(chunks))


def assemble(chunks: list[ChatCompletionChunk]) -> list[Choice]:
    """Assemble the chunks of a stream as an application does."""
    choices: dict[int, Choice] = {}
    for delta in (choice for chunk in chunks for choice in chunk.choices):
        choice = choices.setdefault(delta.index, Choice())
        choice.text += delta.delta.content or ""
        choice.reasoning += (delta.delta.model_extra or {}).get("reasoning_content") or ""
        choice.finish_reason = delta.finish_reason or choice.finish_reason
        for call in delta.delta.tool_calls or []:
            if call.index == len(choice.tools):
                choice.tools.append(["", ""])
            function = call.function
            choice.tools[call.index][0] += (function.name if function else None) or ""
            choice.tools[call.index][1] += (function.arguments if function else None) or ""
    return [choices[index] for index in sorted(choices)]


def in_loop(
    client: AbstractAsyncContextManager[openai.AsyncOpenAI],
    call: Callable[[openai.AsyncOpenAI], Coroutine[Any, Any, Any]],
) -> Any:
    """Run a call in a new event loop."""

    async def main() -> Any:
        async with client as opened:
            return await call(opened)

    return asyncio.run(main())


def assert_matches(record: dict[str, Any], completion: Completion) -> None:
    """Assert that the record matches the response that the SDK returned."""
    assert (record["outcome"], record["status"], record["failed"]) == ("complete", 200, False)
    assert record["kind"] == "chat"
    assert record["model"] == json.loads(completion.sent)["model"]
    assert (record["response_model"], record["completion_id"]) == (completion.model, completion.completion_id)
    assert record["provider_request_id"] == completion.headers["x-request-id"]
    assert record["request_bytes"] == len(completion.sent)
    assert record["finish_reason"] == completion.choices[0].finish_reason
    assert record["cost_usd"] is not None
    assert record["cost_usd"] > 0
    assert (record["error_code"], record["error_message"], record["warnings"]) == (None, None, [])
    logged = [
        Choice(
            text_of(output, "text"),
            text_of(output, "reasoning"),
            [[call["name"], call["arguments"]] for call in parts_of(output, "tool_call")],
            output.get("finish_reason"),
        )
        for output in record["response"]["outputs"]
    ]
    assert logged == completion.choices
    if completion.usage is not None:
        tokens = (record["input_tokens"], record["output_tokens"], record["tokens_estimated"])
        assert tokens == (completion.usage.prompt_tokens, completion.usage.completion_tokens, False)
        assert record["cached_tokens"] == completion.usage.prompt_tokens_details.cached_tokens
        assert record["reasoning_tokens"] == completion.usage.completion_tokens_details.reasoning_tokens
