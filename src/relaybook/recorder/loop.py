"""Read the journals of all workers, commit the records, and delete recorded segments.

One transaction contains the records of a batch and the positions up to which the journal was read. So a restart at any
time loses no request and records no request twice. If a commit fails because of the environment, such as a full disk or
a locked database, the commit is retried until it succeeds. Entries go to the quarantine only if the store rejects their
data.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from relaybook import clock
from relaybook.journal.events import RefusalCounts
from relaybook.journal.frame import Frame
from relaybook.journal.reader import START, Place, RunReader, list_runs
from relaybook.log.record import Gap
from relaybook.log.store.entry import BodyRef, Entry
from relaybook.log.store.errors import BatchRejected
from relaybook.log.store.port import Batch, ExchangeCheckpoint, Writer
from relaybook.log.store.status import RunPosition
from relaybook.recorder.body_policy import BodyPolicy
from relaybook.recorder.crash_guard import CrashGuard
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.fold import Fold, JournalExchange, decode_exchange, encode_exchange
from relaybook.recorder.metrics import Metrics
from relaybook.recorder.passes.schedule import Passes
from relaybook.recorder.quarantine import Quarantine
from relaybook.recorder.retry import Retry, RetryAborted
from relaybook.recorder.running import RunningRequests


class Run:
    """One run of the journal, at ``path``.

    Reading starts at ``position.replay_from``, or at the start of the run if ``position`` is `None`. ``checkpoints``
    are the exchanges whose state is in the store.
    """

    def __init__(self, path: Path, position: RunPosition | None, checkpoints: list[ExchangeCheckpoint]) -> None:
        start = Place(*position.replay_from) if position else START
        self.name = path.name
        self._recorded = position
        self.reader = RunReader(path, start, told_to=self._recorded_to)
        self.fold = Fold(self._recorded_to, (decode_exchange(checkpoint.state) for checkpoint in checkpoints))
        self.lost_reported = 0
        self._paused_until_ns = 0
        self._error = ""

    @property
    def _recorded_to(self) -> int:
        return self._recorded.read_to[2] if self._recorded else 0

    @property
    def is_replaying(self) -> bool:
        """Whether the next frames were already read before a restart. Their exchanges may already be recorded."""
        return self.reader.place.number < self._recorded_to

    @property
    def is_paused(self) -> bool:
        """Whether the run is paused, because its files could not be read or deleted."""
        return clock.monotonic_ns() < self._paused_until_ns

    @contextmanager
    def pausing(self) -> Iterator[None]:
        """Pause the run if the ``with`` block raises OSError, and log the error once.

        Other runs are still recorded during the pause.
        """
        try:
            yield
        except OSError as error:
            self._paused_until_ns = clock.monotonic_ns() + _PAUSE_NS
            if self._error != str(error):
                self._error = str(error)
                log.error("run_unreadable", extra={"run": str(self.reader.path), "reason": self._error})

    def position(self) -> RunPosition:
        """Return the position up to which the run was read, and the position at which a replay must start.

        After a restart, the replay rebuilds the open exchanges.
        """
        if self._recorded is not None and self.is_replaying:
            return self._recorded
        place = self.reader.place
        read_to = (place.segment, place.offset, place.number)
        needed = self.fold.first_needed()
        # the number in a position is that of the frame before the position, so 1 is subtracted
        replay_from = (needed[0], needed[1], needed[2] - 1) if needed else read_to
        is_segment_start = place.offset == START.offset
        return RunPosition(read_to=read_to, replay_from=replay_from, is_segment_start=is_segment_start)


def add_refused(refused: dict[str, int], counts: RefusalCounts) -> None:
    """Add the counts of refused requests to ``refused``, by code."""
    for code, count in counts.refused.items():
        refused[code] = refused.get(code, 0) + count


def gaps_of(counts: RefusalCounts) -> list[Gap]:
    """Return gaps for requests that were forwarded without a record, or refused because the log was unavailable."""
    from_ns, to_ns = sorted((counts.from_ns, counts.to_ns))  # the clock may have been set back
    span = {"from_at": from_ns // 1000, "to_at": to_ns // 1000}
    gaps = []
    if unlogged := counts.forwarded_unlogged:
        gaps.append(Gap(**span, count=unlogged, reason="forwarded_unlogged"))
    if refused := counts.refused.get("log_unavailable"):
        gaps.append(Gap(**span, count=refused, reason="log_unavailable"))
    return gaps


log = logging.getLogger("relaybook.recorder")

COMMIT_AFTER_NS: Final = 200_000_000
MAX_ENTRIES: Final = 10_000
#: Maximum number of body bytes per commit, in memory or moved to the store. A commit must fit into the disk space that
#: ``DiskReserve`` releases on a full disk.
MAX_BYTES: Final = 32 << 20
_LIST_RUNS_EVERY_NS: Final = 500_000_000
_IDLE_SECONDS: Final = 0.05
#: If files of a run cannot be read or deleted, the run is tried again after this time.
_PAUSE_NS: Final = 1 * clock.NANOSECONDS
#: Time limit of the passes when there is nothing to read. Recording pauses while a pass works.
_IDLE_NS: Final = 50_000_000
#: Time limit of the passes after a commit.
_BUSY_NS: Final = 100_000_000
_MANY_FRAMES: Final = 2000


class DefectiveBatch(Exception):
    """The store rejected data that the recorder itself generated. This is a bug in Relaybook."""


class Recorder:
    """Reads the runs in the directory ``journal`` and writes their records to ``store``."""

    def __init__(
        self,
        journal: Path,
        store: Writer,
        retry: Retry,
        entry_builder: EntryBuilder,
        body_policy: BodyPolicy,
        quarantine: Quarantine,
        crash_guard: CrashGuard,
        metrics: Metrics,
        passes: Passes,
        *,
        max_runs: int,
    ) -> None:
        """At most ``max_runs`` runs are read at the same time. The next runs are read when earlier runs are deleted."""
        self._max_runs = max_runs
        self._journal = journal
        self._store = store
        self._retry = retry
        self._entry_builder = entry_builder
        self._body_policy = body_policy
        self._quarantine = quarantine
        self._crash_guard = crash_guard
        self._metrics = metrics
        self._passes = passes
        self._runs: dict[str, Run] = {}
        #: Whether some runs are not read yet because of ``max_runs``.
        self._has_more_runs = False
        self._positions = retry.until_done(store.positions)
        self._entries: list[Entry] = []
        self._erase: list[BodyRef] = []
        self._gaps: list[Gap] = []
        self._refused: dict[str, int] = {}
        self._bytes = 0
        self._changed = False
        self._since_ns: int | None = None
        self._runs_listed_ns = 0
        self._committed_ns = 0
        self._running = RunningRequests(entry_builder, crash_guard)
        #: Whether the last step read many frames, so more frames are probably waiting.
        self._is_behind = False

    def run(self, *, until_read: bool = False) -> None:
        """Record until a stop is requested.

        After the first stop request, the recorder reads the journal to its end. After the second, it stops at once.
        With ``until_read``, the recorder stops at the end of the journal without a stop request. In this case, no relay
        may write to the journal. Raises StoreDamaged and DefectiveBatch. After these errors, the journal still contains
        all data that was not committed.
        """
        self._entry_builder.warm()
        with suppress(RetryAborted):
            while not self._retry.must_stop_now():
                # All relays end before a stop is requested. So a step after the stop request reads their last frames.
                is_last = until_read or self._retry.is_stop_requested()
                if is_last:
                    self._list_runs(clock.monotonic_ns())
                if self.step():
                    continue
                if is_last:
                    count = len(self._runs)
                    self._commit()
                    if self._has_more_runs and len(self._runs) < count:
                        continue
                    break
                if not self._work_on_passes(_IDLE_NS):
                    self._wait()
            self._commit()
        self._crash_guard.clear()  # a stop request during parsing is not a crash

    def step(self) -> bool:
        """Read once from every run, and commit if a commit is due. Return false if there was nothing to read."""
        now = clock.monotonic_ns()
        if now - self._runs_listed_ns >= _LIST_RUNS_EVERY_NS:
            self._list_runs(now)
        worked = False
        self._is_behind = False
        for run in list(self._runs.values()):
            worked = self._read(run) or worked
        now = clock.monotonic_ns()
        if self._changed and self._since_ns is None:
            self._since_ns = now
        full = len(self._entries) >= MAX_ENTRIES or self._bytes >= MAX_BYTES
        due = self._since_ns is not None and now - self._since_ns >= COMMIT_AFTER_NS
        due = due or self._running.is_due(now)
        if full or (due and now - self._committed_ns >= self._store.commit_interval_ns):
            self._commit()
            self._metrics.write_if_due()
            if worked:
                self._work_on_passes(_BUSY_NS)
        return worked

    def _work_on_passes(self, time_ns: int) -> bool:
        return self._retry.confirming_damage(partial(self._passes.work, time_ns, is_behind=self._is_behind))

    def _wait(self) -> None:
        """Sleep until frames are written, a commit is due, a stop is requested, or it is time to look for new runs.

        Idling is cheap, because the check for new frames needs no system call. While an import is running, the recorder
        sleeps only briefly.
        """
        until_ns = self._runs_listed_ns + _LIST_RUNS_EVERY_NS
        while True:
            time.sleep(_IDLE_SECONDS)
            if self._changed or self._retry.is_stop_requested() or clock.monotonic_ns() >= until_ns:
                return
            if self._passes.is_import_running or any(run.reader.waiting for run in self._runs.values()):
                return

    def _list_runs(self, now: int) -> None:
        self._runs_listed_ns = now
        self._retry.prepare()
        paths = list_runs(self._journal)
        # an earlier recorder removed these runs, but stopped before it committed their removal
        if gone := set(self._positions) - {path.name for path in paths}:
            self._commit_with_retry(Batch(finished_runs=sorted(gone)))
            self._positions = {name: at for name, at in self._positions.items() if name not in gone}
        unknown = [path for path in paths if path.name not in self._runs]
        room = self._max_runs - len(self._runs)
        self._has_more_runs = len(unknown) > room
        for path in unknown[:room]:
            position = self._positions.get(path.name)
            checkpoints = self._retry.until_done(partial(self._store.checkpoints, path.name))
            run = self._runs[path.name] = Run(path, position, checkpoints)
            if position is not None:  # a recorder may have died before it removed recorded segments
                with run.pausing():
                    self._remove_before(run, position.replay_from[0])

    def _read(self, run: Run) -> bool:
        if run.is_paused:
            return False
        before = run.reader.place
        frames: list[Frame] = []
        with run.pausing():
            frames = run.reader.read()
        if run.reader.place != before:  # at the end of a sealed segment, the place changes even without a frame
            self._changed = True
        self._is_behind = self._is_behind or len(frames) > _MANY_FRAMES
        if frames:
            self._take(run.fold.feed(frames))
            self._move_large_bodies(run)
            self._changed = True
        if run.reader.finished:
            self._take(run.fold.end())
            self._changed = True
        self._add_notes(run)
        return bool(frames)

    def _take(self, ended: list[JournalExchange]) -> None:
        for exchange in ended:
            bodies = self._entry_builder.bodies(exchange)
            is_safe = self._crash_guard.begin(exchange.id)
            understood = self._entry_builder.entry(exchange, bodies if is_safe else None)
            self._crash_guard.clear()
            self._metrics.ended(exchange, understood.record)
            entry, erase = self._body_policy.apply(exchange, understood)
            self._entries.append(entry)
            self._erase += erase
            self._bytes += exchange.held

    def _add_notes(self, run: Run) -> None:
        for counts in run.fold.refusal_counts:
            add_refused(self._refused, counts)
            self._gaps += gaps_of(counts)
            self._changed = True
        run.fold.refusal_counts.clear()
        lost = run.reader.frames_lost - run.lost_reported
        if lost > 0:
            run.lost_reported = run.reader.frames_lost
            log.error("frames_lost", extra={"run": run.name, "frames": lost})
            now_us = clock.wall_us()
            self._gaps.append(Gap(from_at=now_us, to_at=now_us, count=lost, reason="damaged"))

    def _move_large_bodies(self, run: Run) -> None:
        """Move large bodies of open exchanges from memory to the store. Do nothing while the run is replayed."""
        if run.is_replaying:
            return
        self._bytes += self._body_policy.move_large(run.fold.open.values())

    # -- committing ------------------------------------------------------------------------------------------------

    def _commit(self) -> None:
        now = clock.monotonic_ns()
        running = self._running.report(self._open_exchanges(), now) if self._running.is_due(now) else None
        if not self._changed and running is None:
            return
        batch = Batch(
            entries=self._entries,
            checkpoints=[checkpoint for run in self._runs.values() for checkpoint in self._checkpoints(run)],
            positions={run.name: run.position() for run in self._runs.values()} if self._changed else {},
            running=running,
            gaps=self._gaps,
            refused=self._refused,
            erase=self._erase,
        )
        self._commit_with_retry(batch)
        self._entries, self._erase, self._gaps, self._refused = [], [], [], {}
        self._bytes = 0
        self._changed = False
        self._since_ns = None
        self._committed_ns = clock.monotonic_ns()
        self._clean_up()

    def _checkpoints(self, run: Run) -> list[ExchangeCheckpoint]:
        """Return the states of open exchanges that need old segments, or whose bytes were moved to the store.

        Old segments are those before the segment that is being read. The remaining bytes of these exchanges are also
        moved to the store. After bytes of an exchange were moved, its state must be committed. Otherwise, after a
        restart, the recorder would read the exchange and move the same bytes again.
        """
        checkpoints: list[ExchangeCheckpoint] = []
        if run.is_replaying:
            return checkpoints
        here = run.reader.place.segment
        for exchange in run.fold.open.values():
            first = exchange.first
            if first is not None and (first[0] < here or len(exchange.refs) > exchange.saved_refs):
                self._body_policy.move_to_store(exchange)
                exchange.first, exchange.saved_refs = None, len(exchange.refs)
                state = encode_exchange(exchange)
                checkpoints.append(
                    ExchangeCheckpoint(run=run.name, exchange=exchange.id, number=exchange.number, state=state)
                )
        return checkpoints

    def _open_exchanges(self) -> Iterator[JournalExchange]:
        for run in self._runs.values():
            if not run.reader.finished:
                yield from run.fold.open.values()

    def _commit_with_retry(self, batch: Batch) -> None:
        while True:
            try:
                self._retry.until_done(partial(self._commit_once, batch))
                return
            except BatchRejected as error:
                if not batch.entries:
                    raise DefectiveBatch(str(error)) from error
                batch = self._without_rejected(batch)

    def _commit_once(self, batch: Batch) -> None:
        began_ns = clock.monotonic_ns()
        self._store.commit(batch)
        self._passes.committed(batch.entries)
        self._metrics.committed(clock.monotonic_ns() - began_ns)

    def _without_rejected(self, batch: Batch) -> Batch:
        """Commit the entries one by one, and quarantine each entry that is rejected.

        Return the rest of the batch, which has no entries, for another commit.
        """
        for entry in batch.entries:
            try:
                self._retry.until_done(partial(self._store.commit, Batch(entries=[entry])))
            except BatchRejected as error:
                log.error("record_quarantined", extra={"id": entry.record.id, "reason": str(error)})
                self._body_policy.read_back(entry)
                self._quarantine.put(entry, str(error))
                batch.rejected.append(entry.record.id)
        batch.entries = []
        return batch

    def _clean_up(self) -> None:
        """Remove segments that are no longer needed, and whole runs that have ended."""
        removed = []
        for run in self._runs.values():
            if run.is_paused:
                continue
            with run.pausing():
                if run.reader.finished:
                    self._retry.until_done(self._store.verify_newest)
                    run.reader.remove()
                    removed.append(run.name)
                else:
                    self._remove_before(run, run.position().replay_from[0])
        if removed:
            self._commit_with_retry(Batch(finished_runs=removed))
        for name in removed:
            self._positions.pop(name, None)
            del self._runs[name]

    def _remove_before(self, run: Run, segment: int) -> None:
        """Remove the run's segments before ``segment``. If the store is damaged, raise StoreDamaged and remove nothing.

        The journal may be the only readable copy of the newest requests, even if the store has accepted them.
        """
        if run.reader.segments_before(segment):
            self._retry.until_done(self._store.verify_newest)
            run.reader.remove_before(segment)
