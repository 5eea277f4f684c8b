"""Start real ``relaybook`` processes for a test, and stop them by pid."""

import asyncio
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import uvloop

from relaybook_demo.simulator import Simulator, SimulatorSettings

T = TypeVar("T")


def wait_until(found: Callable[[], T | None], seconds: float = 30.0, what: str = "it") -> T:
    """Call ``found`` until it returns a true value, and return this value. Fails the test after ``seconds``.

    The pauses between calls become longer, because frequent calls would take CPU time from the awaited process.
    """
    started_at = time.monotonic()
    while (waited := time.monotonic() - started_at) < seconds:
        value = found()
        if value:
            return value
        time.sleep(min(max(waited / 10, 0.01), 0.1))
    raise AssertionError(f"{what} did not happen within {seconds} s")


def is_running(pid: int) -> bool:
    """Return whether a process is running. A zombie does not count as running."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return not Path("/proc/self").exists()  # the process was just reaped, or this is macOS, which has no /proc


class Program:
    """A process whose output is written to files."""

    def __init__(
        self,
        arguments: list[str],
        directory: Path,
        name: str,
        env: dict[str, str] | None = None,
        under: Sequence[str] = (),
    ) -> None:
        """Start the process. ``under`` is a command that executes it, such as ``unshare``."""
        self.stdout_path = directory / f"{name}.stdout"
        self.stderr_path = directory / f"{name}.stderr"
        with self.stdout_path.open("wb") as out, self.stderr_path.open("wb") as err:
            self.process = subprocess.Popen([*under, sys.executable, *arguments], stdout=out, stderr=err, env=env)

    @property
    def stdout(self) -> str:
        return self.stdout_path.read_text()

    @property
    def stderr(self) -> str:
        return self.stderr_path.read_text()

    def printed(self, pattern: str, seconds: float = 60.0) -> str:
        """Wait until the program has printed a pattern, and return its first group. Kill the program if it does not."""

        def read() -> str | None:
            found = re.search(pattern, self.stdout)
            if found is None and self.process.poll() is not None:
                raise AssertionError(f"it ended with {self.process.returncode}: {self.stdout}{self.stderr}")
            return found[1] if found else None

        try:
            return wait_until(read, seconds, f"printing {pattern}")
        except BaseException:
            self.kill()  # the caller is often a constructor, and then nothing else can end the process
            raise

    def stop(self, seconds: float = 40.0) -> int:
        """Stop the process with SIGTERM and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def kill(self) -> None:
        """Stop the process with SIGKILL."""
        self.process.kill()
        self.process.wait(10)


class SimulatedProvider:
    """Runs the simulated upstream in a thread of this process. ``url`` is its base URL.

    A thread takes less CPU time than a process, which would import all modules again.
    """

    def __init__(self, **settings: Any) -> None:
        """Start the simulator with ``SimulatorSettings``."""
        chosen = SimulatorSettings(**settings)
        self._simulator = Simulator(chosen)
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.url = f"http://{chosen.host}:{self._run(self._simulator.start(chosen.host, chosen.port))}/v1"
        #: Number of the first ledger entry that the next reader needs.
        self.ledger_start = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop listening and abort all connections. Further calls do nothing."""
        if self._loop.is_closed():
            return
        self._run(self._simulator.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(40)


class SimulatorProcess(Program):
    """Runs ``python -m relaybook_demo.simulator`` on a free port, for a load that a thread could not serve."""

    def __init__(self, directory: Path, *flags: str) -> None:
        super().__init__(["-m", "relaybook_demo.simulator", "--listen", "127.0.0.1:0", *flags], directory, "simulator")
        self.url = self.printed(r"(http://\S+/v1)")
        #: Number of the first ledger entry that the next reader needs.
        self.ledger_start = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Dashboard(Program):
    """Runs a command that serves the dashboard. ``dashboard`` is its URL."""

    #: The data directory.
    data: Path

    def __init__(
        self,
        arguments: list[str],
        directory: Path,
        name: str,
        env: dict[str, str] | None = None,
        under: Sequence[str] = (),
    ) -> None:
        super().__init__(arguments, directory, name, env, under)
        self.dashboard = self.printed(r"dashboard\s+(http\S+)")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return the lines of the operator log with this event name."""
        lines = [json.loads(line) for line in self.stderr.splitlines() if line.startswith("{")]
        return [line for line in lines if line["event"] == name]

    def pid_of(self, role: str) -> int:
        """Return the pid of the current process of a role, which is the last one that was started."""

        def started() -> list[int]:
            return [event["pid"] for event in self.events("child_started") if event["role"] == role]

        return wait_until(started, what=f"the start of the {role}")[-1]

    def get(self, path: str) -> Any:
        """Return the JSON response of an API path, even if it is an error."""
        try:
            with urllib.request.urlopen(self.dashboard + path, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            return json.load(error)

    def metrics(self) -> str:
        """Return the text of /metrics."""
        connection = http.client.HTTPConnection(urlsplit(self.dashboard).netloc, timeout=10)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return text

    def records(self, query: str = "") -> list[dict[str, Any]]:
        """Return all finished records that match a query, newest first, from all pages."""
        found: list[dict[str, Any]] = []
        cursor = ""
        while True:
            page = self.get(f"/api/requests?limit=500{'&' + query if query else ''}{cursor}")
            assert "data" in page, page
            found += page["data"]
            if page["next_cursor"] is None:
                return found
            cursor = f"&cursor={page['next_cursor']}"

    def record(self, request_id: str, seconds: float = 30.0) -> dict[str, Any]:
        """Wait until a request is finished and recorded, and return its detail."""

        def read() -> dict[str, Any] | None:
            found = self.get(f"/api/requests/{request_id}")
            return found if found.get("outcome", "open") != "open" else None

        return wait_until(read, seconds, f"record {request_id}")

    def body(self, request_id: str, side: str) -> bytes:
        """Return a stored body as it was transferred."""
        with urllib.request.urlopen(
            f"{self.dashboard}/api/requests/{request_id}/{side}?as=sent", timeout=30
        ) as response:
            return bytes(response.read())


class Server(Dashboard):
    """Runs ``relaybook serve`` on free ports. ``base_url`` and ``dashboard`` are its URLs."""

    def __init__(
        self,
        directory: Path,
        upstream: str,
        *flags: str,
        data: Path | None = None,
        env: dict[str, str] | None = None,
        under: Sequence[str] = (),
    ) -> None:
        self.data = data or directory / "data"
        arguments = ["-m", "relaybook.cli.main", "serve", "--upstream", upstream, "--data", str(self.data)]
        if "--listen" not in flags:
            arguments += ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0"]
        if "--min-free" not in flags:
            arguments += ["--min-free", str(1 << 20)]
        super().__init__([*arguments, *flags], directory, "serve", env, under)
        self.base_url = self.printed(r"base URL\s+(\S+)")
        self.port = urlsplit(self.base_url).port or 0
