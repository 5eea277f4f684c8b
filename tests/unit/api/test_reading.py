"""Questions to the store run in a bounded number of threads, each with its deadline."""

import asyncio
import threading

import pytest
from tests.support.api_log import client_of

from relaybook import clock
from relaybook.api.reading import Reading
from relaybook.log.query.filters import Cursor, Filter
from relaybook.log.store.memory import MemoryStore
from relaybook.log.store.port import Page, Reader


def test_no_more_questions_than_threads_are_asked_at_a_time() -> None:
    asked: list[int] = []
    gate = threading.Event()

    def question(_: Reader) -> None:
        asked.append(threading.get_ident())
        gate.wait(10)

    async def ask_all() -> None:
        reading = Reading(MemoryStore(), 1, threads=2)
        questions = [asyncio.create_task(reading.ask(question)) for _ in range(3)]
        try:
            async with asyncio.timeout(10):
                while len(asked) < 2 or reading._limiter.statistics().tasks_waiting < 1:
                    assert len(asked) <= 2
                    await asyncio.sleep(0)
        finally:
            gate.set()
            await asyncio.gather(*questions)
        assert len(asked) == 3

    asyncio.run(ask_all())


def test_what_a_question_raises_comes_out() -> None:
    async def ask() -> None:
        await Reading(MemoryStore(), 1).ask(lambda _: 1 // 0)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(ask())


def test_the_deadline_counts_from_the_requests_start() -> None:
    told: list[int] = []

    class Listening(MemoryStore):
        def page(self, wanted: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> Page:
            told.append(deadline_ns)
            return super().page(wanted, limit, cursor, deadline_ns)

    before = clock.monotonic_ns()
    client_of(Listening(), query_seconds=2.0).get("/api/requests")
    after = clock.monotonic_ns()
    assert before + 2 * clock.NANOSECONDS <= told[0] <= after + 2 * clock.NANOSECONDS
