"""Give each pass its share of the recorder's time: index text, import, remove and reread requests, and free space.

Recording pauses during this work. So the recorder calls ``Passes.work`` with a time limit. While many frames wait in
the journal, only the texts in memory are indexed.
"""

import logging
from collections import deque
from collections.abc import Iterable
from typing import Final, Protocol

from relaybook import clock
from relaybook.log.store.entry import Entry
from relaybook.log.store.errors import DeadlinePassed, StoreDamaged, StoreFull, StoreUnavailable
from relaybook.log.store.port import Writer
from relaybook.recorder.disk_reserve import DiskReserve
from relaybook.recorder.passes.imports import ImportPass
from relaybook.recorder.passes.reread import RereadPass
from relaybook.recorder.passes.retain import RetainPass
from relaybook.recorder.passes.text import TextPass

log = logging.getLogger("relaybook.recorder")

#: Time limit of an import.
_IMPORT_NS: Final = 7_500_000
#: Time limit of the passes that take turns. A step that has begun is finished, even after the limit. Most steps take at
#: most 20 ms. If the commit of a step also checkpoints the database, the step takes 30 ms more.
_TURN_NS: Final = 15_000_000
#: After a failure, a pass that takes turns pauses for this time.
_AGAIN_NS: Final = 5 * clock.NANOSECONDS


class TurnPass(Protocol):
    """Work on requests that are in the log, in steps. Passes of this kind take turns."""

    #: For messages.
    name: str
    #: Whether a step can remove requests from the log, or replace their text.
    changes_requests: bool

    def work(self, until_ns: int) -> bool:
        """Work until ``until_ns`` (monotonic clock). Return false if there was nothing to do."""


class DeletePass:
    """Carries out deletions."""

    name = "deletion"
    changes_requests = True

    def __init__(self, store: Writer) -> None:
        self._store = store

    def work(self, until_ns: int) -> bool:
        return self._store.delete(until_ns) > 0


class MaintainPass:
    """Frees the space of removed requests. When all of it is free, checks the disk budget."""

    name = "maintenance"
    changes_requests = False

    def __init__(self, store: Writer, retain: RetainPass) -> None:
        self._store = store
        self._retain = retain

    def work(self, until_ns: int) -> bool:
        worked = self._store.run_maintenance(until_ns)
        if clock.monotonic_ns() < until_ns:
            self._retain.check_budget()
        return worked


class Passes:
    """All passes of a recorder."""

    def __init__(
        self,
        store: Writer,
        text: TextPass,
        imports: ImportPass,
        retain: RetainPass,
        reread: RereadPass,
        reserve: DiskReserve,
    ) -> None:
        self._text = text
        self._imports = imports
        #: The passes that take turns, so that a long deletion or reread delays neither retention nor the freeing of
        #: space. The pass that worked last is at the end.
        self._turns: deque[TurnPass] = deque([DeletePass(store), retain, MaintainPass(store, retain), reread])
        self._reserve = reserve
        #: The time at which a pass that failed may work again.
        self._not_before_ns: dict[TurnPass, int] = {}

    @property
    def is_import_running(self) -> bool:
        """Whether ``relaybook import`` is running, so that more work is expected soon."""
        return self._imports.is_open

    def committed(self, entries: Iterable[Entry]) -> None:
        """Pass committed entries to the ``TextPass``, which will index their text."""
        self._text.committed(entries)

    def work(self, time_ns: int, *, is_behind: bool = False) -> bool:
        """Index text for up to ``time_ns``, and let the other passes work within their own time limits.

        If the recorder is behind, only index the texts in memory. Later, the bodies would have to be read again for
        them, which takes several times as long. Return false if there was nothing to do. Raises StoreDamaged.
        """
        now = clock.monotonic_ns()
        worked = self._text.work(now + time_ns, only_in_memory=is_behind)
        if is_behind:
            return worked
        now = clock.monotonic_ns()
        worked = self._imports.work(now + _IMPORT_NS) or worked
        return self._take_turn(now + _TURN_NS) or worked

    def _take_turn(self, until_ns: int) -> bool:
        """Let the next pass that has something to do work. Return false if there is none."""
        for _ in range(len(self._turns)):
            self._turns.rotate(-1)
            if self._attempt(self._turns[-1], until_ns):
                return True
        return False

    def _attempt(self, each: TurnPass, until_ns: int) -> bool:
        """Let a pass work, and return whether there was something to do. After a failure, it pauses for 5 seconds.

        Other passes do not pause. Otherwise, a deletion that fails could stop retention, and the disk would fill. On a
        full disk, the disk reserve is released, because removing requests first needs some space.
        """
        if clock.monotonic_ns() < self._not_before_ns.get(each, 0):
            return False
        try:
            worked = each.work(until_ns)
        except StoreDamaged:
            raise
        except (StoreUnavailable, DeadlinePassed) as error:
            if isinstance(error, StoreFull) and self._reserve.release():
                return True
            log.warning("pass_delayed", extra={"work": each.name, "reason": str(error)})
        except Exception:  # a bug in Relaybook must not stop recording
            log.exception("pass_failed", extra={"work": each.name})
        else:
            if worked and each.changes_requests:
                self._text.forget()
            return worked
        self._not_before_ns[each] = clock.monotonic_ns() + _AGAIN_NS
        self._text.forget()  # some requests may have been changed before the failure
        return False
