"""Test live connections with a full-text filter.

A connection gets each matching row once the row is indexed. A resumed connection misses no row.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial

import pytest
from starlette.types import Message
from tests.support.api_log import app_of, client_of, entry_of, record_of
from tests.support.asgi import scope_of
from tests.support.memory_store import MemoryStore

from relaybook.api import live_search
from relaybook.api.asking import AsyncAsker
from relaybook.api.broadcaster import Broadcaster, gap_event
from relaybook.api.live_search import stream_matches
from relaybook.log.ask.asker import Asker
from relaybook.log.query.filters import WORDS, Filter, Term
from relaybook.log.query.words import SearchText
from relaybook.log.store.port import Batch

REFUND = Filter((Term(WORDS, ("refund",)),))


class LiveLog:
    """A growing log with an index that lags behind the log."""

    def __init__(self, records: int = 0) -> None:
        self.store = MemoryStore()
        self.broadcaster = Broadcaster(partial(Asker, self.store), poll_seconds=0.002)
        self.records = 0
        self.record(records)

    def record(self, number: int) -> None:
        numbers = range(self.records + 1, self.records + number + 1)
        self.store.commit(Batch(entries=[entry_of(record_of(n)) for n in numbers]))
        self.records += number

    def index(self, up_to: int) -> None:
        """Index the records up to ``up_to``. Every second record contains the word "refund"."""
        numbers = range(self.store.indexed_to() + 1, up_to + 1)
        self.store.add([(n, SearchText("a refund" if n % 2 else "none")) for n in numbers], up_to)

    async def listen(self, resume_from: int | None = None, ping: float = 30) -> AsyncIterator[bytes]:
        return await stream_matches(
            self.broadcaster, AsyncAsker(partial(Asker, self.store), 1), REFUND, resume_from, 0.002, ping
        )


async def seqs(chunks: AsyncIterator[bytes], count: int) -> list[int]:
    numbers: list[int] = []
    while len(numbers) < count:
        numbers += [
            json.loads(line[6:])["seq"] for line in (await anext(chunks)).splitlines() if line.startswith(b"data: ")
        ]
    return numbers


async def first_events(chunks: AsyncIterator[bytes]) -> bytes:
    return await anext(chunks) + await anext(chunks)


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(30):
            await test()

    asyncio.run(bounded())


def test_a_matching_row_is_sent_when_it_is_indexed() -> None:
    async def test() -> None:
        log = LiveLog(3)
        log.index(3)
        chunks = await log.listen()
        assert await first_events(chunks) == b"retry: 2000\n\nid: 3\n\n"
        log.record(6)
        log.index(7)
        assert await seqs(chunks, 2) == [5, 7]
        log.index(9)
        assert await seqs(chunks, 1) == [9]

    run(test)


def test_a_row_indexed_after_the_response_started_is_sent() -> None:
    """When the response starts, the page reads the list. Rows that are indexed later must come from the stream."""

    async def test() -> None:
        log = LiveLog(3)
        log.index(3)
        app = app_of(log.store, poll_seconds=0.002)
        received: list[bytes] = []
        has_row = asyncio.Event()

        async def receive() -> Message:
            await has_row.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                log.record(2)
                log.index(5)
            else:
                received.append(message["body"])
                if b"event: request" in message["body"]:
                    has_row.set()

        await app(scope_of("GET", "/api/live?q=refund", []), receive, send)
        assert b"id: 5\nevent: request" in b"".join(received)

    run(test)


def test_rows_not_indexed_when_the_connection_started_are_sent_later() -> None:
    async def test() -> None:
        log = LiveLog(5)
        log.index(2)
        chunks = await log.listen()
        assert (await first_events(chunks)).endswith(b"id: 2\n\n")
        log.index(5)
        assert await seqs(chunks, 2) == [3, 5]

    run(test)


def test_a_resumed_connection_misses_nothing() -> None:
    async def test() -> None:
        log = LiveLog(1200)
        log.index(1200)
        chunks = await log.listen(resume_from=100)
        assert (await first_events(chunks)).endswith(b"id: 100\n\n")
        assert await seqs(chunks, 550) == list(range(101, 1200, 2))

    run(test)


def test_an_event_id_of_another_log_is_a_gap() -> None:
    async def test() -> None:
        log = LiveLog(3)
        log.index(2)
        chunks = await log.listen(resume_from=50)
        assert b"event: gap" in await first_events(chunks)
        log.index(3)  # the reloaded list does not have this row
        assert await seqs(chunks, 1) == [3]

    run(test)


def test_a_stream_ends_with_a_gap_if_the_log_is_replaced() -> None:
    async def test() -> None:
        log = LiveLog(3)
        log.index(3)
        chunks = await log.listen()
        await first_events(chunks)
        other = LiveLog(2)
        other.index(1)
        log.store.__dict__.update(other.store.__dict__)
        assert [chunk async for chunk in chunks] == [gap_event(1)]  # the reloaded list does not have the second row

    run(test)


def test_pings_are_sent_and_closing_the_broadcaster_ends_the_stream() -> None:
    async def test() -> None:
        log = LiveLog()
        chunks = await log.listen(ping=0)
        await first_events(chunks)
        assert await anext(chunks) == b": ping\n\n"
        log.broadcaster.close()
        assert [chunk async for chunk in chunks] in ([], [b": ping\n\n"])

    run(test)


#: Filters that search the full text of requests.
TEXTS = ("q=refund", "q=-refund", "contains=efun&from=-1h", "not.contains=efun&from=-1h", "q=contains:efun from:-1h")


@pytest.mark.parametrize("query", TEXTS)
def test_too_many_search_streams_are_rejected(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_search, "MAX_SEARCH_STREAMS", 0)
    response = client_of(MemoryStore()).get(f"/api/live?{query.replace(' ', '+')}")
    assert (response.status, response.json()["error"]["code"]) == (503, "too_many_streams")
