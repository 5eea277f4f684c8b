"""Test that lookups of one upstream do not delay those of another."""

import asyncio
import socket
from threading import Event, Thread
from typing import Any

import pytest

from relaybook.relay.resolver import Resolver


def test_lookups_that_get_no_answer_delay_no_other_upstream(monkeypatch: pytest.MonkeyPatch) -> None:
    end = Event()
    asked: list[str] = []

    def getaddrinfo(host: str, port: int, **_: Any) -> Any:
        asked.append(host)
        if host != "works.example":
            end.wait(60)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    stuck = [Resolver(f"stuck-{number}.example", 443) for number in range(40)]

    async def run() -> None:
        waiting = [asyncio.create_task(each.addresses()) for each in stuck for _ in range(3)]
        assert await Resolver("works.example", 443).addresses() == ["192.0.2.1"]
        waiting[0].cancel()  # a dial that has timed out
        assert sorted(asked) == sorted([*(f"stuck-{number}.example" for number in range(40)), "works.example"])
        end.set()
        assert await asyncio.gather(*waiting[1:]) == [["192.0.2.1"]] * (len(waiting) - 1)

    asyncio.run(run())


def test_a_failed_lookup_is_repeated_by_the_next_dial(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Any] = [socket.gaierror(socket.EAI_AGAIN, "try again"), [(0, 0, 0, "", ("2001:db8::1", 443, 0, 0))]]

    def getaddrinfo(*_: Any, **__: Any) -> Any:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    resolver = Resolver("api.example", 443)

    async def run() -> None:
        with pytest.raises(socket.gaierror, match="try again"):
            await resolver.addresses()
        assert await resolver.addresses() == ["2001:db8::1"]

    asyncio.run(run())


def test_a_lookup_without_a_thread_fails_and_is_repeated_by_the_next_dial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("192.0.2.1", 443))])
    start, failures = Thread.start, [RuntimeError("can't start new thread")]

    def limited(thread: Thread) -> None:
        if failures:
            raise failures.pop()
        start(thread)

    monkeypatch.setattr(Thread, "start", limited)
    resolver = Resolver("api.example", 443)

    async def run() -> None:
        with pytest.raises(OSError, match="can't start new thread"):
            await resolver.addresses()
        assert await resolver.addresses() == ["192.0.2.1"]

    asyncio.run(run())


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_an_address_is_not_looked_up(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(socket, "getaddrinfo")
    assert asyncio.run(Resolver(address, 80).addresses()) == [address]
