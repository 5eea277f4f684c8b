"""Record the system calls of a service while clients send requests, and derive what each peer saw at each step."""

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
from tests.crash.load import Choice, Load, RunningCall
from tests.crash.plans import plan_of, response_of
from tests.crash.power import Disk
from tests.crash.service import Provider, wait_for
from tests.crash.system_calls import TRACED, Step, read_trace
from tests.support.server import Program, wait_until

from relaybook.journal.frame import FrameKind
from relaybook.journal.segment import HEADER_BYTES, OldSegment
from relaybook.journal.writer import JournalWriter
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.server.data_directory import DataDirectory

CLIENTS: Final = 6
REQUESTS: Final = 40
#: The minimum duration of a sync. It is long, so that much is written and read during a sync.
_SYNC_MICROSECONDS: Final = 20_000
_TIMEOUT_SECONDS: Final = 60.0
_LAST_BYTES: Final = 4096


class Traced(Program):
    """``relaybook serve`` under strace, with small journal segments."""

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
        """Stop the service and wait for the last line of the trace."""
        assert self.stop() == 0, self.stderr
        ended = re.compile(rb"^%d +\+\+\+ exited" % self.process.pid, re.MULTILINE)
        wait_until(lambda: ended.search(self._last_of_trace()), _TIMEOUT_SECONDS, f"the end of {self.trace}")

    def _last_of_trace(self) -> bytes:
        with self.trace.open("rb") as file:
            file.seek(max(self.trace.stat().st_size - _LAST_BYTES, 0))
            return file.read()


def _mixed(rng: random.Random) -> Choice:
    draw = rng.random()
    if draw < 0.5:
        return "stream", rng.randint(5, 40), rng.randint(1, 3000) if rng.random() < 0.1 else None
    if draw < 0.8:
        return "whole", rng.randint(100, 4000), None
    return ("upload", 500, None) if draw < 0.9 else ("large", rng.randint(50_000, 200_000), None)


class Trace:
    """The system calls of a service on a disk, and its requests. ``_before`` is a copy of the disk at the start."""

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

    def _record(self, directory: Path, durability: str) -> list[RunningCall]:
        with Provider(directory) as provider:
            service = Traced(directory, provider.url, durability)
            load = Load(service.port, CLIENTS, random.Random(5), _mixed)

            async def run() -> None:
                try:
                    load.start("cut")
                    await wait_for(lambda: len(load.calls) >= REQUESTS, "enough requests", _TIMEOUT_SECONDS)
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
        """Return the disk as it was before the first step."""
        shutil.rmtree(self._root)
        shutil.copytree(self._before, self._root)
        return Disk(self._root, self._raises_mark)


def _what_raises_the_mark(directory: Path, *, durable: bool) -> Literal["write", "sync"]:
    """Return the kind of call after which the mark of a segment is raised.

    The function inspects a journal, because no system call shows the mark.
    """
    writer = JournalWriter(directory / "journal", 1 << 20, durable=durable)
    writer.append(FrameKind.SENT, bytes(16), b"")
    writer.write()
    segment = OldSegment(writer.path, 1)
    raises = segment.mark > HEADER_BYTES
    segment.close()
    writer.close()
    return "write" if raises else "sync"


class Views:
    """What upstream and clients may have received after some steps, derived from the sent bytes."""

    def __init__(self, calls: list[RunningCall]) -> None:
        self.calls = {call.tag: Call(tag=call.tag, request=call.request, left=call.left) for call in calls}
        self.reached: dict[str, bytearray] = {}
        self._wires: dict[str, Callable[[bytes], None]] = {}

    def apply(self, step: Step) -> None:
        """Apply one step. Bytes that are being sent count as received."""
        call = step.call
        if call.kind != "wire" or step.returned:
            return
        if call.path not in self._wires:
            self._wires[call.path] = self._wire(call.data)
        self._wires[call.path](call.data)

    def _wire(self, begin: bytes) -> Callable[[bytes], None]:
        if begin.startswith(b"POST /v1"):
            feed: Callable[[bytes], None] = httptools.HttpRequestParser(_UpstreamView(self)).feed_data
        elif begin.startswith(b"HTTP/1.1"):
            feed = httptools.HttpResponseParser(_ClientView(self)).feed_data
        else:
            feed = _ignore
        return feed

    def served(self) -> list[Served]:
        """Return the entries that the ledger of the upstream would contain."""
        return [
            Served(tag, len(body), hashlib.sha256(body).hexdigest(), _response_of(tag), True)
            for tag, body in self.reached.items()
        ]


@cache
def _response_of(tag: str) -> bytes:
    return b"".join(response_of(plan_of(tag)))


def _ignore(_: bytes) -> None:
    return


class _UpstreamView:
    def __init__(self, views: Views) -> None:
        self._views = views
        self._body = bytearray()

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"crash-tag":
            self._body = self._views.reached.setdefault(value.decode(), bytearray())

    def on_body(self, data: bytes) -> None:
        self._body += data


class _ClientView:
    def __init__(self, views: Views) -> None:
        self._views = views
        self._headers: dict[bytes, str] = {}
        self._call = Call(tag="", request=b"")

    def on_message_begin(self) -> None:
        self._headers = {}

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value.decode()

    def on_headers_complete(self) -> None:
        self._call = self._views.calls[self._headers[b"service-namespace"]]
        self._call.request_id = self._headers[b"service-request-id"]
        self._call.status = 200

    def on_body(self, data: bytes) -> None:
        self._call.received += data

    def on_message_complete(self) -> None:
        self._call.complete = True
