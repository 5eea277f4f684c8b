"""Decide when retention runs and which cutoffs apply. Data that is older than a cutoff is removed.

Age cutoffs change once a day, after the clock has shown the new day (UTC) for ten minutes. Without this wait, a clock
jump could empty the log. Disk cutoffs advance while the log exceeds its disk budget.
"""

import logging
from collections.abc import Callable
from typing import Final, NamedTuple

from relaybook import clock
from relaybook.log.retention import DAY_US, Cutoff, Cutoffs, Retention, raised
from relaybook.log.store.errors import StoreFull, StoreUnavailable
from relaybook.log.store.port import Reader, Writer

log = logging.getLogger("relaybook.recorder")

_SETTLE_NS: Final = 10 * 60 * clock.NANOSECONDS
#: After a failure, retention pauses for this time.
_AGAIN_NS: Final = 5 * clock.NANOSECONDS
_MEASURE_NS: Final = 10 * clock.NANOSECONDS
#: While the log shrinks, its size is measured ``_OFTEN`` times as often as usual.
_OFTEN: Final = 10
_HOUR_US: Final = DAY_US // 24
_MINUTE_US: Final = _HOUR_US // 60
#: If the log exceeds its budget, data is removed until the log has this share of the budget.
_TARGET: Final = 0.95
#: A disk cutoff advances by one of these units or by ``_LEAST_UNIT_US``.
_UNITS_US: Final = (DAY_US, _HOUR_US, _MINUTE_US)
_LEAST_UNIT_US: Final = _MINUTE_US // 6
#: A disk cutoff advances by at least this share of the time since the oldest data.
_LEAST_SHARE: Final = 0.02


class DiskUse(NamedTuple):
    """The disk space in bytes that the journal and the store use (``used``) and may use (``budget``).

    ``budget`` is `None` if there is no limit.
    """

    used: int
    budget: int | None


class RetainPass:
    """Runs retention on the recorder's store."""

    name = "retention"
    changes_requests = True

    def __init__(
        self,
        retention: Retention,
        store: Writer,
        reader: Reader,
        measure: Callable[[], DiskUse],
        *,
        settle_ns: int = _SETTLE_NS,
        measure_ns: int = _MEASURE_NS,
    ) -> None:
        """``measure`` returns the disk use.

        Age cutoffs change after the clock has shown the new day for ``settle_ns``. ``measure`` is called at most once
        in ``measure_ns``. While the log shrinks, ``measure`` is called at most ten times in ``measure_ns``.
        """
        self._retention = retention
        self._store = store
        self._reader = reader
        self._measure = measure
        self._settle_ns = settle_ns
        self._measure_ns = measure_ns
        #: The age cutoffs in use.
        self._by_age = Cutoffs()
        #: The age cutoffs for the day that the wall clock shows.
        self._shown = Cutoffs()
        #: Monotonic time at which the wall clock first showed the day of ``_shown``.
        self._shown_since_ns = 0
        #: The cutoff that the disk budget requires.
        self._least = Cutoff()
        #: Whether data is being removed because of the disk budget.
        self._is_shrinking = False
        #: Whether the store has nothing more to remove for the current cutoffs.
        self._is_complete = False
        self._measured_ns: int | None = None
        self._not_before_ns = 0

    def work(self, until_ns: int) -> bool:
        """Apply retention until ``until_ns`` (monotonic clock). Return whether data may have been removed.

        Raises StoreFull.
        """
        now_ns = clock.monotonic_ns()
        if now_ns < self._not_before_ns:
            return False
        self._settle(now_ns)
        cutoffs = raised(self._by_age, self._least) if self._least != Cutoff() else self._by_age
        self._is_complete = False
        try:
            done = self._store.retain(cutoffs, until_ns)
        except StoreFull:
            raise
        except StoreUnavailable as error:
            log.warning("retention_delayed", extra={"reason": str(error)})
            self._not_before_ns = now_ns + _AGAIN_NS
            return True  # something may have been removed before the failure
        self._is_complete = done.is_complete
        return bool(done.removed or done.expired)

    def _settle(self, now_ns: int) -> None:
        shown = self._retention.cutoffs(clock.wall_us())
        if shown != self._shown:
            self._shown, self._shown_since_ns = shown, now_ns
        if now_ns - self._shown_since_ns >= self._settle_ns:
            self._by_age = self._shown

    def check_budget(self) -> None:
        """If the log exceeds its disk budget, advance the disk cutoffs past the oldest data (see ``_next_cutoff``).

        Call this method only after the space of all removed data has been freed.
        """
        if not self._is_complete:
            return
        now_ns = clock.monotonic_ns()
        every_ns = self._measure_ns // (_OFTEN if self._is_shrinking else 1)
        if self._measured_ns is not None and now_ns - self._measured_ns < every_ns:
            return
        self._measured_ns = now_ns
        used, budget = self._measure()
        if budget is None or used <= budget * (_TARGET if self._is_shrinking else 1.0):
            self._is_shrinking = False
            return
        status = self._reader.status()
        least = _next_cutoff(
            _not_before(status.oldest_at, self._least.requests),
            _not_before(status.oldest_content_at, self._least.content),
            clock.wall_us(),
            max((used - budget * _TARGET) / used / 2, _LEAST_SHARE),
        )
        if least is None:
            return
        if not self._is_shrinking:
            log.warning("over_disk_budget", extra={"used": used, "budget": budget})
        self._is_shrinking = True
        self._least = Cutoff(max(least.content, self._least.content), max(least.requests, self._least.requests))


def _not_before(started_at: int | None, cutoff: int) -> int | None:
    """Return the start of the oldest data, or the cutoff if the oldest data started before the cutoff.

    Cutoffs apply to the ends of requests. A request that started before the cutoff but ended after the cutoff is still
    in the log, so the oldest data can start before the cutoff.
    """
    return None if started_at is None else max(started_at, cutoff)


def _next_cutoff(oldest_at: int | None, oldest_content_at: int | None, now_us: int, share: float) -> Cutoff | None:
    """Return the cutoff that removes the oldest content, or the oldest requests if no content may be removed.

    The cutoff is the end of the UTC day, hour, minute or ten seconds of the oldest data. Of these units, the longest is
    used that is at most ``share`` of the age of the data. So if a log covers only two days, its first day is not
    removed at once. The last minute of content and the last hour of requests are always kept. `None` if nothing may be
    removed.
    """
    if oldest_content_at is not None and oldest_content_at < now_us - _MINUTE_US:
        return Cutoff(content=min(_end_of_unit(oldest_content_at, now_us, share), now_us - _MINUTE_US))
    if oldest_at is not None and oldest_at < now_us - _HOUR_US:
        return Cutoff(requests=min(_end_of_unit(oldest_at, now_us, share), now_us - _HOUR_US))
    return None


def _end_of_unit(at_us: int, now_us: int, share: float) -> int:
    longest_us = (now_us - at_us) * share
    unit = next((unit for unit in _UNITS_US if unit <= longest_us), _LEAST_UNIT_US)
    return at_us - at_us % unit + unit


def disk_budget(setting: int | str, used: int, free: int, size: int, min_free: int) -> int | None:
    """Return the disk space that the journal and the store may use, in bytes. `None` if there is no limit.

    ``used`` is the space that the journal and the store use now. ``free`` and ``size`` describe the file system.
    If ``setting`` is ``auto``, 15 % of the file system stays free, but at most 8 GiB and at least twice ``min_free``.
    Requests are refused if less than ``min_free`` is free. If other programs fill the disk, the log may still use
    1 GiB, but at most half of the sum of ``used`` and ``free``.
    """
    if isinstance(setting, int):
        return setting
    left_free = max(min(size * 15 // 100, 8 << 30), 2 * min_free)
    return None if setting == "none" else max(used + free - left_free, min((used + free) // 2, 1 << 30))
