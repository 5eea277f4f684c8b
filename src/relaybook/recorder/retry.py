"""Retry operations that fail because of the environment. Meanwhile, the journal keeps unrecorded data."""

import logging
import time
from collections.abc import Callable
from typing import Final, TypeVar

from relaybook.log.store.errors import BodyDamaged, StoreDamaged, StoreFull, StoreUnavailable
from relaybook.recorder.disk_reserve import DiskReserve

log = logging.getLogger("relaybook.recorder")

_FIRST_PAUSE_SECONDS: Final = 0.1
_MAX_PAUSE_SECONDS: Final = 5.0
#: Number of attempts after a stop was requested. All attempts together take more than 1.5 seconds.
_TRIES_AFTER_STOP: Final = 5
#: Pauses between attempts if the store seems to be damaged.
_DAMAGE_PAUSES_SECONDS: Final = (0.1, 0.2, 0.4, 0.8)

T = TypeVar("T")


class RetryAborted(Exception):
    """The store is unavailable, and the recorder was asked to stop. The next recorder continues from the journal."""


class Retry:
    """Retries operations. ``stop_requests`` returns the number of stop requests so far.

    After the first stop request, an operation is tried a few more times. After the second, no operation is retried.
    """

    def __init__(self, reserve: DiskReserve, stop_requests: Callable[[], int]) -> None:
        self._reserve = reserve
        self._stop_requests = stop_requests

    def is_stop_requested(self) -> bool:
        """Return whether the recorder should stop when it has read the whole journal."""
        return self._stop_requests() > 0

    def must_stop_now(self) -> bool:
        """Return whether the recorder should stop without reading the rest of the journal."""
        return self._stop_requests() > 1

    def prepare(self) -> None:
        """Create the disk reserve if there is enough free space. The call is cheap if the reserve exists already."""
        self._reserve.acquire()

    def confirming_damage(self, operation: Callable[[], T]) -> T:
        """Call ``operation``. If it raises StoreDamaged, call it up to four more times. Return its result.

        SQLite also reports damage if the disk fails to read once. Then a later call succeeds.
        """
        for pause in _DAMAGE_PAUSES_SECONDS:
            try:
                return operation()
            except StoreDamaged as error:
                log.error("store_unavailable", extra={"reason": str(error), "next_try_seconds": pause})
                time.sleep(pause)
        return operation()

    def until_done(self, operation: Callable[[], T]) -> T:
        """Call ``operation`` until it no longer raises StoreUnavailable. Return its result.

        On a full disk, the disk reserve is released before the next call. Raises RetryAborted if the recorder must stop
        before the store is available. StoreDamaged is raised after five attempts (see ``confirming_damage``).
        BodyDamaged and all errors other than StoreUnavailable are raised immediately, because a retry does not help.
        """
        pause, attempts = _FIRST_PAUSE_SECONDS, 0
        while True:
            try:
                return self.confirming_damage(operation)
            except (StoreDamaged, BodyDamaged):
                raise
            except StoreUnavailable as error:
                if isinstance(error, StoreFull) and self._reserve.release():
                    continue
                if self.is_stop_requested():
                    attempts += 1
                    pause = _FIRST_PAUSE_SECONDS if attempts == 1 else pause
                if self.must_stop_now() or attempts >= _TRIES_AFTER_STOP:
                    raise RetryAborted from error
                log.error("store_unavailable", extra={"reason": str(error), "next_try_seconds": pause})
                time.sleep(pause)
                pause = min(pause * 2, _MAX_PAUSE_SECONDS)
