"""Delivers a planned answer: frames, waits, cuts into pieces, breaks off."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Literal, Protocol

from relaybook_demo.simulator.directive_values import Break, Ending, Pieces
from relaybook_demo.simulator.plans import Plan


class Outlet(Protocol):
    """Where an answer goes. Once the peer is gone the delivery's task is cancelled, so nothing here reports it."""

    def write(self, data: bytes) -> None:
        """Hand bytes to the socket."""

    def count(self, content: bytes) -> None:
        """Content, framing not included, is about to be written."""

    async def drain(self) -> None:
        """Wait until the socket takes more."""


async def deliver(outlet: Outlet, plan: Plan) -> Ending | Literal["whole"]:
    """Write the answer. Returns how the connection is to be broken, or ``whole``. The caller ends the connection."""
    if plan.delay_ms:
        await asyncio.sleep(plan.delay_ms / 1000)
    for interim in plan.interim:
        outlet.write(interim)
        await outlet.drain()
        await asyncio.sleep(0)
    broken = plan.break_
    if broken is not None and broken.place == "head":
        await _send(outlet, plan.head[: broken.offset], plan.head_piece)
        return broken.how
    await _send(outlet, plan.head, plan.head_piece)
    await _send_parts(outlet, plan)
    if broken is not None:
        return broken.how
    await _send(outlet, plan.tail, plan.piece)
    return "whole"


async def _send_parts(outlet: Outlet, plan: Plan) -> None:
    """One part per moment; moments are counted from the start, so that a late one does not delay the rest."""
    now = asyncio.get_running_loop().time
    due = now() + plan.first_ms / 1000
    parts = until_break(plan.parts, plan.break_)
    while True:
        await asyncio.sleep(max(0.0, due - now()) if plan.first_ms or plan.interval_ms else 0)
        found = next(parts, None)
        if found is None:
            return
        part, kept = found
        outlet.count(part if kept is None else part[:kept])
        await _send(outlet, frame(part, kept) if plan.framing == "chunked" else part[:kept], plan.piece)
        due += plan.interval_ms / 1000


def until_break(parts: Iterable[bytes], broken: Break | None) -> Iterator[tuple[bytes, int | None]]:
    """The parts up to the break: each with how many bytes of it are sent, None for all."""
    if broken is None or broken.place == "end":
        for part in parts:
            yield part, None
        return
    left = broken.offset
    for at, part in enumerate(parts):
        if broken.place == "event" and at < broken.number:
            yield part, None
        elif left >= len(part) and broken.place == "byte":
            left -= len(part)
            yield part, None
        else:
            if left:
                yield part, left
            return


def frame(part: bytes, kept: int | None) -> bytes:
    """A chunk that announces the whole part; without its end if only some of it is kept."""
    if kept is None or kept > len(part):
        return b"%x\r\n%b\r\n" % (len(part), part) if part else b""
    return b"%x\r\n%b" % (len(part), part[:kept])


async def _send(outlet: Outlet, data: bytes, pieces: Pieces | None) -> None:
    if not data:
        return
    if pieces is None:
        outlet.write(data)
        await outlet.drain()
        return
    for start in range(0, len(data), pieces.size):
        if start:
            await asyncio.sleep(pieces.pause_ms / 1000)
        outlet.write(data[start : start + pieces.size])
        await outlet.drain()
    await asyncio.sleep(pieces.pause_ms / 1000)
