"""Send requests to a dashboard as an attacker would: raw targets, any headers, with or without the token."""

import http.client
import os
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from tests.support.server import Server

TOKEN: Final = "correct-horse-battery-staple"  # used only in tests


@dataclass(frozen=True)
class DashboardResponse:
    """A response from the dashboard. Header names are in lower case."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name.lower()), None)

    @property
    def code(self) -> str:
        """The error code in an error response."""
        return str(msgspec.json.decode(self.body)["error"]["code"])


class Visitor:
    """A client that can connect to the dashboard's port. The client sends ``token``, or no token if it is `None`."""

    def __init__(self, server: Server, token: str | None = None) -> None:
        self.address = urlsplit(server.dashboard).netloc
        self._token = token

    def send(self, method: str, target: str, *headers: tuple[str, str], body: bytes = b"") -> DashboardResponse:
        """Send a request on a new connection, with the target unchanged."""
        connection = http.client.HTTPConnection(self.address, timeout=60)
        try:
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            request_headers = list(headers)
            if "host" not in {name.lower() for name, _ in request_headers}:
                request_headers.append(("Host", self.address))
            if self._token is not None:
                request_headers.append(("Authorization", f"Bearer {self._token}"))
            if body:
                request_headers.append(("Content-Length", str(len(body))))
            for name, value in request_headers:
                connection.putheader(name, value)
            connection.endheaders(body or None)
            response = connection.getresponse()
            response_headers = [(name.lower(), value) for name, value in response.getheaders()]
            is_event_stream = response.getheader("content-type", "").startswith("text/event-stream")
            return DashboardResponse(response.status, response_headers, b"" if is_event_stream else response.read())
        finally:
            connection.close()

    def get(self, target: str, *headers: tuple[str, str]) -> DashboardResponse:
        return self.send("GET", target, *headers)

    def json(self, target: str) -> Any:
        """Send a GET request that must succeed, and return the parsed JSON."""
        response = self.get(target)
        assert response.status == 200, response
        return msgspec.json.decode(response.body)


def with_token() -> dict[str, str]:
    """Return an environment in which the dashboard requires the token."""
    return os.environ | {"RELAYBOOK_DASHBOARD_TOKEN": TOKEN}
