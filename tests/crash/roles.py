"""Run relay and recorder on one data directory, with the test as their supervisor.

If a process dies, it is restarted at once without a tracer. The listening socket stays open, as with the real
supervisor.
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
from tests.crash.service import ROOT, wait_for
from tests.crash.strace import TIMEOUT_SECONDS, Tracer

from relaybook.journal.reader import list_runs
from relaybook.server.data_directory import DataDirectory
from relaybook.server.worker_config import WorkerConfig, encode_config
from relaybook.settings.definitions import Settings

Traced = Literal["relay", "recorder"]
ROLES: Final[tuple[Traced, ...]] = ("relay", "recorder")
#: The number of deaths in one run after which no process is restarted, because the service does not recover.
_MAX_DEATHS: Final = 5


class Forks:
    """The process that forks the processes of the roles."""

    def __init__(self) -> None:
        self._control, child_end = socket.socketpair()
        with child_end:
            number = child_end.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.crash.forks", str(number)],
                pass_fds=[number],
                stdout=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._control.close()
        self._process.wait(TIMEOUT_SECONDS)

    def start(self, config: int, stderr: int, listener: int) -> int:
        """Start a process that waits for its configuration, and return its pid."""
        socket.send_fds(self._control, [b"start"], [config, stderr, listener])
        return int(self._control.recv(64))

    def exit_code(self, pid: int) -> int:
        """Return the exit code of a process that has ended. The code is negative for a signal."""
        self._control.send(b"wait %d" % pid)
        return int(self._control.recv(64))


class _Process:
    """A process of a role. It detects the end of its supervisor by the end of its own input."""

    def __init__(self, forks: Forks, stderr: Path, listener: socket.socket) -> None:
        self._channel, child_end = socket.socketpair()
        with child_end, stderr.open("ab") as error_file:
            self.pid = forks.start(child_end.fileno(), error_file.fileno(), listener.fileno())
        self.ended = asyncio.Event()
        self.exit_code: int | None = None
        self._forks = forks
        self._pidfd = os.pidfd_open(self.pid)
        asyncio.get_running_loop().add_reader(self._pidfd, self._on_end)

    def configure(self, config: WorkerConfig) -> None:
        with suppress(BrokenPipeError):
            self._channel.sendall(encode_config(config))

    def is_ready_or_ended(self) -> bool:
        """Return whether the process has reported that it is ready, or has ended."""
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
            signal.pidfd_send_signal(self._pidfd, number)

    def _on_end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._pidfd)
        self.exit_code = self._forks.exit_code(self.pid)
        os.close(self._pidfd)
        self._channel.close()
        self.ended.set()


class Roles:
    """Relay and recorder, as an async context manager.

    ``deaths`` has the role and the exit code of each process that ended without being stopped, or with a code other
    than 0.
    """

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
        self._restarters: list[asyncio.Task[None]] = []
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
        for keeper in self._restarters:
            keeper.cancel()
        self._listener.close()
        self.data.close()

    def start(self, role: Traced) -> None:
        """Start a role and restart it whenever it dies."""
        self._configure(role, self._fork(role))

    def start_traced(
        self, role: Traced, calls: tuple[str, ...], injections: tuple[str, ...], files: tuple[str, ...] = ()
    ) -> Tracer:
        """Start a role, and trace its first process from the first instruction."""
        process = self._fork(role)
        tracer = self.trace(role, calls, injections, files)
        self._configure(role, process)
        return tracer

    def trace(
        self,
        role: Traced,
        calls: tuple[str, ...],
        injections: tuple[str, ...],
        files: tuple[str, ...] = (),
        thread: int | None = None,
    ) -> Tracer:
        """Attach strace to the process of a role.

        By default all its calls are traced, on every file and in all threads. ``thread`` is the index of a single
        thread to trace, in the order in which the threads were started.
        """
        pid = traced = self.pid(role)
        if thread is not None:
            traced = sorted(int(path.name) for path in Path(f"/proc/{pid}/task").iterdir())[thread]
        paths = [self.data.path / file for file in files]
        tracer = Tracer(traced, self._directory, calls, injections, paths, only_this_thread=thread is not None)
        self._tracers.append(tracer)
        return tracer

    def pid(self, role: Traced) -> int:
        """Return the pid of the role's current process."""
        return self._running[role].pid

    def _fork(self, role: Traced) -> _Process:
        process = self._running[role] = _Process(self._forks, self._stderr(role), self._listener)
        return process

    def _configure(self, role: Traced, process: _Process) -> None:
        url = f"http://127.0.0.1:{self.port}"
        process.configure(WorkerConfig(role, self._settings, f"{url}/v1", url, socket=LISTENER))
        self._restarters.append(asyncio.get_running_loop().create_task(self._restart_on_death(role, process)))

    async def _restart_on_death(self, role: Traced, process: _Process) -> None:
        await process.ended.wait()
        if not self._stopping:
            assert process.exit_code is not None
            self.deaths.append((role, process.exit_code))
            if len(self.deaths) < _MAX_DEATHS:
                self.start(role)

    async def stop(self) -> None:
        """Stop the relay and then the recorder, as the supervisor does.

        If a death leaves a part of the journal unrecorded, another recorder is started to record that part.
        """
        self._stopping = True
        for role in ROLES:
            process = self._running[role]
            await wait_for(process.is_ready_or_ended, f"the start of the {role}", TIMEOUT_SECONDS)
            process.signal(signal.SIGTERM)
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await process.ended.wait()
            if process.exit_code != 0:
                self.deaths.append((role, process.exit_code or 0))
        if not self.is_recorded():
            self.start("recorder")
            await wait_for(self.is_recorded, "recording what a death left behind", TIMEOUT_SECONDS)
            self._running["recorder"].signal(signal.SIGTERM)
            await self._running["recorder"].ended.wait()

    def is_recorded(self) -> bool:
        """Return whether the recorder has read and deleted the whole journal."""
        return not list_runs(self.data.journal)

    def stderr(self, role: Traced) -> str:
        """Return the operator log of a role."""
        return self._stderr(role).read_text()

    def _stderr(self, role: Traced) -> Path:
        return self._directory / f"{role}.stderr"
