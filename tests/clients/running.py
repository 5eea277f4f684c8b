"""Run a client program in a home directory of its own, with nothing of the caller's environment."""

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.clients.client import Client, Run
from tests.clients.installing import NODE

#: A program that is not done after this time is killed.
_SECONDS: Final = 120


@dataclass
class Finished:
    """The commands of a client that ran. ``status`` is the first exit code that is not 0; `None` means a time-out."""

    status: int | None
    output: str
    seconds: float


def run_client(client: Client, run: Run, home: Path, work: Path, commands: Path) -> Finished:
    """Run all commands of a client, until one of them fails."""
    for name, text in run.files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    started = time.monotonic()
    output = b""
    status: int | None = 0
    for number, command in enumerate(run.commands):
        path = home / f"{client.name}.{number}.out"
        status = _run([str(commands / command[0]), *command[1:]], _environment(run, home, commands), work, path, run)
        output += path.read_bytes()
        if status != 0:
            break
    return Finished(status, output.decode(errors="replace"), time.monotonic() - started)


def _environment(run: Run, home: Path, commands: Path) -> dict[str, str]:
    path = os.pathsep.join([str(commands), str(NODE), os.environ.get("PATH", os.defpath)])
    temporary = home / "tmp"
    temporary.mkdir(exist_ok=True)
    own = {
        "HOME": str(home),
        "PATH": path,
        "TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
    }
    return own | run.env


def _run(command: list[str], env: dict[str, str], work: Path, output: Path, run: Run) -> int | None:
    """Return the exit code. When the program ends, everything that it started is killed."""
    with output.open("wb") as written:
        process = subprocess.Popen(
            command,
            env=env,
            cwd=work,
            stdin=subprocess.PIPE,
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.communicate(run.stdin.encode(), timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _kill_group(process.pid)
            process.wait(10)
    return process.returncode


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
