"""The relay forwards and records every byte of any legal exchange. 16 exchanges run at a time, on kept connections.

The results are compared with ``guarantees``. Each exchange must have exactly one record, with the transferred bodies.
The concurrent test runs at least 128 exchanges, or 5,120 in the long form. At its end, the test checks the number, the
sizes and the chunks of these exchanges.
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
from tests.conformance.relay import guarantees
from tests.conformance.relay.client import RawClient, Response
from tests.conformance.relay.exchanges import LARGE, Exchange, Wire, request_wire, response_wire
from tests.conformance.relay.strategies import exchanges
from tests.conformance.relay.upstream import BASE_PATH, Received, UpstreamConnection
from tests.conformance.relay.world import World, new_world
from tests.support.long import LONG
from tests.support.server import wait_until

AT_A_TIME = 16
BATCHES = 320 if LONG else 8
UUID7 = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


@dataclass
class Crossing:
    """One completed exchange, as both sides sent and received it."""

    exchange: Exchange
    name: bytes
    request_sent: Wire
    response_sent: Wire
    seen: Received
    response: Response


class Tally:
    """The results of all batches."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.clients = [world.client() for _ in range(AT_A_TIME)]
        self.counts: Counter[str] = Counter()
        self.ids: set[str] = set()

    async def close(self) -> None:
        for client in self.clients:
            await client.close()

    def run_batch(self, batch: Sequence[Exchange]) -> None:
        """Run a batch concurrently, and compare all results with the guarantees."""
        crossings = self.world.run(self._all(batch))
        for crossing in crossings:
            check_upstream_side(crossing, self.world.provider.authority)
            check_client_side(crossing)
            self._count(crossing)
        rows = check_log(self.world, crossings)
        tiny = [
            crossing for crossing in crossings if crossing.response_sent.style == "tiny" and crossing.response_sent.body
        ]
        self.counts["tiny responses"] += len(tiny)
        self.counts["reads of tiny responses"] += sum(rows[each.response.request_id]["chunks"] for each in tiny)
        for crossing in crossings:
            self.world.provider.forget(crossing.name)

    async def _all(self, batch: Sequence[Exchange]) -> list[Crossing]:
        pairs = zip(self.clients, batch, strict=False)
        return await asyncio.gather(*(run_exchange(self.world, client, exchange) for client, exchange in pairs))

    def _count(self, crossing: Crossing) -> None:
        self.counts["exchanges"] += 1
        self.ids.add(crossing.response.request_id)
        messages = (
            (crossing.request_sent, crossing.exchange.request),
            (crossing.response_sent, crossing.exchange.response),
        )
        for wire, message in messages:
            if wire.body:
                self.counts["bodies"] += 1
                self.counts["large"] += len(wire.body) > LARGE
                self.counts["tiny"] += wire.style == "tiny"
                self.counts["compressed"] += message.content.coding != ""
                self.counts["streamed"] += message.content.kind == "events"
                self.counts[message.framing] += 1


async def run_exchange(world: World, client: RawClient, exchange: Exchange) -> Crossing:
    """Run one exchange over a client's connection."""
    responded = response_wire(exchange)

    async def script(line: UpstreamConnection, _: Received) -> None:
        await line.send_all(responded.chunks())
        if exchange.response.framing == "close" and not exchange.bodiless:
            await line.close()

    name = world.script(script)
    requested = request_wire(exchange, name, b"localhost:%d" % world.server.port)
    response: Response | None = None
    try:
        await client.send_all(requested.chunks())
        response = await client.response(exchange.method)
        seen = world.provider.received(name)
        if ends(exchange):
            assert await client.ended() == "fin"
    except (AssertionError, OSError, EOFError) as error:
        await client.close()
        raise AssertionError(f"{error!r} in this exchange: {exchange}, response {response}") from error
    return Crossing(exchange, name, requested, responded, seen, response)


def ends(exchange: Exchange) -> bool:
    """Return whether the client's connection ends after the exchange."""
    return exchange.closes or (exchange.response.framing == "close" and not exchange.bodiless)


def namespace_of(exchange: Exchange) -> str:
    """Return the namespace under which an exchange is recorded."""
    return unicodedata.normalize("NFC", exchange.namespace or "").strip() or "default"


def check_upstream_side(crossing: Crossing, authority: bytes) -> None:
    exchange, seen = crossing.exchange, crossing.seen
    received = [(b"Host" if name.lower() == b"host" else name, value) for name, value in seen.head.pairs]
    assert seen.head.first == guarantees.request_line(exchange.method, exchange.target, BASE_PATH), exchange
    assert received == guarantees.request_pairs(crossing.request_sent.pairs, authority), exchange
    assert seen.framing == exchange.request.framing, exchange
    assert seen.body == crossing.request_sent.body, exchange


def check_client_side(crossing: Crossing) -> None:
    exchange, response = crossing.exchange, crossing.response
    is_tagged = exchange.tagged or exchange.namespace is not None
    prefix = exchange.prefix if is_tagged else b"Service"
    request_id = response.request_id.encode()
    assert UUID7.fullmatch(request_id), exchange
    assert response.head.first == b"HTTP/1.1 %d %b" % (exchange.status, exchange.reason), exchange
    expected = guarantees.response_pairs(
        crossing.response_sent.pairs,
        prefix=prefix,
        request_id=request_id,
        namespace=namespace_of(exchange),
        ends=ends(exchange),
    )
    assert guarantees.readable(response.head.pairs) == expected, exchange
    assert response.body == crossing.response_sent.body, exchange


def check_log(world: World, crossings: list[Crossing]) -> dict[str, Any]:
    """Check that each exchange has exactly one record with its bodies. Returns the records by id."""
    ids = {crossing.response.request_id for crossing in crossings}
    assert len(ids) == len(crossings)

    def recorded() -> dict[str, Any] | None:
        rows = world.server.get(f"/api/requests?limit={len(crossings)}")["data"]
        return {row["id"]: row for row in rows} if {row["id"] for row in rows} == ids else None

    rows = wait_until(recorded, 30, "recording the batch, and nothing else,")
    for crossing in crossings:
        check_record(crossing, rows[crossing.response.request_id])
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
        # the generated bodies are not responses of an API, and some are empty
        "failed": exchange.status >= 400 or row["error_code"] in ("stream_incomplete", "not_json"),
        "request_bytes": len(crossing.request_sent.body),
        "response_bytes": len(crossing.response_sent.body),
        "namespace": namespace_of(exchange),
        "properties": {"user-id": "42", "plan": "€ 5"} if exchange.tagged else {},
        "warnings": [],
        "body_state": "stored",
    }
    assert {name: row[name] for name in expected} == expected, exchange


def check_stored(world: World, crossing: Crossing) -> None:
    exchange, record_id = crossing.exchange, crossing.response.request_id
    for side, wire, message in (
        ("request", crossing.request_sent, exchange.request),
        ("response", crossing.response_sent, exchange.response),
    ):
        kept = world.server.body(record_id, side)
        certain = wire.at_once and not message.content.coding
        assert guarantees.stored(wire.body, exchange.secret, kept, certain=certain), (side, exchange)


@pytest.fixture
def tally(tmp_path: Path) -> Iterator[Tally]:
    with new_world(tmp_path) as world:
        tally = Tally(world)
        yield tally
        world.run(tally.close())


_DETERMINISTIC = settings(
    derandomize=True,
    database=None,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


class Batch:
    """Exchanges that run concurrently. ``repr`` shows only their number, because a failing exchange prints itself."""

    def __init__(self, exchanges: list[Exchange]) -> None:
        self.exchanges = exchanges

    def __repr__(self) -> str:
        return f"a batch of {len(self.exchanges)}"


@settings(_DETERMINISTIC, max_examples=60 if LONG else 16)
@given(exchange=exchanges())
def test_any_single_exchange_is_forwarded_unchanged(tally: Tally, exchange: Exchange) -> None:
    """Run fewer exchanges than the concurrent test, but reduce a failure to a single minimal exchange."""
    tally.run_batch([exchange])


def test_any_16_concurrent_exchanges_are_forwarded_unchanged(tally: Tally) -> None:
    run_batches(tally)
    check_shares(tally.counts)
    logged = [row["id"] for row in tally.world.server.records()]
    assert len(logged) == len(tally.ids) == tally.counts["exchanges"] == tally.world.provider.requests
    assert set(logged) == tally.ids


@settings(_DETERMINISTIC, max_examples=BATCHES, phases=[Phase.generate])
@given(batch=st.lists(exchanges(), min_size=AT_A_TIME, max_size=AT_A_TIME).map(Batch))
def run_batches(tally: Tally, batch: Batch) -> None:
    tally.run_batch(batch.exchanges)


def check_shares(counts: Counter[str]) -> None:
    """Check the number of generated exchanges, and the shares of large, split and compressed bodies."""
    assert counts["exchanges"] >= BATCHES * AT_A_TIME
    assert counts["large"] >= counts["bodies"] / 5
    assert counts["tiny"] >= counts["bodies"] / 5
    assert counts["compressed"] >= counts["bodies"] / 3
    assert min(counts["length"], counts["chunked"], counts["streamed"]) >= counts["exchanges"] / 20
    assert counts["reads of tiny responses"] > counts["tiny responses"]
