"""Send bytes only after the journal contains the frames with these bytes.

During one iteration of the event loop, sends are queued as actions. At the end of the iteration, the journal batch is
written with one ``write``, then the actions run in order. With ``durability = power``, the actions also wait for a
sync. One sync serves all actions that were queued during the previous sync (group commit). Frames that no action waits
for, such as CLOSED, are synced with the next frames, or after ``LATE_SYNC_SECONDS``.

An action runs only if the journal contains every frame that was appended before the action was queued. If the journal
cannot be written, the actions of the batch are dropped. The only exception is ``when_log_fails = forward``: in this
case, the actions run although their frames are lost.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Final

from relaybook.journal.writer import JournalUnavailable, JournalWriter

#: Seconds after which a frame is synced if no action waits for the frame.
LATE_SYNC_SECONDS: Final = 0.05

Action = Callable[[bytes], None]
_Queue = list[tuple[Action, bytes]]


class Gate:
    """Runs actions, such as sends, once the journal contains all frames that were appended before.

    Each worker has one gate. All methods must be called on the thread of the event loop.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        journal: JournalWriter,
        *,
        durable: bool,
        on_failure: Callable[[JournalUnavailable], bool],
    ) -> None:
        """``on_failure`` is called if a batch of journal frames is lost.

        ``on_failure`` must return whether to run the actions that waited for the batch anyway.

        Before ``on_failure`` returns false, it must cut every exchange that has frames in the batch.
        """
        self._loop = loop
        self._journal = journal
        self._on_failure = on_failure
        self._actions: _Queue = []
        self._armed = False
        self._syncing: _Queue | None = None
        #: Whether some frames are written but not synced.
        self._is_unsynced = False
        #: The timer that syncs frames that no action waits for.
        self._late_timer: asyncio.TimerHandle | None = None
        self._syncer = _Syncer(loop, journal, self._synced) if durable else None

    def _arm(self) -> None:
        self._armed = True
        self._loop.call_soon(self._flush)

    def frame(self, kind: int, exchange: bytes, payload: bytes) -> None:
        """Append a frame to the journal batch."""
        self._journal.append(kind, exchange, payload)
        if not self._armed:
            self._arm()

    def then(self, action: Action, data: bytes) -> None:
        """Run ``action(data)`` once the journal contains all earlier frames. Actions run in the order of the calls."""
        self._actions.append((action, data))
        if not self._armed:
            self._arm()

    def _flush(self) -> None:
        if self._syncing is not None:
            return  # _armed is still true, so _synced calls _flush again
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
        elif self._late_timer is None:
            self._late_timer = self._loop.call_later(LATE_SYNC_SECONDS, self._sync_late)

    def _sync(self, actions: _Queue) -> None:
        """Sync the journal, then run the actions."""
        assert self._syncer is not None
        self._syncing = actions
        self._is_unsynced = False
        self._syncer.start()

    def _sync_late(self) -> None:
        self._late_timer = None
        if self._is_unsynced and self._syncing is None:
            self._sync([])

    def _synced(self, sync_error: OSError | None) -> None:
        if self._syncing is None:
            return  # close has already handled this sync
        actions, self._syncing = self._syncing, None
        if sync_error is not None:
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
        """Call the journal's ``tick`` if no batch is waiting or being synced.

        This method must be called about once a second.
        """
        if self._syncing is None and not self._journal.waiting:
            try:
                self._journal.tick()
            except JournalUnavailable as error:
                self._on_failure(error)
            if self._journal.waiting and not self._armed:
                self._arm()

    def close(self) -> None:
        """Write the batch, sync it if needed, and run the queued actions. The journal stays open.

        Frames and actions that are added after this call are still handled.
        """
        if self._syncer is None:
            self._flush()
            return
        self._synced(self._syncer.stop())
        self._flush()
        self._sync_late()


class _Syncer:
    """Syncs the journal on a separate thread, so that a slow disk does not block the event loop."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, journal: JournalWriter, done: Callable[[OSError | None], None]
    ) -> None:
        self._loop = loop
        self._journal = journal
        self._done = done
        self._error: OSError | None = None
        self._is_stopped = False
        self._requests: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._sync_thread = threading.Thread(target=self._run, name="journal-sync", daemon=True)
        self._sync_thread.start()

    def start(self) -> None:
        """Start a sync. When the sync ends, ``done`` is called with the sync's error or `None`.

        After a call of ``stop``, this method itself syncs the journal and calls ``done``.
        """
        if self._is_stopped:
            self._sync()
            self._done(self._error)
        else:
            self._requests.put(True)

    def stop(self) -> OSError | None:
        """Wait for the last sync and return its error or `None`. ``done`` may still be called for that sync."""
        self._is_stopped = True
        self._requests.put(False)
        self._sync_thread.join()
        return self._error

    def _sync(self) -> None:
        self._error = None
        try:
            self._journal.sync()
        except OSError as error:
            self._error = error

    def _run(self) -> None:
        while self._requests.get():
            self._sync()
            try:
                self._loop.call_soon_threadsafe(self._done, self._error)
            except RuntimeError:
                return  # the event loop has closed
