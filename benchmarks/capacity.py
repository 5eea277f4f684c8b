"""The model of what a machine carries: CPU time of a request by process, and what that adds up to.

Nothing but arithmetic; ``benchmarks.parts.capacity`` holds it against what is measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Share:
    """One part of the work: CPU µs it takes for a request, and in how many processes it is done."""

    name: str
    cpu_us: float
    processes: int = 1


def most_requests(shares: Sequence[Share], cores: int) -> tuple[float, str]:
    """Requests a second at which something is used up, and what that is: a part's processes, or all cores."""
    limits = [(share.processes / share.cpu_us * 1e6, share.name) for share in shares if share.cpu_us > 0]
    limits.append((cores / sum(share.cpu_us for share in shares) * 1e6, f"{cores} cores"))
    return min(limits)
