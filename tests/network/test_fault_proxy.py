"""The fault proxy is transparent where it injects no fault: a reset by one peer reaches the other peer."""

import asyncio
import socket
from struct import pack
from typing import Final, Literal

import pytest
import uvloop
from tests.support.fault_proxy import NO_FAULTS, Fault, FaultProxy, Plan

TIMEOUT_SECONDS: Final = 5.0
PLANS: Final = {
    "faithful": NO_FAULTS,
    "slow forth": Plan(upstream=Fault(latency_seconds=0.3)),
    "slow forth, stalled back": Plan(Fault(latency_seconds=0.3), Fault(after=1, stall_seconds=1.0)),
}
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Wait for the first byte from the peer, and reset the connection."""
    await reader.read(1)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, pack("ii", 1, 0))
    writer.transport.abort()


async def _is_reset(reader: asyncio.StreamReader) -> bool:
    try:
        while await reader.read(100):
            pass
    except ConnectionResetError:
        return True
    return False


async def _is_forwarded(plan: Plan, who_resets: Literal["caller", "server"]) -> bool:
    """Return whether a reset by one peer reaches the other peer while bytes from the other peer are in transit."""
    accepted = asyncio.get_running_loop().create_future()
    server = await asyncio.start_server(lambda *streams: accepted.set_result(streams), "127.0.0.1", 0)
    async with server, FaultProxy(server.sockets[0].getsockname()[1]) as proxy:
        proxy.choose = lambda: plan
        peers: dict[str, Streams] = {"caller": await asyncio.open_connection("127.0.0.1", proxy.port)}
        peers["server"] = await accepted
        resets = peers.pop(who_resets)
        reader, writer = peers.popitem()[1]
        resets[1].write(b"!")
        writer.write(b"first")
        await asyncio.sleep(0.05)  # so that the second chunk is forwarded separately
        writer.write(b"second")
        await _reset(*resets)
        forwarded = await _is_reset(reader)
        writer.transport.abort()
        return forwarded


@pytest.mark.parametrize("who_resets", ["caller", "server"])
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS.keys())
def test_a_reset_by_one_peer_reaches_the_other(plan: Plan, who_resets: Literal["caller", "server"]) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(asyncio.wait_for(_is_forwarded(plan, who_resets), TIMEOUT_SECONDS))
