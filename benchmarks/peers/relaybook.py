"""Run Relaybook with its log by ``relaybook serve``, which starts a supervisor, relay, recorder and dashboard."""

from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from benchmarks.bench import Bench, Relaybook
from benchmarks.compiled import compiled
from benchmarks.peers.peer import NOTHING, NotInstalled, Upstream, process_tree


class RelaybookPeer(Relaybook):
    """All processes of Relaybook. ``pid_of`` returns the process of a role."""

    headers = NOTHING

    def __init__(self, bench: Bench, place: Path, upstream: Upstream, durability: str, what: str) -> None:
        ca = [] if upstream.ca_file is None else ["--upstream-ca-file", str(upstream.ca_file)]
        flags = ["--durability", durability, "--drain-timeout", "1", *ca]
        super().__init__(bench, str(place.relative_to(bench.directory)), upstream.url, *flags)
        self.name = f"Relaybook, {what}"
        self.syncs = durability == "power"
        self.version = version("relaybook")

    def pids(self) -> list[int]:
        """Return the supervisor and its children."""
        return process_tree(self.process.pid)

    def lag_bytes(self) -> int:
        """Return the bytes of the journal that the recorder has not read yet."""
        return int(self.get("/api/status")["journal"]["lag_bytes"] or 0)

    def store_bytes(self) -> int:
        """Return the size of the log on disk, without the journal."""
        return int(self.get("/api/status")["storage"]["store_bytes"])


def start(durability: str) -> Callable[[Bench, Path, Upstream], RelaybookPeer]:
    """Start Relaybook with a durability setting that protects the log from a killed process or from a power failure."""
    return lambda bench, place, upstream: RelaybookPeer(bench, place, upstream, durability, durability)


def start_compiled(bench: Bench, place: Path, upstream: Upstream) -> RelaybookPeer:
    """Start Relaybook with its request path compiled (compile_with_mypyc.py)."""
    other = compiled(bench)
    if other is None:
        raise NotInstalled("the request path could not be compiled (python compile_with_mypyc.py)")
    return RelaybookPeer(other, place, upstream, "process", "compiled")
