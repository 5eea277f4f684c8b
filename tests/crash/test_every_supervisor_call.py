"""Kills the supervisor at the entry of every system call that changes something: as it starts, looks after, stops.

Its children end by themselves then, and a new start goes on with the same data. One call in a sample,
every call in the long form.
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
from tests.crash.scripted import ask_all, ask_until_answered
from tests.crash.service import Provider
from tests.crash.strace import PATIENCE_SECONDS, Instant, instants, killing, read_calls
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
#: The tracer runs beside its parent's child, so the process keeps its id; what the supervisor starts is left alone.
_STRACE: Final = "import os, sys; os.execvp('strace', ['strace', '-D', *sys.argv[1:]])"


class TracedServer(Program):
    """``relaybook serve`` on free ports, under strace from its first instant; may die at any point."""

    def __init__(self, directory: Path, upstream: str, injections: list[str]) -> None:
        self.log = directory / "strace"
        flags = ["--trace=" + ",".join(CALLS), f"--output={self.log}", *(f"--inject={each}" for each in injections)]
        serve = ["-m", "relaybook.cli.main", "serve", "--upstream", upstream, "--data", str(directory / "data")]
        where = ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0", "--min-free", str(1 << 20)]
        super().__init__(["-c", _STRACE, *flags, sys.executable, *serve, *where], directory, "traced")

    @property
    def port(self) -> int | None:
        """Where its relay listens; None when it died before it could say so."""
        with suppress(AssertionError):
            return int(self.printed(r"base URL\s+http://127\.0\.0\.1:(\d+)/v1", PATIENCE_SECONDS))
        assert self.process.poll() == -signal.SIGKILL, f"it ended with {self.process.returncode}: {self.stderr}"
        return None

    def kill_recorder(self) -> None:
        """Gives the supervisor something to do; returns when it has done it, or has died of it."""
        wait_until(lambda: self._recorders() or self.process.poll() is not None, PATIENCE_SECONDS, "a recorder")
        recorders = self._recorders()
        if not recorders:
            return  # it died before it had one
        os.kill(recorders[-1], signal.SIGKILL)
        wait_until(
            lambda: len(self._recorders()) > len(recorders) or self.process.poll() is not None,
            PATIENCE_SECONDS,
            "starting the recorder again",
        )

    def _recorders(self) -> list[int]:
        events = [json.loads(line) for line in self.stderr.splitlines() if line.startswith("{") and line.endswith("}")]
        return [each["pid"] for each in events if each["event"] == "child_started" and each["role"] == "recorder"]


@dataclass(frozen=True)
class Outcome:
    """What became of one run."""

    violations: list[Violation]
    died: bool
    cut: int
    log: Path


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    with Provider(tmp_path_factory.mktemp("provider")) as provider:
        yield provider


def test_killed_at_any_call_the_supervisor_leaves_nothing_behind_that_a_new_start_does_not_record(
    provider: Provider, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tally = Tally("killed at a call: supervisor")
    untouched = _run(provider, tmp_path / "untouched")
    assert (untouched.violations, untouched.died, untouched.cut) == ([], False, 0)
    every = instants(read_calls(untouched.log.read_text().splitlines()))
    for instant in chosen(every, tally, new_rng()):
        outcome = _run(provider, tmp_path / f"{instant.call}-{instant.number}", instant)
        tally.hit += outcome.died
        tally.cut += outcome.cut
        tally.add(instant, outcome.violations)
    tally.show(capsys)
    assert "\n".join(tally.failures) == ""
    assert tally.hit >= (tally.tried / 2 if LONG else 1), "hardly any death came to pass: no two runs are alike"


def _run(provider: Provider, directory: Path, instant: Instant | None = None) -> Outcome:
    directory.mkdir()
    server = TracedServer(directory, provider.url, [killing(instant)] if instant else [])
    calls: list[Call] = []
    if (port := server.port) is not None:
        calls += uvloop.run(ask_all(port, f"{directory.name}-before", SCRIPT))
        server.kill_recorder()
    if port is not None and server.process.poll() is None:
        calls += uvloop.run(ask_all(port, f"{directory.name}-between", SCRIPT))
    died = server.stop(PATIENCE_SECONDS) == -signal.SIGKILL
    journal = directory / "data" / "journal"
    if died:
        with Server(directory, provider.url, data=directory / "data") as after:
            calls += uvloop.run(ask_until_answered(after.port, f"{directory.name}-after"))
            after.record(calls[-1].request_id or "", PATIENCE_SECONDS)
            wait_until(lambda: len(list_runs(journal)) == 1, PATIENCE_SECONDS, "recording what the dead one left")
            assert after.stop(PATIENCE_SECONDS) == 0
    served: list[Served] = []

    def is_over() -> bool:
        served.extend(provider.ended())
        return not provider.open

    wait_until(is_over, PATIENCE_SECONDS, "the end of all answers")
    violations = judge(served, calls, read_log(directory / "data" / "store"))
    violations += [Violation("lost", None, f"{path} is left unrecorded") for path in list_runs(journal)]
    return Outcome(violations, died, sum(not call.complete for call in calls), server.log)
