"""Start the service under test, kill its processes, restart it on the same data, and read its log.

This module ends only processes that it has started, by pid. The operator log contains the pid of each role.
"""

import asyncio
import json
import os
import random
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, Self

from tests.crash.judge import Logged, Served
from tests.crash.plans import plan_of, response_of
from tests.support.server import Program, Server

from relaybook.log.query.filters import Filter
from relaybook.log.record import Record, Side
from relaybook.log.store.port import Reader
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.status import RunPosition
from relaybook.server.data_directory import DataDirectory

ROOT: Final = Path(__file__).parents[2]
_PAGE: Final = 500

#: The time within which the service must recover. On an idle machine, recovery takes a second.
BACK_SECONDS: Final = 30.0

Role = Literal["relay", "recorder", "dashboard"]


async def wait_for(found: Callable[[], object], what: str, seconds: float = BACK_SECONDS) -> None:
    """Wait until ``found`` returns a true value. Fails the test after ``seconds``."""
    end = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        await asyncio.sleep(0.02)


class Provider(Program):
    """The process of the upstream, with its ledger."""

    def __init__(self, directory: Path) -> None:
        self._ledger_path = directory / "ledger.jsonl"
        self._read_to = 0
        #: Tags of requests that have begun but not ended.
        self.open: set[str] = set()
        #: Number of connections that broke before a tag was read.
        self.strays = 0
        arguments = ["-m", "tests.crash.provider", str(self._ledger_path)]
        super().__init__(arguments, directory, "provider", {**os.environ, "PYTHONPATH": str(ROOT)})
        self.url = self.printed(r"(http://\S+/v1)")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def ended(self) -> list[Served]:
        """Return the requests that have ended since the last call."""
        found = []
        for line in self._new_lines():
            match line.pop("event"):
                case "begin":
                    self.open.add(line["tag"])
                case "end":
                    self.open.remove(line["tag"])
                    found.append(_served(line))
                case _:
                    self.strays += 1
        return found

    def _new_lines(self) -> Iterator[dict[str, Any]]:
        if not self._ledger_path.exists():
            return
        with self._ledger_path.open("rb") as file:
            file.seek(self._read_to)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._read_to += len(line)
                yield json.loads(line)


def _served(line: dict[str, Any]) -> Served:
    sent = b"".join(response_of(plan_of(line["tag"])))[: line["sent"]]
    return Served(line["tag"], line["received"], line["digest"], sent, line["whole"])


def _environment() -> dict[str, str]:
    """Return the environment without ``RELAYBOOK_…`` variables, which Relaybook would read as settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RELAYBOOK_")}


def _free_ports() -> tuple[int, int]:
    """Return two free ports.

    The ports are outside the range of ephemeral ports, so that they are still free when the service starts again.
    """
    while True:
        first, second = random.sample(range(20_000, 32_000), 2)
        with (
            suppress(OSError),
            socket.create_server(("127.0.0.1", first)),
            socket.create_server(("127.0.0.1", second)),
        ):
            return first, second


class Service:
    """``relaybook serve``, with the same data directory and the same ports at each start."""

    def __init__(
        self,
        directory: Path,
        upstream: str,
        *flags: str,
        reader: Reader | None = None,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Start the service.

        ``reader`` reads a log that is not in the data directory. ``variables`` are added to the environment.
        """
        self.data = DataDirectory(directory / "data")
        self._environment = {**_environment(), **variables}
        self._directory = directory
        self._upstream = upstream
        self._flags = flags
        self._starts = 0
        self._came_up: list[Path] = []
        listen, dashboard = _free_ports()
        self._listen = ("--listen", f"127.0.0.1:{listen}", "--dashboard", f"127.0.0.1:{dashboard}")
        self._seq = 0
        self._reader = reader or SqliteReader(self.data.store)
        self.server = self.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()
        if self.server.process.poll() is None:
            self.server.stop()

    def start(self) -> Server:
        """Start the service, and return when it prints its address.

        The service itself waits until a previous one has released the ports.
        """
        directory = self._new_directory()
        flags = (*self._listen, *self._flags)
        self.server = Server(directory, self._upstream, *flags, data=self.data.path, env=self._environment)
        self._came_up.append(directory)
        return self.server

    def start_and_kill(self, seconds: float) -> None:
        """Start the service and kill its supervisor so early that it may not be listening yet."""
        arguments = ["-m", "relaybook.cli.main", "serve", "--upstream", self._upstream, "--data", str(self.data.path)]
        program = Program([*arguments, *self._listen, *self._flags], self._new_directory(), "serve", self._environment)
        time.sleep(seconds)
        program.kill()

    def _new_directory(self) -> Path:
        self._starts += 1
        directory = self._directory / f"start-{self._starts}"
        directory.mkdir(parents=True)
        return directory

    # -- killing -------------------------------------------------------------------------------------------------------

    def kill(self, *roles: Role, supervisor: bool = False) -> int:
        """Send SIGKILL to these processes at once, and return the number of processes.

        A role that is not running is skipped.
        """
        pids = [pid for role in roles if (pid := self._pid(role)) is not None]
        if supervisor:
            pids.insert(0, self.server.process.pid)
        killed = 0
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed += 1
        if supervisor:
            self.server.process.wait(10)
        return killed

    def _pid(self, role: Role) -> int | None:
        """Return the pid of a role according to the operator log, or `None` between its death and its restart."""
        last: dict[str, Any] = {}
        for line in self.server.stderr.splitlines():
            if line.startswith("{") and line.endswith("}"):
                event = json.loads(line)
                if event["event"] in ("child_started", "child_died") and event["role"] == role:
                    last = event
        return last.get("pid") if last.get("event") == "child_started" else None

    # -- reading -------------------------------------------------------------------------------------------------------

    def is_idle(self) -> bool:
        """Return whether the whole journal is recorded and no request is running."""
        try:
            status = self.server.get("/api/status")
        except OSError:
            return False
        return bool(status["journal"]["lag_bytes"] == 0 and status["running"] == 0)

    def position(self, run: str) -> RunPosition | None:
        """Return the position up to which a run of the journal is recorded."""
        return self._reader.status().positions.get(run)

    def new_records(self) -> list[Record]:
        """Return the records that were added since the last call, in the order of recording."""
        found: list[Record] = []
        while True:
            page, self._seq = self._reader.since(self._seq, Filter(), _PAGE)
            found += page
            if len(page) < _PAGE:
                return found

    def all_records(self) -> list[Record]:
        """Return the whole log."""
        self._seq = 0
        return self.new_records()

    def logged(self, record: Record) -> Logged:
        """Return a record with its stored bodies."""
        return Logged(
            id=record.id,
            tag=record.properties.get("tag"),
            namespace=record.namespace,
            outcome=record.outcome,
            request=self._body(record, "request"),
            response=self._body(record, "response"),
        )

    def _body(self, record: Record, side: Side) -> bytes:
        return b"".join(self._reader.body(record.id, side) or ())

    def complaints(self) -> list[str]:
        """Return all lines of the operator log except the lines about starts and deaths of processes.

        The lines are from all successful starts.
        """
        found = []
        for directory in self._came_up:
            for line in (directory / "serve.stderr").read_text().splitlines():
                event = json.loads(line)["event"] if line.startswith("{") and line.endswith("}") else line
                if event not in ("child_started", "child_died"):
                    found.append(f"{directory.name}: {line[:400]}")
        return found
