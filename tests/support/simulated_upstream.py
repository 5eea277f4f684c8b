"""Control the simulated upstream of a relay: read what it received, and store scripts for its responses."""

import base64
import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from tests.support.raw_http import SMUGGLED, send_request
from tests.support.server import Server, SimulatedProvider, SimulatorProcess


class Ledger:
    """The ledger entries of the simulated upstream since this object was created."""

    def __init__(self, provider: SimulatedProvider | SimulatorProcess) -> None:
        self._address = urlsplit(provider.url).netloc
        # Read only from where the previous object began, because the whole ledger grows with every test.
        earlier = self._read(provider.ledger_start)
        self._since = provider.ledger_start = max((entry["n"] + 1 for entry in earlier), default=provider.ledger_start)

    def entries(self) -> list[dict[str, Any]]:
        """Return all entries, in the order in which they were written."""
        return self._read(self._since)

    def requests(self) -> list[dict[str, Any]]:
        """Return the entries of complete requests, in the order in which the requests arrived."""
        return [entry for entry in self.entries() if entry["event"] == "request"]

    def received_bytes(self) -> bytes:
        """Return the targets, headers and bodies of all requests, complete or not."""
        parts = []
        for entry in self.entries():
            lines = [f"{name}: {value}" for name, value in entry.get("headers", [])]
            parts += [entry.get("target", "").encode(), "\n".join(lines).encode()]
            parts.append(base64.b64decode(entry.get("body", "")))
        return b"\n".join(parts)

    def _read(self, since: int) -> list[dict[str, Any]]:
        connection = http.client.HTTPConnection(self._address, timeout=10)
        try:
            connection.request("GET", f"/__sim/ledger?since={since}")
            return [json.loads(line) for line in connection.getresponse().read().splitlines()]
        finally:
            connection.close()


def put_script(provider: SimulatedProvider, name: str, script: Mapping[str, object]) -> None:
    """Store the response to every request that has the header ``Sim-Script: <name>``."""
    connection = http.client.HTTPConnection(urlsplit(provider.url).netloc, timeout=30)
    connection.request("PUT", f"/__sim/scripts/{name}", json.dumps(script))
    assert connection.getresponse().status == 204
    connection.close()


@dataclass(frozen=True)
class World:
    """A relay and the simulated upstream behind it."""

    server: Server
    provider: SimulatedProvider

    def assert_undisturbed(self, ledger: Ledger) -> None:
        """Assert that an ordinary request works and is the only complete request in the ledger."""
        tag = uuid4().hex
        response = send_request(self.server.port, f"Sim-Tag: {tag}".encode())
        assert response.status == 200, response
        assert [entry["tag"] for entry in ledger.requests()] == [tag]
        assert SMUGGLED.encode() not in ledger.received_bytes()
        assert not [entry for entry in ledger.entries() if entry["event"] == "malformed"]
