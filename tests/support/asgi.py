"""Send requests to an ASGI application directly, without a socket. Targets and headers are passed unchanged."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from starlette.types import ASGIApp, Message


@dataclass(frozen=True)
class Response:
    """A complete response. Header names are in lower case."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """Return the first value of a header, or `None` if it is missing."""
        return next((value for key, value in self.headers if key == name.lower()), None)

    def json(self) -> Any:
        """Return the body parsed as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Client:
    """Sends requests to ``app``. Adds ``headers`` to each request, and a Host header if the request has none."""

    app: ASGIApp
    headers: tuple[tuple[str, str], ...] = ()

    def get(self, target: str, *headers: tuple[str, str]) -> Response:
        """Send a GET request for a raw target such as ``/api/requests?limit=5``."""
        return self.request("GET", target, *headers)

    def request(self, method: str, target: str, *headers: tuple[str, str], body: bytes = b"") -> Response:
        """Send a request and return the complete response."""
        return asyncio.run(self._request(method, target, [*self.headers, *headers], body))

    async def _request(self, method: str, target: str, headers: list[tuple[str, str]], body: bytes) -> Response:
        messages: list[Message] = []
        pending = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            if pending:
                return pending.pop()
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: Message) -> None:
            messages.append(message)

        async with asyncio.timeout(30):
            await self.app(scope_of(method, target, headers), receive, send)
        start = messages[0]
        response_headers = [(name.decode().lower(), value.decode("latin-1")) for name, value in start["headers"]]
        return Response(
            start["status"], response_headers, b"".join(message.get("body", b"") for message in messages[1:])
        )


def scope_of(method: str, target: str, headers: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the ASGI scope that a server builds from the head of a request."""
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
