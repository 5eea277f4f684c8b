"""A relay with a simulated upstream, and clients that send requests with the official SDK."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx2
import openai
from tests.support.server import Server, SimulatedProvider, wait_until

KEY: Final = "sk-caller-1234567890"
_CLIENTS: Final = 8


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request of a client. ``directives`` are for the simulated upstream, without their ``Sim-`` prefix."""

    namespace: str | None = None
    text: str = "Where is my refund?"
    model: str = "gpt-4o-mini"
    properties: dict[str, str] = field(default_factory=dict)
    directives: dict[str, str] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the SDK's call."""
        headers = {f"Service-Property-{name}": quote(value, safe=" ") for name, value in self.properties.items()}
        headers |= {f"Sim-{name}": value for name, value in self.directives.items()}
        if self.namespace is not None:
            headers["Service-Namespace"] = quote(self.namespace, safe=" @")
        messages = [{"role": "user", "content": self.text}]
        return {"model": self.model, "messages": messages, **self.more, "extra_headers": headers | self.headers}


class Streamed:
    """A response that is still arriving. Call ``read`` to receive its end, or ``abandon`` to disconnect."""

    def __init__(self, raw: Any) -> None:
        self.id = str(raw.headers["service-request-id"])
        self._stream = raw.parse()

    def read(self, chunks: int | None = None) -> str:
        """Return the text of this many chunks, or of all remaining chunks."""
        text = ""
        for number, chunk in enumerate(self._stream, 1):
            text += "".join(choice.delta.content or "" for choice in chunk.choices)
            if number == chunks:
                break
        return text

    def read_until_it_breaks(self) -> None:
        """Read a response, and assert that it breaks before its end."""
        try:
            self.read()
        except (openai.OpenAIError, httpx2.HTTPError):
            return
        raise AssertionError(f"{self.id} got a complete response")

    def abandon(self) -> None:
        """Disconnect."""
        self._stream.response.close()


class World:
    """A server with a simulated upstream, as clients and users see it."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.client = openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0)

    @property
    def dashboard(self) -> str:
        """The URL of the page, without a slash at the end."""
        return self.server.dashboard.rstrip("/")

    def send(self, call: Call) -> str:
        """Send a request and read the response. Returns the request id, even if the response is an error."""
        try:
            raw = self.client.chat.completions.with_raw_response.create(**call.parameters())
        except openai.APIStatusError as error:
            return str(error.response.headers["service-request-id"])
        return str(raw.headers["service-request-id"])

    def stream(self, call: Call) -> Streamed:
        """Start a streamed response."""
        options = {"include_usage": True}
        asked = {**call.parameters(), "stream": True, "stream_options": options}
        return Streamed(self.client.chat.completions.with_raw_response.create(**asked))

    def log(self, *calls: Call) -> list[str]:
        """Send requests one after another and wait until all are recorded. Returns their ids."""
        ids = [self.send(call) for call in calls]
        self.wait_for(ids)
        return ids

    def log_many(self, calls: Iterable[Call]) -> list[str]:
        """Send requests concurrently and wait until all are recorded. Returns their ids."""
        with ThreadPoolExecutor(_CLIENTS) as callers:
            ids = list(callers.map(self.send, calls))
        self.wait_for(ids)
        return ids

    def talk(self, namespace: str, *questions: str, headers: dict[str, str] | None = None) -> list[str]:
        """Run a conversation with the SDK, which sends the whole history each time. Returns the request ids."""
        messages: list[Any] = [{"role": "system", "content": "Be brief, whatever they ask."}]
        ids = []
        for question in questions:
            messages.append({"role": "user", "content": question})
            directives = {"Text": as_directive(f"Answer to {question}")}
            asked = Call(namespace=namespace, directives=directives, headers=headers or {}).parameters()
            raw = self.client.chat.completions.with_raw_response.create(**asked | {"messages": messages})
            messages.append(raw.parse().choices[0].message)
            ids.append(str(raw.headers["service-request-id"]))
        self.wait_for(ids)
        return ids

    def wait_for(self, ids: Iterable[str]) -> None:
        """Wait until all requests with these ids are finished and recorded."""
        expected = set(ids)
        wait_until(lambda: expected <= {row["id"] for row in self.server.records()}, 20, "all requests in the log")

    def count(self, query: str = "") -> int:
        """Return the number of requests in the log."""
        return len(self.server.records(query))


@contextmanager
def world_in(directory: Path, *flags: str, env: dict[str, str] | None = None) -> Iterator[World]:
    """Run a new world with an empty log."""
    with (
        SimulatedProvider() as provider,
        Server(directory, provider.url, "--price-as", "openai", *flags, env=env) as server,
    ):
        world = World(server)
        try:
            yield world
        finally:
            world.client.close()


def as_directive(text: str) -> str:
    """Return a text in the encoding of the simulated upstream's directives."""
    return quote(text, safe="")
