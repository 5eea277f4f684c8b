"""Attach strace to a process to record its system calls, make a call fail, or kill the process at a call.

Calls are numbered as in strace: separately for each name and each thread.
"""

import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.server import wait_until

#: Long enough for a busy machine.
TIMEOUT_SECONDS: Final = 60.0
#: Calls that change a file.
CHANGES: Final = ("pwrite64", "fallocate", "ftruncate", "fdatasync", "fsync", "unlink", "unlinkat", "rename")
SYNCS: Final = ("fdatasync", "fsync")
_TOO_BIG: Final = "EFBIG"
#: If several threads are traced, each line starts with the id of its thread. ``<... `` marks the continuation of an
#: earlier line.
_LINE: Final = re.compile(r"^(\d* *)(<\.\.\. )?(\w+)(?:\(| resumed>)(.*)$")
#: The descriptor of a call, with its path.
_DESCRIPTOR: Final = re.compile(r"^\d+<.*?>")


class TracedCall(NamedTuple):
    """A system call that began: its thread, its name, its number, and the remainder of its line."""

    thread: str
    call: str
    number: int
    rest: str


class Instant(NamedTuple):
    """The start of the nth call of one name in a thread."""

    call: str
    number: int

    def __str__(self) -> str:
        return f"{self.call} {self.number}"


def killing(instant: Instant) -> str:
    """Return an injection that kills the process at an instant. The call itself is not executed."""
    return f"{instant.call}:signal=SIGKILL:when={instant.number}"


class Tracer:
    """Runs strace on a process.

    ``injections`` are values of strace's ``--inject`` option. If there are ``paths``, only calls on these files are
    traced and can fail.
    """

    def __init__(
        self,
        pid: int,
        directory: Path,
        calls: Iterable[str],
        injections: Sequence[str] = (),
        paths: Iterable[Path] = (),
        *,
        only_this_thread: bool = False,
    ) -> None:
        """Attach strace, and return when it is attached. All later calls of the process are recorded."""
        self._log = directory / f"strace-{pid}"
        output = directory / f"strace-{pid}.stderr"
        threads = [] if only_this_thread else ["--follow-forks"]
        injected = [f"--inject={each}" for each in injections]
        only = [f"--trace-path={path}" for path in paths]
        command = ["strace", *threads, "--decode-fds=path", "-s0", f"--trace={','.join(calls)}", *injected, *only]
        with output.open("wb") as err:
            self._process = subprocess.Popen([*command, f"--output={self._log}", f"--attach={pid}"], stderr=err)

        def is_attached() -> bool:
            # Check this before reading the output, because an injection may kill the process right after strace is
            # attached.
            has_ended = self._process.poll() is not None
            attached = b"attached" in output.read_bytes()
            assert attached or not has_ended, f"strace ended at once: {output.read_text()}"
            return attached

        wait_until(is_attached, TIMEOUT_SECONDS, "attaching strace")

    def detach(self) -> None:
        """Detach strace, and let the process continue."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        self.wait()

    def wait(self) -> None:
        """Wait until the process has ended or strace is detached."""
        self._process.wait(TIMEOUT_SECONDS)

    def lines(self) -> list[str]:
        """Return strace's output."""
        return self._log.read_text(errors="replace").splitlines()

    def has_short_write(self) -> bool:
        """Return whether a write has reached the limit on the file size."""
        return any(_TOO_BIG in line for line in self.lines())

    def has_killed(self) -> bool:
        """Return whether the program was killed at the instant of the injection."""
        return "SIGKILL" in "\n".join(self.lines()[-3:])

    def traced_calls(self) -> list[TracedCall]:
        """Return all calls, in the order in which they began."""
        return read_calls(self.lines())


def trace_program(source: str, argument: Path, calls: Iterable[str], killed_at: Instant | None = None) -> Tracer:
    """Run a Python program with one argument under strace until it ends. Kill it at an instant if one is given.

    The program must wait for a line on standard input, which is sent when strace is attached.
    """
    command = [sys.executable, "-c", source, str(argument)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as program:
        assert program.stdin is not None
        tracer = Tracer(program.pid, argument.parent, calls, [killing(killed_at)] if killed_at else [])
        try:
            program.stdin.write(b"\n")
            program.stdin.close()
        except BrokenPipeError:  # the program was killed while it waited
            pass
        program.wait(TIMEOUT_SECONDS)
    tracer.wait()
    return tracer


def read_calls(lines: Iterable[str]) -> list[TracedCall]:
    """Parse strace's output. Returns the calls in the order in which they began."""
    found: list[TracedCall] = []
    counts: Counter[tuple[str, str]] = Counter()
    begun: dict[tuple[str, str], int] = {}
    for line in lines:
        match = _LINE.match(line)
        if match is None:
            continue
        thread, resumed, call, rest = match[1].strip(), match[2], match[3], match[4]
        if resumed and (thread, call) in begun:
            place = begun[thread, call]
            found[place] = found[place]._replace(rest=found[place].rest + rest)
            continue
        counts[thread, call] += 1
        begun[thread, call] = len(found)
        found.append(TracedCall(thread, call, counts[thread, call], rest))
    return found


def synced_after_failure(calls: Iterable[TracedCall]) -> list[str]:
    """Return descriptors that were synced again after a failed sync. The traced calls must include ``close``."""
    failed: set[str] = set()
    resynced = []
    for each in calls:
        match = _DESCRIPTOR.match(each.rest)
        if match is None:
            continue
        if each.call == "close":
            failed.discard(match[0])
        elif each.call in SYNCS:
            if match[0] in failed:
                resynced.append(match[0])
            if "= -1" in each.rest:
                failed.add(match[0])
    return resynced


def instants(calls: Iterable[TracedCall]) -> list[Instant]:
    """Return the instants of these calls, each once, in order."""
    return list(dict.fromkeys(Instant(each.call, each.number) for each in calls))
