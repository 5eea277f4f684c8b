"""Test the message for an upstream that cannot be reached."""

import asyncio
import socket
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.fake_peers import a_pool

from relaybook.relay.dial import dial, start


def test_an_unknown_host_is_named_with_the_resolvers_reason_on_every_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """The resolver's error numbers are negative on Linux, but positive on macOS, where 8 is also ENOEXEC."""
    messages: list[str] = []
    pool = a_pool("http://unknown.example:8000/v1", start)
    exchange: Any = SimpleNamespace(dial_failed=messages.append, relay=None, route=SimpleNamespace(name="default"))

    def on_macos(*_: Any, **__: Any) -> None:
        raise socket.gaierror(8, "nodename nor servname provided, or not known")

    monkeypatch.setattr(socket, "getaddrinfo", on_macos)
    asyncio.run(dial(pool, exchange))
    reason = "nodename nor servname provided, or not known"
    assert messages[0].startswith(f"The upstream at unknown.example:8000 could not be reached: {reason}. ")
