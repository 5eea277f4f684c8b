"""Define the interface of compared proxies, and a base class for proxies that are a single command."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, Self

from tests.support.server import wait_until

from benchmarks.process_cpu import resident_kib
from benchmarks.traffic.nginx import free_port

NOTHING: Mapping[str, str] = MappingProxyType({})
_START_SECONDS = 90.0


class NotInstalled(Exception):
    """The proxy cannot be started on this machine. The message says what is missing."""


@dataclass(frozen=True)
class Upstream:
    """The upstream of a proxy, which is a port on loopback.

    With ``ca_file``, the upstream uses TLS with a certificate of this CA.
    """

    port: int
    ca_file: Path | None = None

    @property
    def url(self) -> str:
        """The base URL of the upstream, with ``/v1``. The URL has a host name if a certificate has to match."""
        return f"http://127.0.0.1:{self.port}/v1" if self.ca_file is None else f"https://localhost:{self.port}/v1"


class Peer(Protocol):
    """A running proxy, which is a context manager.

    After entry, the proxy responds to requests. After exit, all its processes have ended.
    """

    @property
    def name(self) -> str:
        """The heading of the proxy's column."""

    @property
    def version(self) -> str:
        """The versions of the program and of its runtime."""

    @property
    def port(self) -> int:
        """The port for clients, on 127.0.0.1."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers that clients must send in addition to their own."""

    def pids(self) -> list[int]:
        """Return all processes of the proxy. The list is empty if there is no proxy."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class StartedPeer:
    """A proxy that is one command. Creating the object starts the proxy, which accepts connections after entry."""

    name = ""
    headers: Mapping[str, str] = NOTHING

    def __init__(self, place: Path, command: Sequence[str], port: int, version: str, env: Mapping[str, str]) -> None:
        """``place`` is the working directory and contains the output.

        Proxy settings in the environment are not passed on.
        """
        self.port = port
        self.version = version
        self.output = place / "output"
        own = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        with self.output.open("wb") as out:
            self._process = subprocess.Popen(command, stdout=out, stderr=out, cwd=place, env=own | dict(env))

    def pids(self) -> list[int]:
        """Return the command's process and its descendants."""
        return process_tree(self._process.pid)

    def __enter__(self) -> Self:
        wait_until(lambda: self._listens() or self._process.poll() is not None, _START_SECONDS, f"start of {self.name}")
        if self._process.poll() is not None:
            last = self.output.read_text("utf-8", "replace").strip().splitlines()[-1:]
            raise NotInstalled(f"it ended with {self._process.returncode}: {''.join(last)[:200]}")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)

    def _listens(self) -> bool:
        """Return whether the port is listening, without connecting. So the proxy is unused before it is measured."""
        wanted = f":{self.port:04X}"
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            for line in Path(table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[1].endswith(wanted) and fields[3] == "0A":
                    return True
        return False


def process_tree(pid: int) -> list[int]:
    """Return a process and all its running descendants."""
    found = [pid]
    for parent in found:
        for children in Path(f"/proc/{parent}/task").glob("*/children"):
            found += [int(each) for each in children.read_text().split()]
    return found


def resident_mib(peer: Peer) -> float:
    """Return the RSS of all processes of a proxy. Shared memory is counted once per process."""
    return sum(map(resident_kib, peer.pids())) / 1024


def new_port() -> int:
    """Return a free port for a proxy."""
    return free_port()
