"""Do the work that can wait: index text, import requests, remove requests, and maintain the store.

Recording pauses during this work. So the recorder calls ``BackgroundWork.work`` with a time limit, and does no
background work while many frames wait in the journal.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Final

from relaybook import clock
from relaybook.log.store.errors import DeadlinePassed, StoreDamaged, StoreFull, StoreUnavailable
from relaybook.log.store.port import Entry, Writer
from relaybook.recorder.disk_reserve import DiskReserve
from relaybook.recorder.import_queue import ImportQueue
from relaybook.recorder.retention_schedule import RetentionSchedule
from relaybook.recorder.text_pass import TextPass

log = logging.getLogger("relaybook.recorder")

#: Time limit for imports, removal and maintenance together. A step that has begun is finished, even after the limit.
#: Most steps take at most 20 ms. If the commit of a step also checkpoints the database, the step takes 30 ms more.
_REMOVAL_NS: Final = 15_000_000
#: Time limit for imports. The rest of the time is for removal and maintenance.
_IMPORT_NS: Final = 7_500_000
#: After a failure, deletions or retention pause for this time.
_REMOVE_AGAIN_NS: Final = 5 * clock.NANOSECONDS


class BackgroundWork:
    """The recorder's work on requests that are in the log, and on requests to import."""

    def __init__(
        self, store: Writer, text: TextPass, imports: ImportQueue, retention: RetentionSchedule, reserve: DiskReserve
    ) -> None:
        self._store = store
        self._text = text
        self._imports = imports
        self._retention = retention
        self._reserve = reserve
        #: The time at which a failed step may run again, by the name of the step.
        self._not_before_ns: dict[str, int] = {}

    @property
    def is_import_running(self) -> bool:
        """Whether ``relaybook import`` is running, so that more work is expected soon."""
        return self._imports.is_open

    def committed(self, entries: Iterable[Entry]) -> None:
        """Pass committed entries to the ``TextPass``, which will index their text."""
        self._text.committed(entries)

    def work(self, time_ns: int) -> bool:
        """Index text for up to ``time_ns``, and do the other work within its own time limits.

        Return false if there was nothing to do. Raises StoreDamaged.
        """
        now = clock.monotonic_ns()
        worked = self._text.work(now + time_ns)
        now = clock.monotonic_ns()
        worked = self._imports.work(now + _IMPORT_NS) or worked
        until_ns = now + _REMOVAL_NS
        return self._attempt(self._delete, until_ns) or self._attempt(self._retain, until_ns) or worked

    def _attempt(self, step: Callable[[int], bool], until_ns: int) -> bool:
        """Do a step, and return whether there was something to do. After a failure, the step pauses for 5 seconds.

        Other steps do not pause. Otherwise, a deletion that fails could stop retention, and the disk would fill. On a
        full disk, the disk reserve is released, because removing requests first needs some space.
        """
        if clock.monotonic_ns() < self._not_before_ns.get(step.__name__, 0):
            return False
        try:
            return step(until_ns)
        except StoreDamaged:
            raise
        except (StoreUnavailable, DeadlinePassed) as error:
            if isinstance(error, StoreFull) and self._reserve.release():
                return True
            log.warning("removal_delayed", extra={"reason": str(error)})
        except Exception:  # a bug in Relaybook must not stop recording
            log.exception("removal_failed")
        self._not_before_ns[step.__name__] = clock.monotonic_ns() + _REMOVE_AGAIN_NS
        self._text.forget()  # some requests may have been removed before the failure
        return False

    def _delete(self, until_ns: int) -> bool:
        if self._store.delete(until_ns) == 0:
            return False
        self._text.forget()
        return True

    def _retain(self, until_ns: int) -> bool:
        """Apply retention. If retention removes nothing, free the space of requests that were removed earlier."""
        if self._retention.work(until_ns):
            self._text.forget()
            return True
        if self._store.run_maintenance(until_ns):
            return True
        self._retention.check_budget()
        return False
