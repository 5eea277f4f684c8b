"""Read the system clocks. No other module reads these clocks.

Timestamps come from the wall clock. The duration of a request is measured with the monotonic clock, because the wall
clock can be set back.
"""

import time
from datetime import UTC, datetime
from typing import Final

NANOSECONDS: Final = 1_000_000_000

#: Nanoseconds of the monotonic clock. Do not compare values from different machines, or from before and after a reboot.
monotonic_ns = time.monotonic_ns

#: Nanoseconds since the Unix epoch, UTC.
wall_ns = time.time_ns


def wall_us() -> int:
    """Return the time in microseconds since the Unix epoch (UTC), the unit of all stored timestamps."""
    return time.time_ns() // 1000


def format_timestamp(at_us: int) -> str:
    """Format a timestamp as RFC 3339 in UTC with microseconds: ``2026-11-21T14:02:31.000042Z``.

    The API uses this format.
    """
    return f"{datetime.fromtimestamp(at_us // 1_000_000, UTC).isoformat()[:19]}.{at_us % 1_000_000:06d}Z"
