"""Sends one request by the official SDK and reads its answer, as an ordinary program would."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import openai

_TIMEOUT_S: Final = 120.0


@dataclass(slots=True)
class Call:
    """A tool call, put together from its pieces."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Said:
    """What the model said: text, or tools to call."""

    text: str = ""
    calls: list[Call] = field(default_factory=list)

    def message(self) -> dict[str, Any]:
        """As it stands in the next request's messages."""
        if not self.calls:
            return {"role": "assistant", "content": self.text}
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in self.calls
        ]
        return {"role": "assistant", "content": self.text or None, "tool_calls": calls}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request. ``leaves_after_chunks``: the caller hangs up in the middle of the stream."""

    kind: str
    key: str
    body: dict[str, Any]
    headers: dict[str, str]
    streamed: bool = False
    leaves_after_chunks: int | None = None
    timeout_s: float | None = None
    retries: int = 0


@asynccontextmanager
async def opened(base_url: str) -> AsyncIterator[openai.AsyncOpenAI]:
    """A client for all programs of the cast; it takes nothing from the environment, least of all a proxy."""
    http = openai.DefaultAsyncHttpxClient(trust_env=False, event_hooks={"request": [_relent]})
    async with openai.AsyncOpenAI(
        base_url=base_url, api_key="none", http_client=http, max_retries=0, timeout=_TIMEOUT_S
    ) as client:
        yield client


async def _relent(request: Any) -> None:
    """The simulated provider refuses what it is told to refuse; a retry of the SDK's is told nothing of it."""
    if request.headers.get("x-stainless-retry-count", "0") != "0":
        request.headers.pop("Sim-Status", None)


async def send(client: openai.AsyncOpenAI, asked: Asked) -> Said | None:
    """What was answered; None if nothing good came of it, which is part of the traffic."""
    client = client.with_options(api_key=asked.key, max_retries=asked.retries, timeout=asked.timeout_s or _TIMEOUT_S)
    options: dict[str, Any] = {**asked.body, "extra_headers": asked.headers}
    try:
        match asked.kind:
            case "chat":
                return await (_streamed(client, asked, options) if asked.streamed else _whole(client, options))
            case "responses":
                return await _response(client, asked.streamed, options)
            case "embeddings":
                await client.embeddings.create(**options)
            case _:
                await client.models.list(**options)
    except openai.OpenAIError:
        return None
    return Said()


async def _whole(client: openai.AsyncOpenAI, options: dict[str, Any]) -> Said:
    completion = await client.chat.completions.create(**options)
    message = completion.choices[0].message
    calls = [Call(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()]
    return Said(message.content or "", calls)


async def _streamed(client: openai.AsyncOpenAI, asked: Asked, options: dict[str, Any]) -> Said | None:
    said, chunks = Said(), 0
    async with await client.chat.completions.create(**options, stream=True) as stream:
        async for chunk in stream:
            chunks += 1
            if chunks == asked.leaves_after_chunks:
                return None
            for choice in chunk.choices:
                if choice.index == 0:
                    put_together(said, choice.delta)
    return said


def put_together(said: Said, delta: Any) -> None:
    """Adds one piece of a stream; a tool call is known by its index."""
    said.text += delta.content or ""
    for piece in delta.tool_calls or ():
        while len(said.calls) <= piece.index:
            said.calls.append(Call())
        call = said.calls[piece.index]
        call.id = piece.id or call.id
        if piece.function is not None:
            call.name += piece.function.name or ""
            call.arguments += piece.function.arguments or ""


async def _response(client: openai.AsyncOpenAI, streamed: bool, options: dict[str, Any]) -> Said:
    if not streamed:
        return Said((await client.responses.create(**options)).output_text)
    said = Said()
    async with await client.responses.create(**options, stream=True) as stream:
        async for event in stream:
            if event.type == "response.output_text.delta":
                said.text += event.delta
    return said
