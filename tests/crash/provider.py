"""An upstream that is never killed. It derives each response from the tag, and writes a ledger of all requests.

This module runs as a separate process: ``python -m tests.crash.provider LEDGER``. The process prints its address and
serves until SIGTERM. The ledger contains JSON lines. The event ``begin`` means that the tag of a request was read,
``end`` that the exchange has ended, and ``stray`` that a connection broke before a tag was read. The ``end`` line of a
complete response is written before the last bytes of the response are sent.
"""

import asyncio
import hashlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, cast

import httptools
import uvloop
from tests.crash.plans import Plan, plan_of, response_of

TAG_HEADER = b"crash-tag"


class LedgerFile:
    """A file to which lines are appended. The kernel has a line when ``write`` returns."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, event: str, **facts: Any) -> None:
        os.write(self._descriptor, json.dumps({"event": event, **facts}).encode() + b"\n")


class Connection(asyncio.Protocol):
    """One connection from the relay, with one request at a time."""

    def __init__(self, ledger: LedgerFile) -> None:
        self._ledger = ledger
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._responding: asyncio.Task[None] | None = None
        self._plan: Plan | None = None
        self._head_received = 0
        self._received = 0
        self._digest = hashlib.sha256()
        self._sent = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transport is not a subclass of Transport

    def data_received(self, data: bytes) -> None:
        self._head_received += len(data)
        self._parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == TAG_HEADER:
            self._plan = plan_of(value.decode())
            self._received = self._sent = 0
            self._digest = hashlib.sha256()
            self._ledger.write("begin", tag=self._plan.tag)

    def on_body(self, data: bytes) -> None:
        self._received += len(data)
        self._digest.update(data)

    def on_message_complete(self) -> None:
        assert self._plan is not None
        self._responding = asyncio.get_running_loop().create_task(self._respond(self._plan))

    async def _respond(self, plan: Plan) -> None:
        chunks = response_of(plan)
        if plan.streamed:
            head = b"content-type: text/event-stream\r\ntransfer-encoding: chunked"
        else:
            head = b"content-type: application/json\r\ncontent-length: %d" % sum(map(len, chunks))
        self._send(b"HTTP/1.1 200 OK\r\n%b\r\nx-request-id: req_%b\r\n\r\n" % (head, plan.tag.encode()))
        for chunk in chunks[:-1]:
            self._sent += len(chunk)
            self._send(_framed(plan, chunk))
            await asyncio.sleep(plan.pause_seconds)
        # The end line comes before the last bytes, because the relay may send its next request right after these bytes.
        self._sent += len(chunks[-1])
        self._end_exchange(whole=True)
        self._send(_framed(plan, chunks[-1]) + (b"0\r\n\r\n" if plan.streamed else b""))

    def _send(self, wire: bytes) -> None:
        if self._transport is not None:
            self._transport.write(wire)

    def _end_exchange(self, *, whole: bool) -> None:
        plan, self._plan = self._plan, None
        self._responding = None
        self._head_received = 0
        if plan is not None:
            self._ledger.write(
                "end",
                tag=plan.tag,
                received=self._received,
                digest=self._digest.hexdigest(),
                sent=self._sent,
                whole=whole,
            )

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._responding is not None:
            self._responding.cancel()
        if self._plan is None and self._head_received:
            self._ledger.write("stray", bytes=self._head_received)
        self._end_exchange(whole=False)


def _framed(plan: Plan, chunk: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(chunk), chunk) if plan.streamed else chunk


async def _serve(ledger: LedgerFile) -> None:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    server = await loop.create_server(lambda: Connection(ledger), "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    print(f"provider http://{host}:{port}/v1", flush=True)
    await stopped.wait()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(LedgerFile(Path(sys.argv[1]))))
