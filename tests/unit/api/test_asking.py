"""Test that store queries run in a limited number of threads, and that each query has a deadline."""

import asyncio
import threading
from functools import partial

import pytest
from tests.support.api_log import client_of
from tests.support.memory_store import MemoryStore

from relaybook import clock
from relaybook.api.asking import AsyncAsker
from relaybook.log.ask.asker import Asker
from relaybook.log.query.filters import Cursor, Filter
from relaybook.log.store.port import Page


def test_no_more_queries_than_threads_run_at_a_time() -> None:
    threads: list[int] = []
    gate = threading.Event()

    def question(_: Asker) -> None:
        threads.append(threading.get_ident())
        gate.wait(10)

    async def run_all() -> None:
        async_asker = AsyncAsker(partial(Asker, MemoryStore()), 1, threads=2)
        tasks = [asyncio.create_task(async_asker.run(question)) for _ in range(3)]
        try:
            async with asyncio.timeout(10):
                while len(threads) < 2 or async_asker._limiter.statistics().tasks_waiting < 1:
                    assert len(threads) <= 2
                    await asyncio.sleep(0)
        finally:
            gate.set()
            await asyncio.gather(*tasks)
        assert len(threads) == 3

    asyncio.run(run_all())


def test_exceptions_of_a_query_are_propagated() -> None:
    async def run() -> None:
        await AsyncAsker(partial(Asker, MemoryStore()), 1).run(lambda _: 1 // 0)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(run())


def test_the_deadline_counts_from_the_start_of_the_request() -> None:
    deadlines: list[int] = []

    class Recording(MemoryStore):
        def page(self, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> Page:
            deadlines.append(deadline_ns)
            return super().page(filter_, limit, cursor, deadline_ns)

    before = clock.monotonic_ns()
    client_of(Recording(), query_seconds=2.0).get("/api/requests")
    after = clock.monotonic_ns()
    assert before + 2 * clock.NANOSECONDS <= deadlines[0] <= after + 2 * clock.NANOSECONDS
