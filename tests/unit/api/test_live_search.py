"""A live connection that looks for words gets what says them once it is indexed, and after a break the rest."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from tests.support.api_log import client_of, entry_of, record_of

from relaybook.api import live_search
from relaybook.api.broadcaster import Broadcaster
from relaybook.api.live_search import follow
from relaybook.api.reading import Reading
from relaybook.log.query.filters import WORDS, Filter, Term
from relaybook.log.store.memory import MemoryStore
from relaybook.log.store.port import Batch

REFUND = Filter((Term(WORDS, ("refund",)),))


class World:
    """A log that grows, and its index behind it."""

    def __init__(self, records: int = 0) -> None:
        self.store = MemoryStore()
        self.broadcaster = Broadcaster(self.store, poll_seconds=0.002)
        self.records = 0
        self.record(records)

    def record(self, number: int) -> None:
        numbers = range(self.records + 1, self.records + number + 1)
        self.store.commit(Batch(entries=[entry_of(record_of(n)) for n in numbers]))
        self.records += number

    def index(self, up_to: int) -> None:
        """Every other one says the word."""
        numbers = range(self.store.indexed_to() + 1, up_to + 1)
        self.store.add([(n, "a refund" if n % 2 else "none") for n in numbers], up_to)

    def listen(self, resume_from: int | None = None, ping: float = 30) -> AsyncIterator[bytes]:
        return follow(self.broadcaster, Reading(self.store, 1), REFUND, resume_from, 0.002, ping)


async def seqs(pieces: AsyncIterator[bytes], count: int) -> list[int]:
    found: list[int] = []
    while len(found) < count:
        found += [
            json.loads(line[6:])["seq"] for line in (await anext(pieces)).splitlines() if line.startswith(b"data: ")
        ]
    return found


async def beginning(pieces: AsyncIterator[bytes]) -> bytes:
    return await anext(pieces) + await anext(pieces)


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def in_time() -> None:
        async with asyncio.timeout(30):
            await test()

    asyncio.run(in_time())


def test_what_says_the_words_comes_when_it_is_indexed() -> None:
    async def test() -> None:
        world = World(3)
        world.index(3)
        pieces = world.listen()
        assert await beginning(pieces) == b"retry: 2000\n\nid: 3\n\n"
        world.record(6)
        world.index(7)
        assert await seqs(pieces, 2) == [5, 7]
        world.index(9)
        assert await seqs(pieces, 1) == [9]

    run(test)


def test_what_was_recorded_and_not_indexed_when_the_connection_began_is_news() -> None:
    async def test() -> None:
        world = World(5)
        world.index(2)
        pieces = world.listen()
        assert (await beginning(pieces)).endswith(b"id: 2\n\n")
        world.index(5)
        assert await seqs(pieces, 2) == [3, 5]

    run(test)


def test_whoever_resumes_misses_nothing() -> None:
    async def test() -> None:
        world = World(1200)
        world.index(1200)
        pieces = world.listen(resume_from=100)
        assert (await beginning(pieces)).endswith(b"id: 100\n\n")
        assert await seqs(pieces, 550) == list(range(101, 1200, 2))

    run(test)


def test_a_point_of_another_log_is_a_gap() -> None:
    async def test() -> None:
        pieces = World(3).listen(resume_from=50)
        assert b"event: gap" in await beginning(pieces)

    run(test)


def test_pings_come_and_the_end_of_the_hub_is_the_end() -> None:
    async def test() -> None:
        world = World()
        pieces = world.listen(ping=0)
        await beginning(pieces)
        assert await anext(pieces) == b": ping\n\n"
        world.broadcaster.close()
        assert [piece async for piece in pieces] in ([], [b": ping\n\n"])

    run(test)


#: What a row does not tell.
TEXTS = ("q=refund", "q=-refund", "contains=efun&from=-1h", "not.contains=efun&from=-1h", "q=contains:efun from:-1h")


@pytest.mark.parametrize("asked", TEXTS)
def test_too_many_are_refused(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_search, "MAX_FOLLOWERS", 0)
    answer = client_of(MemoryStore()).get(f"/api/live?{asked.replace(' ', '+')}")
    assert (answer.status, answer.json()["error"]["code"]) == (503, "too_many_streams")
