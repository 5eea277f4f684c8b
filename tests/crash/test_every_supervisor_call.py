"""Kill the supervisor at the start of system calls that change something: while it starts, restarts a child, or stops.

The children of a killed supervisor end by themselves, and a new start continues with the same data. By default random
calls are tried until a kill has happened. In the long form every call is tried.
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
import uvloop
from tests.crash.judge import Call, Served, Violation, judge
from tests.crash.load import Choice
from tests.crash.runs import read_log
from tests.crash.scripted import send_script, send_until_success
from tests.crash.service import Provider
from tests.crash.strace import TIMEOUT_SECONDS, Instant, instants, killing, read_calls
from tests.crash.tries import Tally, chosen
from tests.support.long import LONG, new_rng
from tests.support.needs import needs
from tests.support.server import Program, Server, wait_until

from relaybook.journal.reader import list_runs

pytestmark = needs("strace")

CALLS: Final = (
    *("mkdir", "rename", "write", "flock", "bind", "listen", "pipe2"),
    *("fork", "vfork", "clone", "clone3", "kill", "pidfd_send_signal"),
)
SCRIPT: Final[tuple[Choice, ...]] = (("stream", 12, None), ("whole", 400, None), ("whole", 3000, None))
#: strace runs beside the supervisor, so the supervisor keeps its pid. The supervisor's children are not traced.
_STRACE: Final = "import os, sys; os.execvp('strace', ['strace', '-D', *sys.argv[1:]])"


class TracedServer(Program):
    """``relaybook serve`` on free ports, traced from the first instruction. The process may die at any point."""

    def __init__(self, directory: Path, upstream: str, injections: list[str]) -> None:
        self.log = directory / "strace"
        flags = ["--trace=" + ",".join(CALLS), f"--output={self.log}", *(f"--inject={each}" for each in injections)]
        serve = ["-m", "relaybook.cli.main", "serve", "--upstream", upstream, "--data", str(directory / "data")]
        port = ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0", "--min-free", str(1 << 20)]
        super().__init__(["-c", _STRACE, *flags, sys.executable, *serve, *port], directory, "traced")

    @property
    def port(self) -> int | None:
        """The port of the relay, or `None` if the process died before it could print the port."""
        with suppress(AssertionError):
            return int(self.printed(r"base URL\s+http://127\.0\.0\.1:(\d+)/v1", TIMEOUT_SECONDS))
        assert self.process.poll() == -signal.SIGKILL, f"it ended with {self.process.returncode}: {self.stderr}"
        return None

    def kill_recorder(self) -> None:
        """Kill the recorder. Returns when the supervisor has restarted the recorder or has died."""
        wait_until(lambda: self._recorders() or self.process.poll() is not None, TIMEOUT_SECONDS, "a recorder")
        recorders = self._recorders()
        if not recorders:
            return  # the supervisor died before it had started a recorder
        os.kill(recorders[-1], signal.SIGKILL)
        wait_until(
            lambda: len(self._recorders()) > len(recorders) or self.process.poll() is not None,
            TIMEOUT_SECONDS,
            "starting the recorder again",
        )

    def _recorders(self) -> list[int]:
        events = [json.loads(line) for line in self.stderr.splitlines() if line.startswith("{") and line.endswith("}")]
        return [each["pid"] for each in events if each["event"] == "child_started" and each["role"] == "recorder"]


@dataclass(frozen=True)
class Outcome:
    """The result of one run."""

    violations: list[Violation]
    died: bool
    interrupted: int
    log: Path


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    with Provider(tmp_path_factory.mktemp("provider")) as provider:
        yield provider


def test_if_the_supervisor_is_killed_at_a_system_call_a_new_start_records_everything(
    provider: Provider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tally = Tally("killed at a call: supervisor")
    untouched = _run(provider, tmp_path / "untouched")
    assert (untouched.violations, untouched.died, untouched.interrupted) == ([], False, 0)
    every = instants(read_calls(untouched.log.read_text().splitlines()))
    for instant in chosen(every, tally, new_rng()):
        outcome = _run(provider, tmp_path / f"{instant.call}-{instant.number}", instant)
        tally.hit += outcome.died
        tally.interrupted += outcome.interrupted
        tally.add(instant, outcome.violations)
    tally.show(capsys)
    assert "\n".join(tally.failures) == ""
    assert tally.hit >= (tally.tried / 2 if LONG else 1), "hardly any kill happened: no two runs make the same calls"


def _run(provider: Provider, directory: Path, instant: Instant | None = None) -> Outcome:
    directory.mkdir()
    server = TracedServer(directory, provider.url, [killing(instant)] if instant else [])
    calls: list[Call] = []
    if (port := server.port) is not None:
        calls += uvloop.run(send_script(port, f"{directory.name}-before", SCRIPT, until_refused=True))
        server.kill_recorder()
    if port is not None and server.process.poll() is None:
        calls += uvloop.run(send_script(port, f"{directory.name}-between", SCRIPT, until_refused=True))
    died = server.stop(TIMEOUT_SECONDS) == -signal.SIGKILL
    journal = directory / "data" / "journal"
    if died:
        with Server(directory, provider.url, data=directory / "data") as after:
            calls += uvloop.run(send_until_success(after.port, f"{directory.name}-after"))
            after.record(calls[-1].request_id or "", TIMEOUT_SECONDS)
            wait_until(lambda: len(list_runs(journal)) == 1, TIMEOUT_SECONDS, "recording what the dead one left")
            assert after.stop(TIMEOUT_SECONDS) == 0
    served: list[Served] = []

    def is_over() -> bool:
        served.extend(provider.ended())
        return not provider.open

    wait_until(is_over, TIMEOUT_SECONDS, "the end of all responses")
    violations = judge(served, calls, read_log(directory / "data" / "store"))
    violations += [Violation("lost", None, f"{path} is left unrecorded") for path in list_runs(journal)]
    return Outcome(violations, died, sum(not call.complete for call in calls), server.log)
