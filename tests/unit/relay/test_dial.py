"""Test the message for an upstream that cannot be reached."""

import asyncio
import socket
from types import SimpleNamespace
from typing import Any

import pytest

from relaybook.relay.dial import dial
from relaybook.relay.routes import UpstreamUrl
from relaybook.settings.definitions import Settings


def test_an_unknown_host_is_named_with_the_resolvers_reason_on_every_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """The resolver's error numbers are negative on Linux, but positive on macOS, where 8 is also ENOEXEC."""
    messages: list[str] = []
    relay: Any = SimpleNamespace(settings=Settings())
    pool: Any = SimpleNamespace(upstream=UpstreamUrl.parse("http://unknown.example:8000/v1"), tls=None)
    exchange: Any = SimpleNamespace(dial_failed=messages.append)

    async def on_macos(*_: Any, **__: Any) -> None:
        raise socket.gaierror(8, "nodename nor servname provided, or not known")

    async def run() -> None:
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", on_macos)
        await dial(relay, pool, exchange)

    asyncio.run(run())
    reason = "nodename nor servname provided, or not known"
    assert messages[0].startswith(f"The upstream at unknown.example:8000 could not be reached: {reason}. ")
