"""Does again what the environment refuses, until it does not. Meanwhile the journal keeps what waits."""

import logging
import time
from collections.abc import Callable
from typing import Final, TypeVar

from relaybook.log.store.errors import BodyDamaged, StoreDamaged, StoreFull, StoreUnavailable
from relaybook.recorder.memory_reserve import Ballast

log = logging.getLogger("relaybook.recorder")

_FIRST_PAUSE_SECONDS: Final = 0.1
_MOST_PAUSE_SECONDS: Final = 5.0
#: How often it is tried in all, with someone waiting for the end: for 1.5 seconds.
_TRIES_WHEN_TOLD: Final = 5

T = TypeVar("T")


class GivenUp(Exception):
    """The recorder was told to stop while the store takes nothing; the next start does it, from the journal."""


class Retry:
    """How long to try. ``times_told`` counts how often the process was told to stop, and is asked without a lock.

    Told once, it tries a few times more; told again, no more.
    """

    def __init__(self, ballast: Ballast, times_told: Callable[[], int]) -> None:
        self._ballast = ballast
        self._times_told = times_told

    def is_told(self) -> bool:
        """Whether the recorder is to end when it has read everything."""
        return self._times_told() > 0

    def is_over(self) -> bool:
        """Whether it is to end now."""
        return self._times_told() > 1

    def prepare(self) -> None:
        """Takes some room while there is enough. Costs nothing once it has it."""
        self._ballast.hold()

    def until_done(self, act: Callable[[], T]) -> T:
        """What ``act`` gives once the store does not refuse any more. Raises GivenUp, and whatever else ``act`` raises.

        Of damage it is not patient: trying again does not help.
        """
        pause, tries = _FIRST_PAUSE_SECONDS, 0
        while True:
            try:
                return act()
            except (StoreDamaged, BodyDamaged):
                raise
            except StoreUnavailable as error:
                if isinstance(error, StoreFull) and self._ballast.give():
                    continue
                if self.is_told():
                    tries += 1
                    pause = _FIRST_PAUSE_SECONDS if tries == 1 else pause
                if self.is_over() or tries >= _TRIES_WHEN_TOLD:
                    raise GivenUp from error
                log.error("store_unavailable", extra={"reason": str(error), "next_try_seconds": pause})
                time.sleep(pause)
                pause = min(pause * 2, _MOST_PAUSE_SECONDS)
