"""A service whose system calls are recorded while callers ask: its trace, and what both sides had seen by when."""

import asyncio
import hashlib
import random
import re
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final, Literal

import httptools
import uvloop
from tests.crash.judge import Call, Served
from tests.crash.load import Asked, Choice, Load
from tests.crash.plans import answer_of, plan_of
from tests.crash.power import Disk
from tests.crash.service import Provider, until
from tests.crash.system_calls import TRACED, Step, read_trace
from tests.support.server import Program, wait_until

from relaybook.journal.frame import FrameKind
from relaybook.journal.segment import HEADER_BYTES, OldSegment
from relaybook.journal.writer import JournalWriter
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.server.data_directory import DataDirectory

CALLERS: Final = 6
REQUESTS: Final = 40
#: A sync takes at least so long, so that much is written and read meanwhile.
_SYNC_MICROSECONDS: Final = 20_000
_PATIENCE_SECONDS: Final = 60.0
_LAST_BYTES: Final = 4096


class Traced(Program):
    """``relaybook serve`` under strace, with small journal files."""

    def __init__(self, directory: Path, upstream: str, durability: str) -> None:
        self.data = directory / "disk" / "data"
        self.trace = directory / "trace"
        serve = [sys.executable, "-m", "relaybook.cli.main", "serve", "--upstream", upstream, "--data", str(self.data)]
        serve += ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0", "--min-free", "1048576"]
        serve += ["--segment-bytes", "1MiB", "--durability", durability]
        command = [*TRACED, str(self.trace), "-e", f"inject=fdatasync:delay_enter={_SYNC_MICROSECONDS}", *serve]
        super().__init__(["-c", f"import os; os.execvp('strace', {command!r})"], directory, "serve")
        self.port = int(self.printed(r"base URL\s+\S+:(\d+)/v1"))

    def finish(self) -> None:
        """Stops it and waits for the trace's last line."""
        assert self.stop() == 0, self.stderr
        ended = re.compile(rb"^%d +\+\+\+ exited" % self.process.pid, re.MULTILINE)
        wait_until(lambda: ended.search(self._last_of_trace()), _PATIENCE_SECONDS, f"the end of {self.trace}")

    def _last_of_trace(self) -> bytes:
        with self.trace.open("rb") as file:
            file.seek(max(self.trace.stat().st_size - _LAST_BYTES, 0))
            return file.read()


def _mixed(chance: random.Random) -> Choice:
    draw = chance.random()
    if draw < 0.5:
        return "stream", chance.randint(5, 40), chance.randint(1, 3000) if chance.random() < 0.1 else None
    if draw < 0.8:
        return "whole", chance.randint(100, 4000), None
    return ("upload", 500, None) if draw < 0.9 else ("large", chance.randint(50_000, 200_000), None)


class Trace:
    """What a service did on a disk, and who asked it for what. ``before`` is the disk at the start."""

    def __init__(self, directory: Path, durability: str, *, is_first_start: bool) -> None:
        self._root = directory / "disk"
        self._root.mkdir(parents=True)
        if not is_first_start:
            data = DataDirectory(self._root / "data")
            data.open()
            SqliteWriter(data.store).close()
            data.close()
        self._before = directory / "before"
        shutil.copytree(self._root, self._before)
        self._raises_mark = _what_raises_the_mark(directory, durable=durability == "power")
        self.calls = self._record(directory, durability)
        self.steps = read_trace(directory / "trace", self._root)
        (directory / "trace").unlink()

    def _record(self, directory: Path, durability: str) -> list[Asked]:
        with Provider(directory) as provider:
            service = Traced(directory, provider.url, durability)
            load = Load(service.port, CALLERS, random.Random(5), _mixed)

            async def run() -> None:
                try:
                    load.start("cut")
                    await until(lambda: len(load.calls) >= REQUESTS, "enough requests", _PATIENCE_SECONDS)
                    await load.finish()
                finally:
                    await load.abandon()

            try:
                with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                    runner.run(run())
            finally:
                service.finish()
        assert all(call.complete or call.left for call in load.calls)
        return load.calls

    def disk(self) -> Disk:
        """The disk before the first step."""
        shutil.rmtree(self._root)
        shutil.copytree(self._before, self._root)
        return Disk(self._root, self._raises_mark)


def _what_raises_the_mark(directory: Path, *, durable: bool) -> Literal["write", "sync"]:
    """Looks at a journal, for no system call shows it."""
    writer = JournalWriter(directory / "journal", 1 << 20, durable=durable)
    writer.append(FrameKind.SENT, bytes(16), b"")
    writer.write()
    segment = OldSegment(writer.path, 1)
    raises = segment.mark > HEADER_BYTES
    segment.close()
    writer.close()
    return "write" if raises else "sync"


class Sides:
    """What the provider and the callers may have seen after some steps, read from what was sent."""

    def __init__(self, calls: list[Asked]) -> None:
        self.calls = {call.tag: Call(tag=call.tag, request=call.request, left=call.left) for call in calls}
        self.reached: dict[str, bytearray] = {}
        self._wires: dict[str, Callable[[bytes], None]] = {}

    def take(self, step: Step) -> None:
        """One step further: what is being sent may have arrived."""
        call = step.call
        if call.kind != "wire" or step.returned:
            return
        if call.path not in self._wires:
            self._wires[call.path] = self._wire(call.data)
        self._wires[call.path](call.data)

    def _wire(self, begin: bytes) -> Callable[[bytes], None]:
        if begin.startswith(b"POST /v1"):
            feed: Callable[[bytes], None] = httptools.HttpRequestParser(_ToProvider(self)).feed_data
        elif begin.startswith(b"HTTP/1.1"):
            feed = httptools.HttpResponseParser(_ToCaller(self)).feed_data
        else:
            feed = _ignore
        return feed

    def served(self) -> list[Served]:
        """What the provider's ledger would say."""
        return [
            Served(tag, len(body), hashlib.sha256(body).hexdigest(), _answer_of(tag), True)
            for tag, body in self.reached.items()
        ]


@cache
def _answer_of(tag: str) -> bytes:
    return b"".join(answer_of(plan_of(tag)))


def _ignore(_: bytes) -> None:
    return


class _ToProvider:
    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        self._body = bytearray()

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"crash-tag":
            self._body = self._sides.reached.setdefault(value.decode(), bytearray())

    def on_body(self, data: bytes) -> None:
        self._body += data


class _ToCaller:
    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        self._headers: dict[bytes, str] = {}
        self._call = Call(tag="", request=b"")

    def on_message_begin(self) -> None:
        self._headers = {}

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value.decode()

    def on_headers_complete(self) -> None:
        self._call = self._sides.calls[self._headers[b"service-namespace"]]
        self._call.request_id = self._headers[b"service-request-id"]
        self._call.status = 200

    def on_body(self, data: bytes) -> None:
        self._call.received += data

    def on_message_complete(self) -> None:
        self._call.complete = True
