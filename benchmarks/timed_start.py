"""Measure a start of ``relaybook serve``, from before its exec to the first response, and each step of the start.

Unlike ``Relaybook``, this class does not wait for readiness. The kernel accepts connections as soon as the supervisor
listens, so a request that is sent early gets its response as soon as the relay runs.
"""

import datetime
import http.client
import os
import signal
import subprocess
import sysconfig
import time
from pathlib import Path
from typing import Any, Final

from tests.support.server import Server, is_running, wait_until

from benchmarks.bench import ROLES, Bench
from benchmarks.traffic.messages import FIVE, REQUEST_BODY

_PATIENCE_SECONDS: Final = 60.0


class TimedStart(Server):
    """A server that was just started on a data directory and may not be ready."""

    def __init__(self, bench: Bench, place: Path, upstream: str, data: Path) -> None:
        self.data = data
        self.stdout_path = place / "serve.stdout"
        self.stderr_path = place / "serve.stderr"
        addresses = ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0", "--min-free", str(1 << 20)]
        command = [bench.python, "-m", "relaybook.cli.main", "serve", "--upstream", upstream, "--data", str(data)]
        with self.stdout_path.open("wb") as out, self.stderr_path.open("wb") as err:
            self.started_ns = time.time_ns()
            self.process = subprocess.Popen([*command, *addresses], stdout=out, stderr=err, env=_as_installed(bench))
        self.base_url = self.printed(r"base URL\s+(\S+)", _PATIENCE_SECONDS)
        self.dashboard = self.printed(r"dashboard\s+(\S+)", _PATIENCE_SECONDS)
        self.port = int(self.base_url.removesuffix("/v1").rpartition(":")[2])

    def steps_to_first_response(self) -> dict[str, float]:
        """Return the milliseconds of each step from the start to the first response, and the total (wall clock)."""
        _, answered_ns = first_response(self.port)
        relay_ns = self._child_started_ns("relay")
        journal_ns = max(path.stat().st_mtime_ns for path in self.data.glob("journal/*/lock"))
        timestamps = [self.started_ns, relay_ns, journal_ns, answered_ns]
        names = ("supervisor_ms", "relay_imports_ms", "relay_listens_and_answers_ms")
        steps = {name: (timestamps[at + 1] - timestamps[at]) / 1e6 for at, name in enumerate(names)}
        return steps | {"all_ms": (answered_ns - self.started_ns) / 1e6}

    def _child_started_ns(self, role: str) -> int:
        """Return when the supervisor had started a child, according to the operator's log, in nanoseconds."""

        def look() -> dict[str, Any] | None:
            return next((line for line in self.events("child_started") if line["role"] == role), None)

        line = wait_until(look, _PATIENCE_SECONDS, f"the start of the {role}")
        return int(datetime.datetime.fromisoformat(line["at"]).timestamp() * 1e6) * 1000

    def stop_at_once(self) -> None:
        """Kill the server, because the recorder may have a large backlog."""
        pids = [self.pid_of(role) for role in ROLES]
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(_PATIENCE_SECONDS)
        for pid in pids:
            wait_until(lambda pid=pid: not is_running(pid), _PATIENCE_SECONDS, "the end of a child")  # type: ignore[misc]


def _as_installed(bench: Bench) -> dict[str, str]:
    """Return an environment in which Python finds cached bytecode, as for an installed program.

    The bytecode is stored in the run's directory, so Python neither writes bytecode next to the sources nor reads it
    from there.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = os.pathsep.join([str(bench.source), sysconfig.get_path("purelib")])
    environment["PYTHONPYCACHEPREFIX"] = str(bench.place("byte-code"))
    return environment


def first_response(port: int) -> tuple[int, int]:
    """Send requests until one succeeds. Returns the number of failures and the time of success (wall clock, ns)."""
    headers = dict(FIVE.request)
    for failed in range(10_000):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_SECONDS)
        try:
            connection.request("POST", "/v1/chat/completions", REQUEST_BODY, headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status == 200:
                return failed, time.time_ns()
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.005)
    raise ConnectionError("the relay answered none of 10,000 requests")
