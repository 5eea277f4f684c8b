"""Represent one run of the benchmarks, with its directory and the Python and source of the measured server."""

import os
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from tests.support.server import Server, wait_until

from benchmarks.process_cpu import cpu_seconds

ROLES = ("relay", "recorder", "dashboard")


@dataclass(frozen=True)
class Bench:
    """One run. ``directory`` is temporary. With ``quick``, every part takes only a few seconds, to test the scripts."""

    directory: Path
    python: str
    source: Path
    quick: bool = False

    def rounds(self, wanted: int) -> int:
        """Return the number of rounds of a part."""
        return 2 if self.quick else wanted

    def seconds(self, wanted: float) -> float:
        """Return the duration of one measurement."""
        return 1.0 if self.quick else wanted

    def place(self, name: str) -> Path:
        """Create and return the directory of one program."""
        path = self.directory / name
        path.mkdir(exist_ok=True)
        return path


class Relaybook(Server):
    """Runs ``relaybook serve`` with default settings and with the Python and the source of the run."""

    def __init__(self, bench: Bench, name: str, upstream: str, *flags: str) -> None:
        place = bench.place(name)
        self.data = place / "data"
        self.stdout_path = place / "serve.stdout"
        self.stderr_path = place / "serve.stderr"
        addresses = ["--listen", "127.0.0.1:0", "--dashboard", "127.0.0.1:0", "--min-free", str(1 << 20)]
        command = [bench.python, "-m", "relaybook.cli.main", "serve", "--upstream", upstream, "--data", str(self.data)]
        paths = os.pathsep.join([str(bench.source), sysconfig.get_path("purelib")])
        with self.stdout_path.open("wb") as out, self.stderr_path.open("wb") as err:
            self.process = subprocess.Popen(
                [*command, *addresses, *flags], stdout=out, stderr=err, env=os.environ | {"PYTHONPATH": paths}
            )
        self.base_url = self.printed(r"base URL\s+(\S+)")
        self.dashboard = self.printed(r"dashboard\s+(\S+)")
        self.port = int(self.base_url.removesuffix("/v1").rpartition(":")[2])
        self.pid = self.pid_of("relay")
        wait_until(lambda: "data" in self.get("/api/requests?limit=1"), 15, "the dashboard")

    def cpu(self) -> dict[str, float]:
        """Return the CPU seconds that each role has used so far."""
        return {role: cpu_seconds(self.pid_of(role)) for role in ROLES}

    def wait_until_recorded(self, seconds: float = 30.0) -> None:
        """Wait until the recorder has read everything that the relay wrote."""
        wait_until(lambda: self.get("/api/status")["journal"]["lag_bytes"] == 0, seconds, "the recorder's catching up")

    def wait_until_indexed(self, seconds: float = 400.0) -> None:
        """Wait until the recorder is idle.

        Text is indexed after the records, and indexing would disturb the next measurement.
        """

        def is_indexed() -> bool:
            status = self.get("/api/status")
            return bool(status["journal"]["lag_bytes"] == 0 and status["indexed_to"] == status["last_seq"])

        wait_until(is_indexed, seconds, "the index of words")
