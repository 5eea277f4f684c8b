"""Bytes in are bytes out, and the log has them: any legal exchange, 16 at a time, on connections that are kept.

What crosses is compared with ``promise``. Each exchange must leave exactly one record, with bodies as they crossed.
How many, how large, how cut is asserted at the end: 128 exchanges in a sample, 5,120 in the long form.
"""

import asyncio
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.conformance.relay import promise
from tests.conformance.relay.caller import Answer, Caller
from tests.conformance.relay.exchanges import LARGE, Exchange, Wire, answer_wire, request_wire
from tests.conformance.relay.provider import BASE_PATH, Line, Seen
from tests.conformance.relay.strategies import exchanges
from tests.conformance.relay.world import World, a_world
from tests.support.long import LONG
from tests.support.server import wait_until

AT_A_TIME = 16
BATCHES = 320 if LONG else 8
UUID7 = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


@dataclass
class Crossing:
    """One exchange that has crossed: what was sent on both sides and what arrived."""

    exchange: Exchange
    name: bytes
    asked: Wire
    answered: Wire
    seen: Seen
    answer: Answer


class Tally:
    """What has crossed over all batches."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.callers = [world.caller() for _ in range(AT_A_TIME)]
        self.counts: Counter[str] = Counter()
        self.ids: set[str] = set()

    async def close(self) -> None:
        for caller in self.callers:
            await caller.close()

    def cross(self, batch: Sequence[Exchange]) -> None:
        """Lets a batch cross, all at a time, and compares everything with the promise."""
        crossings = self.world.run(self._all(batch))
        for crossing in crossings:
            check_provider_side(crossing, self.world.provider.authority)
            check_caller_side(crossing)
            self._count(crossing)
        rows = check_log(self.world, crossings)
        tiny = [crossing for crossing in crossings if crossing.answered.style == "tiny" and crossing.answered.body]
        self.counts["tiny answers"] += len(tiny)
        self.counts["reads of tiny answers"] += sum(rows[each.answer.request_id]["chunks"] for each in tiny)
        for crossing in crossings:
            self.world.provider.forget(crossing.name)

    async def _all(self, batch: Sequence[Exchange]) -> list[Crossing]:
        pairs = zip(self.callers, batch, strict=False)
        return await asyncio.gather(*(let_cross(self.world, caller, exchange) for caller, exchange in pairs))

    def _count(self, crossing: Crossing) -> None:
        self.counts["exchanges"] += 1
        self.ids.add(crossing.answer.request_id)
        messages = ((crossing.asked, crossing.exchange.request), (crossing.answered, crossing.exchange.answer))
        for wire, message in messages:
            if wire.body:
                self.counts["bodies"] += 1
                self.counts["large"] += len(wire.body) > LARGE
                self.counts["tiny"] += wire.style == "tiny"
                self.counts["compressed"] += message.content.coding != ""
                self.counts["streamed"] += message.content.kind == "events"
                self.counts[message.framing] += 1


async def let_cross(world: World, caller: Caller, exchange: Exchange) -> Crossing:
    """One exchange over one caller's connection."""
    answered = answer_wire(exchange)

    async def script(line: Line, _: Seen) -> None:
        await line.send_all(answered.pieces())
        if exchange.answer.framing == "close" and not exchange.bodiless:
            await line.close()

    name = world.script(script)
    asked = request_wire(exchange, name, b"localhost:%d" % world.server.port)
    answer: Answer | None = None
    try:
        await caller.send_all(asked.pieces())
        answer = await caller.answer(exchange.method)
        seen = world.provider.got(name)
        if ends(exchange):
            assert await caller.ended() == "fin"
    except (AssertionError, OSError, EOFError) as error:
        await caller.close()
        raise AssertionError(f"{error!r} while this crossed: {exchange}, answered by {answer}") from error
    return Crossing(exchange, name, asked, answered, seen, answer)


def ends(exchange: Exchange) -> bool:
    """Whether the caller's connection ends with the exchange."""
    return exchange.closes or (exchange.answer.framing == "close" and not exchange.bodiless)


def namespace_of(exchange: Exchange) -> str:
    """What an exchange is logged under."""
    return unicodedata.normalize("NFC", exchange.namespace or "").strip() or "default"


def check_provider_side(crossing: Crossing, authority: bytes) -> None:
    exchange, seen = crossing.exchange, crossing.seen
    got = [(b"Host" if name.lower() == b"host" else name, value) for name, value in seen.head.pairs]
    assert seen.head.first == promise.request_line(exchange.method, exchange.target, BASE_PATH), exchange
    assert got == promise.request_pairs(crossing.asked.pairs, authority), exchange
    assert seen.framing == exchange.request.framing, exchange
    assert seen.body == crossing.asked.body, exchange


def check_caller_side(crossing: Crossing) -> None:
    exchange, answer = crossing.exchange, crossing.answer
    is_tagged = exchange.tagged or exchange.namespace is not None
    prefix = exchange.prefix if is_tagged else b"Service"
    request_id = answer.request_id.encode()
    assert UUID7.fullmatch(request_id), exchange
    assert answer.head.first == b"HTTP/1.1 %d %b" % (exchange.status, exchange.reason), exchange
    expected = promise.answer_pairs(
        crossing.answered.pairs,
        prefix=prefix,
        request_id=request_id,
        namespace=namespace_of(exchange),
        ends=ends(exchange),
    )
    assert promise.readable(answer.head.pairs) == expected, exchange
    assert answer.body == crossing.answered.body, exchange


def check_log(world: World, crossings: list[Crossing]) -> dict[str, Any]:
    """Exactly one record for each exchange, and its bodies; the records by their ids."""
    ids = {crossing.answer.request_id for crossing in crossings}
    assert len(ids) == len(crossings)

    def recorded() -> dict[str, Any] | None:
        rows = world.server.get(f"/api/requests?limit={len(crossings)}")["data"]
        return {row["id"]: row for row in rows} if {row["id"] for row in rows} == ids else None

    rows = wait_until(recorded, 30, "recording the batch, and nothing else,")
    for crossing in crossings:
        check_record(crossing, rows[crossing.answer.request_id])
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda crossing: check_stored(world, crossing), crossings))
    return rows


def check_record(crossing: Crossing, row: dict[str, Any]) -> None:
    exchange = crossing.exchange
    path, _, query = exchange.target.decode().partition("?")
    expected = {
        "method": exchange.method.decode(),
        "path": path,
        "query": query,
        "status": exchange.status,
        "outcome": "complete",
        "failed": exchange.status >= 400,
        "request_bytes": len(crossing.asked.body),
        "response_bytes": len(crossing.answered.body),
        "namespace": namespace_of(exchange),
        "properties": {"user-id": "42", "plan": "€ 5"} if exchange.tagged else {},
        "warnings": [],
        "body_state": "stored",
    }
    assert {name: row[name] for name in expected} == expected, exchange


def check_stored(world: World, crossing: Crossing) -> None:
    exchange, record_id = crossing.exchange, crossing.answer.request_id
    for side, wire, message in (
        ("request", crossing.asked, exchange.request),
        ("response", crossing.answered, exchange.answer),
    ):
        kept = world.server.body(record_id, side)
        certain = wire.at_once and not message.content.coding
        assert promise.stored(wire.body, exchange.secret, kept, certain=certain), (side, exchange)


@pytest.fixture
def tally(tmp_path: Path) -> Iterator[Tally]:
    with a_world(tmp_path) as world:
        tally = Tally(world)
        yield tally
        world.run(tally.close())


_SAME_EVERY_TIME = settings(
    derandomize=True,
    database=None,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


class Batch:
    """Exchanges that cross beside each other. What fails prints itself, so that all of them need not."""

    def __init__(self, exchanges: list[Exchange]) -> None:
        self.exchanges = exchanges

    def __repr__(self) -> str:
        return f"a batch of {len(self.exchanges)}"


@settings(_SAME_EVERY_TIME, max_examples=60 if LONG else 16)
@given(exchange=exchanges())
def test_any_exchange_crosses_unchanged_by_itself(tally: Tally, exchange: Exchange) -> None:
    """Less than below, but a failure here is one exchange, shrunk."""
    tally.cross([exchange])


def test_any_16_exchanges_cross_unchanged_beside_each_other(tally: Tally) -> None:
    let_batches_cross(tally)
    check_shares(tally.counts)
    logged = [row["id"] for row in tally.world.server.records()]
    assert len(logged) == len(tally.ids) == tally.counts["exchanges"] == tally.world.provider.requests
    assert set(logged) == tally.ids


@settings(_SAME_EVERY_TIME, max_examples=BATCHES, phases=[Phase.generate])
@given(batch=st.lists(exchanges(), min_size=AT_A_TIME, max_size=AT_A_TIME).map(Batch))
def let_batches_cross(tally: Tally, batch: Batch) -> None:
    tally.cross(batch.exchanges)


def check_shares(counts: Counter[str]) -> None:
    """What was promised of the generated exchanges themselves: how many, how large, how cut."""
    assert counts["exchanges"] >= BATCHES * AT_A_TIME
    assert counts["large"] >= counts["bodies"] / 5
    assert counts["tiny"] >= counts["bodies"] / 5
    assert counts["compressed"] >= counts["bodies"] / 3
    assert min(counts["length"], counts["chunked"], counts["streamed"]) >= counts["exchanges"] / 20
    assert counts["reads of tiny answers"] > counts["tiny answers"]
