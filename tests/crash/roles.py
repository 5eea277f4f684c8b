"""Relay and recorder on one data directory, with the test as their supervisor.

What dies is started again, at once and untraced; the listening socket stays open meanwhile, as the supervisor's does.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, Self

from tests.crash.forks import LISTENER
from tests.crash.service import ROOT, until
from tests.crash.strace import PATIENCE_SECONDS, Tracer

from relaybook.journal.reader import list_runs
from relaybook.server.data_directory import DataDirectory
from relaybook.server.worker_config import WorkerConfig, encode_config
from relaybook.settings.definitions import Settings

Traced = Literal["relay", "recorder"]
ROLES: Final[tuple[Traced, ...]] = ("relay", "recorder")
#: So often a role may die in one run; more is no recovery.
_MOST_DEATHS: Final = 5


class Forks:
    """The process that role processes are forked from."""

    def __init__(self) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.crash.forks", str(number)],
                pass_fds=[number],
                stdout=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._control.close()
        self._process.wait(PATIENCE_SECONDS)

    def start(self, config: int, stderr: int, listener: int) -> int:
        """A new role process that waits for its orders; its id."""
        socket.send_fds(self._control, [b"start"], [config, stderr, listener])
        return int(self._control.recv(64))

    def exit_code(self, pid: int) -> int:
        """Of a process that has ended; the signal's number, negative."""
        self._control.send(b"wait %d" % pid)
        return int(self._control.recv(64))


class _Process:
    """A role's process until its end. Its input's end tells it that the supervisor is gone."""

    def __init__(self, forks: Forks, stderr: Path, listener: socket.socket) -> None:
        self._channel, theirs = socket.socketpair()
        with theirs, stderr.open("ab") as err:
            self.pid = forks.start(theirs.fileno(), err.fileno(), listener.fileno())
        self.ended = asyncio.Event()
        self.exit_code: int | None = None
        self._forks = forks
        self._watched = os.pidfd_open(self.pid)
        asyncio.get_running_loop().add_reader(self._watched, self._over)

    def order(self, config: WorkerConfig) -> None:
        with suppress(BrokenPipeError):
            self._channel.sendall(encode_config(config))

    def can_be_told(self) -> bool:
        """Whether it has said that it is ready, or is over."""
        if self.ended.is_set():
            return True
        try:
            return bool(self._channel.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except BlockingIOError:
            return False
        except ConnectionResetError:
            return True

    def signal(self, number: int) -> None:
        if not self.ended.is_set():
            signal.pidfd_send_signal(self._watched, number)

    def _over(self) -> None:
        asyncio.get_running_loop().remove_reader(self._watched)
        self.exit_code = self._forks.exit_code(self.pid)
        os.close(self._watched)
        self._channel.close()
        self.ended.set()


class Roles:
    """Use within a running loop: ``async with Roles(...)``. ``deaths``: exit codes of what ended untold."""

    def __init__(self, forks: Forks, directory: Path, upstream: str, *, power: bool = False) -> None:
        self.data = DataDirectory(directory / "data")
        self.deaths: list[tuple[Traced, int]] = []
        self._forks = forks
        self._directory = directory
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.port = self._listener.getsockname()[1]
        self._settings = Settings(
            data=self.data.path,
            upstream=upstream,
            listen=f"127.0.0.1:{self.port}",
            segment_bytes=1 << 20,
            min_free=1 << 20,
            durability="power" if power else "process",
        )
        self._running: dict[Traced, _Process] = {}
        self._keepers: list[asyncio.Task[None]] = []
        self._tracers: list[Tracer] = []
        self._stopping = False

    async def __aenter__(self) -> Self:
        self.data.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stopping = True
        for process in self._running.values():
            process.signal(signal.SIGKILL)
            await process.ended.wait()
        for tracer in self._tracers:
            tracer.wait()
        for keeper in self._keepers:
            keeper.cancel()
        self._listener.close()
        self.data.close()

    def start(self, role: Traced) -> None:
        """Starts a role and keeps it going."""
        self._order(role, self._fork(role))

    def start_traced(self, role: Traced, calls: tuple[str, ...], injections: tuple[str, ...]) -> Tracer:
        """Starts a role with its first process traced from its first instant."""
        process = self._fork(role)
        tracer = self.trace(role, calls, injections)
        self._order(role, process)
        return tracer

    def trace(
        self, role: Traced, calls: tuple[str, ...], injections: tuple[str, ...], thread: int | None = None
    ) -> Tracer:
        """Puts strace beside a role's process: all its threads, or one, counted in the order of their start."""
        pid = traced = self.pid(role)
        if thread is not None:
            traced = sorted(int(path.name) for path in Path(f"/proc/{pid}/task").iterdir())[thread]
        tracer = Tracer(traced, self._directory, calls, injections, only_this_thread=thread is not None)
        self._tracers.append(tracer)
        return tracer

    def pid(self, role: Traced) -> int:
        """The process that has the role now."""
        return self._running[role].pid

    def _fork(self, role: Traced) -> _Process:
        process = self._running[role] = _Process(self._forks, self._stderr(role), self._listener)
        return process

    def _order(self, role: Traced, process: _Process) -> None:
        url = f"http://127.0.0.1:{self.port}"
        process.order(WorkerConfig(role, self._settings, f"{url}/v1", url, socket=LISTENER))
        self._keepers.append(asyncio.get_running_loop().create_task(self._keep(role, process)))

    async def _keep(self, role: Traced, process: _Process) -> None:
        await process.ended.wait()
        if not self._stopping:
            assert process.exit_code is not None
            self.deaths.append((role, process.exit_code))
            if len(self.deaths) < _MOST_DEATHS:
                self.start(role)

    async def stop(self) -> None:
        """Ends one after the other as the supervisor does; what a death now leaves behind a new start records."""
        self._stopping = True
        for role in ROLES:
            process = self._running[role]
            await until(process.can_be_told, f"the start of the {role}", PATIENCE_SECONDS)
            process.signal(signal.SIGTERM)
            async with asyncio.timeout(PATIENCE_SECONDS):
                await process.ended.wait()
            if process.exit_code != 0:
                self.deaths.append((role, process.exit_code or 0))
        if not self.is_recorded():
            self.start("recorder")
            await until(self.is_recorded, "recording what a death left behind", PATIENCE_SECONDS)
            self._running["recorder"].signal(signal.SIGTERM)
            await self._running["recorder"].ended.wait()

    def is_recorded(self) -> bool:
        """Whether the recorder has taken and removed all of the journal."""
        return not list_runs(self.data.journal)

    def stderr(self, role: Traced) -> str:
        """What a role's processes wrote to the operator's log."""
        return self._stderr(role).read_text()

    def _stderr(self, role: Traced) -> Path:
        return self._directory / f"{role}.stderr"
