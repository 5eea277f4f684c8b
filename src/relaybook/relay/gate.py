"""The gate: nothing reaches any wire before the journal has it.

What one tick of the event loop wants to do to the outside is queued here as actions; at the end of the tick the
journal's batch is written with one ``write``, then the actions run in order. With ``durability = power`` they wait
for a sync, and one sync serves all that came meanwhile (group commit). Frames that no action waits for, as those that
say how an exchange ended, are synced with those of others, or a little later.

Invariant: an action runs only if every frame appended before it was queued is in the journal. When the journal takes
nothing, the batch's actions are dropped, never run; unless the operator chose to go on without a log.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Final

from relaybook.journal.writer import JournalUnavailable, JournalWriter

#: How long a frame that no action waits for may wait for its sync.
SYNC_LATE_SECONDS: Final = 0.05

Action = Callable[[bytes], None]
_Queue = list[tuple[Action, bytes]]


class Gate:
    """One worker's gate. All methods on the event loop's thread."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        journal: JournalWriter,
        *,
        durable: bool,
        on_failure: Callable[[JournalUnavailable], bool],
    ) -> None:
        """``on_failure`` is told when a batch was lost, and says whether its actions run nevertheless.

        If not, it must have cut every exchange that had frames in the batch.
        """
        self._loop = loop
        self._journal = journal
        self._on_failure = on_failure
        self._actions: _Queue = []
        self._armed = False
        self._syncing: _Queue | None = None
        #: Whether frames are written and not synced; and what will sync them if no action comes before.
        self._is_unsynced = False
        self._late: asyncio.TimerHandle | None = None
        self._syncer = _Syncer(loop, journal, self._synced) if durable else None
        #: Appends a frame to the journal's batch: ``frame(kind, exchange, payload)``.
        self.frame = journal.append
        journal.wake = self._arm

    def _arm(self) -> None:
        if not self._armed:
            self._armed = True
            self._loop.call_soon(self._flush)

    def then(self, action: Action, data: bytes) -> None:
        """Runs ``action(data)`` once all frames so far are in the journal; in the order of the calls."""
        self._actions.append((action, data))
        if not self._armed:
            self._arm()

    def _flush(self) -> None:
        if self._syncing is not None:
            return  # still armed: _synced goes on
        self._armed = False
        actions = self._actions
        self._actions = []
        if self._journal.waiting:
            try:
                self._journal.write()
                self._is_unsynced = self._syncer is not None
            except JournalUnavailable as error:
                if not self._on_failure(error):
                    return
        if not self._is_unsynced:
            for action, data in actions:
                action(data)
        elif actions:
            self._sync(actions)
        elif self._late is None:
            self._late = self._loop.call_later(SYNC_LATE_SECONDS, self._sync_late)

    def _sync(self, actions: _Queue) -> None:
        """Has the journal synced; then the actions run."""
        assert self._syncer is not None
        self._syncing = actions
        self._is_unsynced = False
        self._syncer.start()

    def _sync_late(self) -> None:
        self._late = None
        if self._is_unsynced and self._syncing is None:
            self._sync([])

    def _synced(self, failed: OSError | None) -> None:
        if self._syncing is None:
            return  # closing was quicker
        actions, self._syncing = self._syncing, None
        if failed is not None:
            try:
                self._journal.write_unsynced_again()
            except JournalUnavailable as error:
                if not self._on_failure(error):
                    actions = []
        for action, data in actions:
            action(data)
        if self._armed:
            self._flush()

    def tick(self) -> None:
        """Once a second: lets the journal seal what must not stay. Nothing of a batch may be half done then."""
        if self._syncing is None and not self._journal.waiting:
            try:
                self._journal.tick()
            except JournalUnavailable as error:
                self._on_failure(error)

    def close(self) -> None:
        """Writes and releases what is queued, synced if need be; what comes later, too. The journal stays open."""
        if self._syncer is None:
            self._flush()
            return
        self._synced(self._syncer.stop())
        self._flush()
        self._sync_late()


class _Syncer:
    """Syncs the journal on a thread of its own, so that a slow disk never stalls the loop."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, journal: JournalWriter, done: Callable[[OSError | None], None]
    ) -> None:
        self._loop = loop
        self._journal = journal
        self._done = done
        self._failed: OSError | None = None
        self._is_stopped = False
        self._wanted: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._runner = threading.Thread(target=self._run, name="journal-sync", daemon=True)
        self._runner.start()

    def start(self) -> None:
        """Has the journal synced; then ``done`` is called with what failed. After ``stop``, before this returns."""
        if self._is_stopped:
            self._sync()
            self._done(self._failed)
        else:
            self._wanted.put(True)

    def stop(self) -> OSError | None:
        """Returns when the last sync asked for has ended, and how it did; ``done`` may be called for it, too."""
        self._is_stopped = True
        self._wanted.put(False)
        self._runner.join()
        return self._failed

    def _sync(self) -> None:
        self._failed = None
        try:
            self._journal.sync()
        except OSError as error:
            self._failed = error

    def _run(self) -> None:
        while self._wanted.get():
            self._sync()
            try:
                self._loop.call_soon_threadsafe(self._done, self._failed)
            except RuntimeError:
                return  # the loop has closed
