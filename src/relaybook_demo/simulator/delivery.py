"""Deliver a planned response: frame the parts, wait, split writes, and break off at the planned place."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Literal, Protocol

from relaybook_demo.simulator.directive_values import Break, Ending, PacedWrites
from relaybook_demo.simulator.plans import Plan


class ResponseWriter(Protocol):
    """The destination of a response.

    Methods do not report a closed connection, because closing the connection cancels the delivery's task.
    """

    def write(self, data: bytes) -> None:
        """Write bytes to the socket."""

    def count(self, content: bytes) -> None:
        """Count response content, without framing, before it is written to the socket."""

    async def drain(self) -> None:
        """Wait until the socket accepts more data."""


async def deliver(writer: ResponseWriter, plan: Plan) -> Ending | Literal["complete"]:
    """Write the planned response. Return ``complete``, or the planned ``Ending`` if the response was broken off.

    This function does not close the connection. The caller does so, as the result and ``plan.after`` require.
    """
    if plan.delay_ms:
        await asyncio.sleep(plan.delay_ms / 1000)
    for interim in plan.interim:
        writer.write(interim)
        await writer.drain()
        await asyncio.sleep(0)
    break_ = plan.break_
    if break_ is not None and break_.place == "head":
        await _send(writer, plan.head[: break_.offset], plan.head_writes)
        return break_.ending
    await _send(writer, plan.head, plan.head_writes)
    await _send_parts(writer, plan)
    if break_ is not None:
        return break_.ending
    await _send(writer, plan.tail, plan.body_writes)
    return "complete"


async def _send_parts(writer: ResponseWriter, plan: Plan) -> None:
    """Send each part when it is due. A late part does not delay the following parts.

    The due times are fixed from the start.
    """
    now = asyncio.get_running_loop().time
    due = now() + plan.first_ms / 1000
    parts = until_break(plan.parts, plan.break_)
    while True:
        await asyncio.sleep(max(0.0, due - now()) if plan.first_ms or plan.interval_ms else 0)
        item = next(parts, None)
        if item is None:
            return
        part, length = item
        writer.count(part if length is None else part[:length])
        await _send(writer, frame(part, length) if plan.framing == "chunked" else part[:length], plan.body_writes)
        due += plan.interval_ms / 1000


def until_break(parts: Iterable[bytes], break_: Break | None) -> Iterator[tuple[bytes, int | None]]:
    """Yield the parts to send until ``break_``, each with the number of bytes to send, or `None` for all bytes."""
    if break_ is None or break_.place == "end":
        for part in parts:
            yield part, None
        return
    remaining = break_.offset
    for index, part in enumerate(parts):
        if break_.place == "event" and index < break_.number:
            yield part, None
        elif remaining >= len(part) and break_.place == "byte":
            remaining -= len(part)
            yield part, None
        else:
            if remaining:
                yield part, remaining
            return


def frame(part: bytes, length: int | None) -> bytes:
    """Return a part as a chunk of an HTTP body. The chunk declares the size of the whole part.

    If ``length`` is given and is at most this size, the chunk contains only ``length`` bytes, and has no end.
    """
    if length is None or length > len(part):
        return b"%x\r\n%b\r\n" % (len(part), part) if part else b""
    return b"%x\r\n%b" % (len(part), part[:length])


async def _send(writer: ResponseWriter, data: bytes, paced: PacedWrites | None) -> None:
    if not data:
        return
    if paced is None:
        writer.write(data)
        await writer.drain()
        return
    for start in range(0, len(data), paced.size):
        if start:
            await asyncio.sleep(paced.pause_ms / 1000)
        writer.write(data[start : start + paced.size])
        await writer.drain()
    await asyncio.sleep(paced.pause_ms / 1000)
