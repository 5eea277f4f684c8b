"""Model the capacity of a machine from the CPU time per request of each process.

This module only calculates. ``benchmarks.parts.capacity`` compares the result with measurements.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Share:
    """One part of the work, with its CPU time per request in µs and the number of processes that share the work."""

    name: str
    cpu_us: float
    processes: int = 1


def most_requests(shares: Sequence[Share], cores: int) -> tuple[float, str]:
    """Return the maximum requests per second and the name of the limit, which is a part of the work or the cores."""
    limits = [(share.processes / share.cpu_us * 1e6, share.name) for share in shares if share.cpu_us > 0]
    limits.append((cores / sum(share.cpu_us for share in shares) * 1e6, f"{cores} cores"))
    return min(limits)
