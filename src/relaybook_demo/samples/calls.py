"""Send a request with the official SDK and read the response, as an ordinary program does."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import openai

_TIMEOUT_S: Final = 120.0


@dataclass(slots=True)
class Call:
    """A tool call, assembled from the chunks of a stream."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Response:
    """The model's response: text or tool calls."""

    text: str = ""
    calls: list[Call] = field(default_factory=list)

    def message(self) -> dict[str, Any]:
        """Return the response as a message for the next request."""
        if not self.calls:
            return {"role": "assistant", "content": self.text}
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in self.calls
        ]
        return {"role": "assistant", "content": self.text or None, "tool_calls": calls}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request of a sample program.

    ``key`` is the API key. With ``cancel_after_chunks``, the client closes the stream at the chunk with this number.
    """

    kind: str
    key: str
    body: dict[str, Any]
    headers: dict[str, str]
    streamed: bool = False
    cancel_after_chunks: int | None = None
    timeout_s: float | None = None
    retries: int = 0


@asynccontextmanager
async def open_client(base_url: str) -> AsyncIterator[openai.AsyncOpenAI]:
    """Open a client for all sample programs. The client ignores the environment, including proxies."""
    http = openai.DefaultAsyncHttpxClient(trust_env=False, event_hooks={"request": [_remove_status_directive]})
    async with openai.AsyncOpenAI(
        base_url=base_url, api_key="none", http_client=http, max_retries=0, timeout=_TIMEOUT_S
    ) as client:
        yield client


async def _remove_status_directive(request: Any) -> None:
    """If the SDK repeats a request, remove ``Sim-Status``, so that the repeated request does not fail again."""
    if request.headers.get("x-stainless-retry-count", "0") != "0":
        request.headers.pop("Sim-Status", None)


async def send(client: openai.AsyncOpenAI, request: Request) -> Response | None:
    """Send a request and return the response.

    `None` if the request failed or was canceled. Some samples fail or are canceled on purpose.
    """
    client = client.with_options(
        api_key=request.key, max_retries=request.retries, timeout=request.timeout_s or _TIMEOUT_S
    )
    options: dict[str, Any] = {**request.body, "extra_headers": request.headers}
    try:
        match request.kind:
            case "chat":
                return await (_streamed(client, request, options) if request.streamed else _whole(client, options))
            case "responses":
                return await _response(client, request.streamed, options)
            case "embeddings":
                await client.embeddings.create(**options)
            case _:
                await client.models.list(**options)
    except openai.OpenAIError:
        return None
    return Response()


async def _whole(client: openai.AsyncOpenAI, options: dict[str, Any]) -> Response:
    completion = await client.chat.completions.create(**options)
    message = completion.choices[0].message
    calls = [Call(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()]
    return Response(message.content or "", calls)


async def _streamed(client: openai.AsyncOpenAI, request: Request, options: dict[str, Any]) -> Response | None:
    response, chunks = Response(), 0
    async with await client.chat.completions.create(**options, stream=True) as stream:
        async for chunk in stream:
            chunks += 1
            if chunks == request.cancel_after_chunks:
                return None
            for choice in chunk.choices:
                if choice.index == 0:
                    add_delta(response, choice.delta)
    return response


def add_delta(response: Response, delta: Any) -> None:
    """Add one delta of a stream to the response. Tool calls are identified by their index."""
    response.text += delta.content or ""
    for call_delta in delta.tool_calls or ():
        while len(response.calls) <= call_delta.index:
            response.calls.append(Call())
        call = response.calls[call_delta.index]
        call.id = call_delta.id or call.id
        if call_delta.function is not None:
            call.name += call_delta.function.name or ""
            call.arguments += call_delta.function.arguments or ""


async def _response(client: openai.AsyncOpenAI, streamed: bool, options: dict[str, Any]) -> Response:
    if not streamed:
        return Response((await client.responses.create(**options)).output_text)
    response = Response()
    async with await client.responses.create(**options, stream=True) as stream:
        async for event in stream:
            if event.type == "response.output_text.delta":
                response.text += event.delta
    return response
