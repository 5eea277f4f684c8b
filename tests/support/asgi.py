"""Asks an ASGI application directly: raw targets and headers reach it as written, and no socket opens."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from starlette.types import ASGIApp, Message


@dataclass(frozen=True)
class Answer:
    """A whole response; header names are in lower case."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first header of the name."""
        return next((value for key, value in self.headers if key == name.lower()), None)

    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Client:
    """Asks ``app`` with ``headers`` added to every request; a Host is added where none is given."""

    app: ASGIApp
    headers: tuple[tuple[str, str], ...] = ()

    def get(self, target: str, *headers: tuple[str, str]) -> Answer:
        """GET of a raw target such as ``/api/requests?limit=5``."""
        return self.ask("GET", target, *headers)

    def ask(self, method: str, target: str, *headers: tuple[str, str], body: bytes = b"") -> Answer:
        """One request, from its head to the end of its response."""
        return asyncio.run(self._ask(method, target, [*self.headers, *headers], body))

    async def _ask(self, method: str, target: str, headers: list[tuple[str, str]], body: bytes) -> Answer:
        messages: list[Message] = []
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            if waiting:
                return waiting.pop()
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: Message) -> None:
            messages.append(message)

        async with asyncio.timeout(30):
            await self.app(scope_of(method, target, headers), receive, send)
        start = messages[0]
        sent = [(name.decode().lower(), value.decode("latin-1")) for name, value in start["headers"]]
        return Answer(start["status"], sent, b"".join(message.get("body", b"") for message in messages[1:]))


def scope_of(method: str, target: str, headers: list[tuple[str, str]]) -> dict[str, Any]:
    """The scope a server makes of a request's head."""
    path, _, query = target.partition("?")
    if not any(name.lower() == "host" for name, _ in headers):
        headers = [("host", "127.0.0.1:4101"), *headers]
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode("latin-1"),
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 4101),
    }
