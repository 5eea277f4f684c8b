"""How long the disk will do."""

from contextlib import suppress
from typing import Final

from relaybook import clock
from relaybook.serve.data_directory import DataDirectory

_DAY_SECONDS: Final = 86400
_WEEK: Final = 7


def days_left(data: DataDirectory, free: int) -> float | None:
    """Days until the disk is full at the rate of the last week's bodies; None while there is no rate."""
    now = clock.wall_us() / 1e6
    recent = 0
    first = now
    with suppress(OSError):
        for pack in (data.store / "bodies").iterdir():
            found = pack.stat()
            if now - found.st_mtime < _WEEK * _DAY_SECONDS:
                recent += found.st_blocks * 512
                first = min(first, found.st_ctime)
    days = max((now - first) / _DAY_SECONDS, 1 / 24)
    return free / (recent / days) if recent > 1 << 20 else None
