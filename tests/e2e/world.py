"""A relay before a simulated provider, and callers who use it by the official SDK."""

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
_CALLERS: Final = 8


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request as a program makes it. ``directives`` are for the simulated provider, without their ``Sim-``."""

    namespace: str | None = None
    text: str = "Where is my refund?"
    model: str = "gpt-4o-mini"
    properties: dict[str, str] = field(default_factory=dict)
    directives: dict[str, str] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    def asked(self) -> dict[str, Any]:
        """Arguments of the SDK's call."""
        headers = {f"Service-Property-{name}": quote(value, safe=" ") for name, value in self.properties.items()}
        headers |= {f"Sim-{name}": value for name, value in self.directives.items()}
        if self.namespace is not None:
            headers["Service-Namespace"] = quote(self.namespace, safe=" @")
        messages = [{"role": "user", "content": self.text}]
        return {"model": self.model, "messages": messages, **self.more, "extra_headers": headers | self.headers}


class Streamed:
    """An answer that is still coming: ``read`` it to its end, or ``leave``."""

    def __init__(self, raw: Any) -> None:
        self.id = str(raw.headers["service-request-id"])
        self._stream = raw.parse()

    def read(self, chunks: int | None = None) -> str:
        """The text of so many chunks, or of all the rest."""
        text = ""
        for number, chunk in enumerate(self._stream, 1):
            text += "".join(choice.delta.content or "" for choice in chunk.choices)
            if number == chunks:
                break
        return text

    def read_until_it_breaks(self) -> None:
        """Reads an answer that cannot end well."""
        try:
            self.read()
        except (openai.OpenAIError, httpx2.HTTPError):
            return
        raise AssertionError(f"{self.id} was answered whole")

    def leave(self) -> None:
        """Hangs up."""
        self._stream.response.close()


class World:
    """A server with a simulated provider behind it, as callers and readers find it."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.client = openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0)

    @property
    def dashboard(self) -> str:
        """Where the page is, without a slash at the end."""
        return self.server.dashboard.rstrip("/")

    def send(self, call: Call) -> str:
        """Makes a request, reads the answer; the id the caller was told. A refusal has one, too."""
        try:
            raw = self.client.chat.completions.with_raw_response.create(**call.asked())
        except openai.APIStatusError as error:
            return str(error.response.headers["service-request-id"])
        return str(raw.headers["service-request-id"])

    def stream(self, call: Call) -> Streamed:
        """Begins a streamed answer."""
        options = {"include_usage": True}
        asked = {**call.asked(), "stream": True, "stream_options": options}
        return Streamed(self.client.chat.completions.with_raw_response.create(**asked))

    def log(self, *calls: Call) -> list[str]:
        """Makes the requests one after another and waits until all are in the log; their ids."""
        ids = [self.send(call) for call in calls]
        self.wait_for(ids)
        return ids

    def log_many(self, calls: Iterable[Call]) -> list[str]:
        """The same by several callers at a time."""
        with ThreadPoolExecutor(_CALLERS) as callers:
            ids = list(callers.map(self.send, calls))
        self.wait_for(ids)
        return ids

    def talk(self, namespace: str, *questions: str) -> list[str]:
        """A conversation by the SDK, which sends all that was said each time; the ids of its requests."""
        messages: list[Any] = [{"role": "system", "content": "Be brief, whatever they ask."}]
        ids = []
        for question in questions:
            messages.append({"role": "user", "content": question})
            asked = Call(namespace=namespace, directives={"Text": as_wish(f"Answer to {question}")}).asked()
            raw = self.client.chat.completions.with_raw_response.create(**asked | {"messages": messages})
            messages.append(raw.parse().choices[0].message)
            ids.append(str(raw.headers["service-request-id"]))
        self.wait_for(ids)
        return ids

    def wait_for(self, ids: Iterable[str]) -> None:
        """Until all of them are in the log, finished."""
        awaited = set(ids)
        wait_until(lambda: awaited <= {row["id"] for row in self.server.records()}, 20, "all requests in the log")

    def count(self, query: str = "") -> int:
        """How many requests the log has."""
        return len(self.server.records(query))


@contextmanager
def world_in(directory: Path, *flags: str, env: dict[str, str] | None = None) -> Iterator[World]:
    """A fresh one with an empty log."""
    with (
        SimulatedProvider(directory) as provider,
        Server(directory, provider.url, "--price-as", "openai", *flags, env=env) as server,
    ):
        world = World(server)
        try:
            yield world
        finally:
            world.client.close()


def as_wish(text: str) -> str:
    """A text as the simulated provider takes it in a header."""
    return quote(text, safe="")
