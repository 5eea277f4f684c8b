"""Puts strace beside a process: to see its system calls, and to make one of them fail or the last.

Counts as strace counts: the nth call of a name is the nth that one thread makes.
"""

import re
import signal
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.server import wait_until

#: Patience with a machine that is busy with other things.
PATIENCE_SECONDS: Final = 60.0
SYNCS: Final = ("fdatasync", "fsync")
_TOO_BIG: Final = "EFBIG"
#: A thread's id stands first where several are traced. What begins with ``<... `` is the end of an earlier line.
_LINE: Final = re.compile(r"^(\d* *)(<\.\.\. )?(\w+)(?:\(| resumed>)(.*)$")
#: A call's descriptor, and the path behind it.
_DESCRIPTOR: Final = re.compile(r"^\d+<.*?>")


class Seen(NamedTuple):
    """A system call that began: which thread's, its name, the how manieth of that name in its thread, and the rest."""

    thread: str
    call: str
    number: int
    rest: str


class Instant(NamedTuple):
    """The entry of a thread's nth call of a name."""

    call: str
    number: int

    def __str__(self) -> str:
        return f"{self.call} {self.number}"


def killing(instant: Instant) -> str:
    """Dies there: the call itself is not done any more."""
    return f"{instant.call}:signal=SIGKILL:when={instant.number}"


class Tracer:
    """strace, attached to a process with all its threads. ``injections`` are values of its ``--inject``."""

    def __init__(
        self,
        pid: int,
        directory: Path,
        calls: Iterable[str],
        injections: Sequence[str] = (),
        *,
        only_this_thread: bool = False,
    ) -> None:
        """Returns when it is attached: nothing the process does from now on goes unseen."""
        self._log = directory / f"strace-{pid}"
        said = directory / f"strace-{pid}.stderr"
        threads = [] if only_this_thread else ["--follow-forks"]
        injected = [f"--inject={each}" for each in injections]
        command = ["strace", *threads, "--decode-fds=path", "-s0", f"--trace={','.join(calls)}", *injected]
        with said.open("wb") as err:
            self._process = subprocess.Popen([*command, f"--output={self._log}", f"--attach={pid}"], stderr=err)

        def is_attached() -> bool:
            has_ended = self._process.poll() is not None  # asked first: who was attached may be dead by now, as wished
            attached = b"attached" in said.read_bytes()
            assert attached or not has_ended, f"strace ended at once: {said.read_text()}"
            return attached

        wait_until(is_attached, PATIENCE_SECONDS, "attaching strace")

    def detach(self) -> None:
        """Lets the process go on untouched."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        self.wait()

    def wait(self) -> None:
        """Returns when the process has ended, or was let go."""
        self._process.wait(PATIENCE_SECONDS)

    def lines(self) -> list[str]:
        """What it wrote."""
        return self._log.read_text(errors="replace").splitlines()

    def has_cut_short(self) -> bool:
        """Whether a write has met the limit of what a file may hold."""
        return any(_TOO_BIG in line for line in self.lines())

    def seen(self) -> list[Seen]:
        """All calls in the order in which they began."""
        return read_calls(self.lines())


def read_calls(lines: Iterable[str]) -> list[Seen]:
    """The calls of strace's output. One that was interrupted by another thread's counts where it began."""
    found: list[Seen] = []
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
        found.append(Seen(thread, call, counts[thread, call], rest))
    return found


def synced_after_failure(seen: Iterable[Seen]) -> list[str]:
    """Descriptors that were synced again after a sync of theirs had failed. ``close`` must be among the calls seen."""
    failed: set[str] = set()
    again = []
    for each in seen:
        match = _DESCRIPTOR.match(each.rest)
        if match is None:
            continue
        if each.call == "close":
            failed.discard(match[0])
        elif each.call in SYNCS:
            if match[0] in failed:
                again.append(match[0])
            if "= -1" in each.rest:
                failed.add(match[0])
    return again


def instants(seen: Iterable[Seen]) -> list[Instant]:
    """Each instant once, in the order in which a run comes to them."""
    return list(dict.fromkeys(Instant(each.call, each.number) for each in seen))
