"""Connect to the upstream without a proxy, as the baseline of the comparison."""

from pathlib import Path
from typing import Self

from benchmarks.bench import Bench
from benchmarks.peers.peer import NOTHING, Upstream


class Direct:
    """The upstream's own port. The CPU time and memory of the upstream are not counted."""

    name = "direct"
    version = "no proxy"
    headers = NOTHING

    def __init__(self, upstream: Upstream) -> None:
        self.port = upstream.port

    def pids(self) -> list[int]:
        """Return an empty list, because there is no proxy process."""
        return []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing."""


def start(bench: Bench, place: Path, upstream: Upstream) -> Direct:
    """Return the upstream as a peer."""
    return Direct(upstream)
