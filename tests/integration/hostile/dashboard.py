"""Asks a dashboard as an attacker would: raw targets, any header, with the token or without."""

import http.client
import os
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from tests.support.server import Server

from relaybook.api.app import create_app
from relaybook.api.options import ApiOptions
from relaybook.log.store.memory import MemoryStore

TOKEN: Final = "correct-horse-battery-staple"  # a test's
#: Served without the token, by the contract.
HEALTH: Final = ("/healthz", "/readyz")


@dataclass(frozen=True)
class Told:
    """What a dashboard answered; names of headers are in lower case."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name.lower()), None)

    @property
    def code(self) -> str:
        """The code of a refusal."""
        return str(msgspec.json.decode(self.body)["error"]["code"])


class Visitor:
    """Someone who reaches the dashboard's port; ``token`` is what signs him in, None for nothing."""

    def __init__(self, server: Server, token: str | None = None) -> None:
        self.address = urlsplit(server.dashboard).netloc
        self._token = token

    def ask(self, method: str, target: str, *headers: tuple[str, str], body: bytes = b"") -> Told:
        """One request on a connection of its own; its target goes out as it stands."""
        connection = http.client.HTTPConnection(self.address, timeout=60)
        try:
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            sent = list(headers)
            if "host" not in {name.lower() for name, _ in sent}:
                sent.append(("Host", self.address))
            if self._token is not None:
                sent.append(("Authorization", f"Bearer {self._token}"))
            if body:
                sent.append(("Content-Length", str(len(body))))
            for name, value in sent:
                connection.putheader(name, value)
            connection.endheaders(body or None)
            answer = connection.getresponse()
            got = [(name.lower(), value) for name, value in answer.getheaders()]
            endless = answer.getheader("content-type", "").startswith("text/event-stream")
            return Told(answer.status, got, b"" if endless else answer.read())
        finally:
            connection.close()

    def get(self, target: str, *headers: tuple[str, str]) -> Told:
        return self.ask("GET", target, *headers)

    def json(self, target: str) -> Any:
        """The JSON of an answer that must be good."""
        told = self.get(target)
        assert told.status == 200, told
        return msgspec.json.decode(told.body)


def with_token() -> dict[str, str]:
    """An environment in which the dashboard has the token."""
    return os.environ | {"RELAYBOOK_DASHBOARD_TOKEN": TOKEN}


def routes() -> list[tuple[str, str]]:
    """Method and path of every route the application has, with something in the place of each parameter."""
    app = create_app(MemoryStore(), ApiOptions(relay_base_url="http://127.0.0.1:4100/v1", version="0"))
    found = []
    for route in app.routes:
        path = str(getattr(route, "path", ""))
        for name, value in {
            "{id:path}": "1",
            "{id}": "1",
            "{field:path}": "model",
            "{name}": "x",
            "{path:path}": "x",
        }.items():
            path = path.replace(name, value)
        assert "{" not in path, f"{path}: what stands in the place of its parameter?"
        found += [(method, path) for method in sorted(getattr(route, "methods", None) or ())]
    return found
