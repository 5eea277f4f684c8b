"""No proxy at all: the provider itself, which every difference is taken to."""

from pathlib import Path
from typing import Self

from benchmarks.bench import Bench
from benchmarks.peers.peer import NOTHING, Upstream


class Direct:
    """The provider's own port; its processes are nobody's cost."""

    name = "direct"
    version = "no proxy"
    headers = NOTHING

    def __init__(self, upstream: Upstream) -> None:
        self.port = upstream.port

    def pids(self) -> list[int]:
        """None."""
        return []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to end."""


def start(bench: Bench, place: Path, upstream: Upstream) -> Direct:
    """The provider."""
    return Direct(upstream)
