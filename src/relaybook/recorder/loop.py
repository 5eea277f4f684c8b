"""The recorder's loop: reads every run of the journal, commits what it folded, removes what is recorded.

One transaction holds a batch's records and how far the journal was read, so a restart at any instant records nothing
twice and loses nothing. What the environment refuses is tried again until it passes; only what the data itself causes
goes to the quarantine.
"""

import logging
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from relaybook import clock
from relaybook.journal.events import Noted
from relaybook.journal.reader import START, Place, RunReader, list_runs
from relaybook.log.record import Gap
from relaybook.log.store.errors import BatchRejected
from relaybook.log.store.port import Batch, Entry, Extent, Moved, Running, RunPosition, Writer
from relaybook.recorder.body_policy import BodyPolicy, shown
from relaybook.recorder.crash_guard import CrashGuard
from relaybook.recorder.fold import Exchange, Fold, decode_exchange, encode_exchange
from relaybook.recorder.metrics import Metrics
from relaybook.recorder.quarantine import Quarantine
from relaybook.recorder.retry import GivenUp, Retry
from relaybook.recorder.text_pass import TextPass
from relaybook.recorder.understand import Understanding


class Run:
    """The run at ``path``, read on from ``position`` with what the store ``moved`` out of it; None: from its start."""

    def __init__(self, path: Path, position: RunPosition | None, moved: list[Moved]) -> None:
        start = Place(*position.replay_from) if position else START
        self.name = path.name
        self._recorded = position
        self.reader = RunReader(path, start, told_to=self._recorded_to)
        self.fold = Fold(self._recorded_to, (decode_exchange(each.state) for each in moved))
        self.lost_told = 0

    @property
    def _recorded_to(self) -> int:
        return self._recorded.read_to[2] if self._recorded else 0

    @property
    def is_replaying(self) -> bool:
        """Whether what is read now was read before a restart: exchanges of it may be recorded already."""
        return self.reader.place.number < self._recorded_to

    def position(self) -> RunPosition:
        """How far the run was read, and where reading must begin again for the exchanges that are open."""
        if self._recorded is not None and self.is_replaying:
            return self._recorded
        place = self.reader.place
        read_to = (place.segment, place.offset, place.number)
        needed = self.fold.first_needed()
        # a place says which number was the last before it
        replay_from = (needed[0], needed[1], needed[2] - 1) if needed else read_to
        return RunPosition(read_to=read_to, replay_from=replay_from)


def add_refused(refused: dict[str, int], note: Noted) -> None:
    """Adds the note's counts, by code."""
    for code, count in note.refused.items():
        refused[code] = refused.get(code, 0) + count


def gaps_of(note: Noted) -> list[Gap]:
    """Spans of the note in which requests were relayed unlogged, or refused for want of a log."""
    span = {"from_at": note.from_ns // 1000, "to_at": note.to_ns // 1000}
    gaps = []
    if unlogged := note.forwarded_unlogged:
        gaps.append(Gap(**span, count=unlogged, reason="forwarded_unlogged"))
    if refused := note.refused.get("log_unavailable"):
        gaps.append(Gap(**span, count=refused, reason="log_unavailable"))
    return gaps


log = logging.getLogger("relaybook.recorder")

COMMIT_AFTER_NS: Final = 200_000_000
MOST_ENTRIES: Final = 10_000
#: Of bodies, in memory or set aside: what one commit may need of a disk that is full (recorder/memory_reserve.py).
MOST_BYTES: Final = 32 << 20
_RUNNING_EVERY_NS: Final = 1 * clock.NANOSECONDS
_RUNNING_AFTER_NS: Final = 1 * clock.NANOSECONDS
_LOOK_FOR_RUNS_NS: Final = 500_000_000
_IDLE_SECONDS: Final = 0.05
#: How long work that can wait may take: what is recorded meanwhile waits for it. None while much is to be read.
_IDLE_NS: Final = 50_000_000
_BUSY_NS: Final = 100_000_000
_MANY_FRAMES: Final = 2000


class DefectiveBatch(Exception):
    """The store rejects what the recorder itself made, not what came with a request: a defect of ours."""


class Recorder:
    """Reads the runs below ``journal`` into ``store``."""

    def __init__(
        self,
        journal: Path,
        store: Writer,
        retry: Retry,
        understanding: Understanding,
        body_policy: BodyPolicy,
        quarantine: Quarantine,
        crash_guard: CrashGuard,
        figures: Metrics,
        text: TextPass,
    ) -> None:
        self._text = text
        self._journal = journal
        self._store = store
        self._retry = retry
        self._understanding = understanding
        self._body_policy = body_policy
        self._quarantine = quarantine
        self._crash_guard = crash_guard
        self._figures = figures
        self._runs: dict[str, Run] = {}
        self._positions = store.positions()
        self._entries: list[Entry] = []
        self._erase: list[Extent] = []
        self._gaps: list[Gap] = []
        self._refused: dict[str, int] = {}
        self._bytes = 0
        self._changed = False
        self._since_ns: int | None = None
        self._runs_seen_ns = 0
        self._running_told_ns = 0
        self._running_told = False
        #: More than trickled in since the last look waits to be read.
        self._is_behind = False

    def run(self) -> None:
        """Records until it is told to stop and nothing is left to read, or until its patience is over.

        Raises StoreDamaged, DefectiveBatch; the journal still has what was not committed.
        """
        with suppress(GivenUp):
            while not self._retry.is_over():
                worked = self.step()
                if worked:
                    continue
                if self._retry.is_told():
                    break
                if not self._catch_up(_IDLE_NS):
                    self._wait()
            self._commit()

    def step(self) -> bool:
        """Reads once from every run and commits when it is time. False: there was nothing to do."""
        now = clock.monotonic_ns()
        if now - self._runs_seen_ns >= _LOOK_FOR_RUNS_NS:
            self._look_for_runs(now)
        worked = False
        self._is_behind = False
        for run in list(self._runs.values()):
            worked = self._read(run) or worked
        now = clock.monotonic_ns()
        if self._changed and self._since_ns is None:
            self._since_ns = now
        full = len(self._entries) >= MOST_ENTRIES or self._bytes >= MOST_BYTES
        due = self._since_ns is not None and now - self._since_ns >= COMMIT_AFTER_NS
        if full or due or now - self._running_told_ns > _RUNNING_EVERY_NS:
            self._commit()
            if worked and not self._is_behind:
                self._catch_up(_BUSY_NS)
        return worked

    def _wait(self) -> None:
        """Until something is written, waits to be committed, or it is time to look around again.

        An idle server costs its machine little: a look at the runs' marks is no system call.
        """
        until_ns = self._runs_seen_ns + _LOOK_FOR_RUNS_NS
        while True:
            time.sleep(_IDLE_SECONDS)
            if self._changed or self._retry.is_told() or clock.monotonic_ns() >= until_ns:
                return
            if any(run.reader.waiting for run in self._runs.values()):
                return

    def _catch_up(self, time_ns: int) -> bool:
        """Work that can wait, for a while: words are made findable, the store tidies up. False: nothing is left."""
        worked = self._text.work(clock.monotonic_ns() + time_ns)
        return self._store.tidy(clock.monotonic_ns() + time_ns // 2) or worked

    def _look_for_runs(self, now: int) -> None:
        self._runs_seen_ns = now
        self._retry.prepare()
        paths = list_runs(self._journal)
        if gone := set(self._positions) - {path.name for path in paths}:  # removed just before a death
            self._store_patiently(Batch(runs_over=sorted(gone)))
            self._positions = {name: at for name, at in self._positions.items() if name not in gone}
        for path in paths:
            if path.name not in self._runs:
                self._runs[path.name] = Run(path, self._positions.get(path.name), self._store.moved(path.name))

    def _read(self, run: Run) -> bool:
        before = run.reader.place
        frames = run.reader.read()
        if run.reader.place != before:  # also where a sealed segment ended without another frame
            self._changed = True
        self._is_behind = self._is_behind or len(frames) > _MANY_FRAMES
        if frames:
            self._take(run.fold.feed(frames))
            self._set_aside(run)
            self._changed = True
        if run.reader.finished:
            self._take(run.fold.end())
            self._changed = True
        self._take_notes(run)
        return bool(frames)

    def _take(self, ended: list[Exchange]) -> None:
        for exchange in ended:
            readable = self._crash_guard.take(exchange.id)
            understood = self._understanding.entry(exchange, read_bodies=readable)
            self._crash_guard.let_go()
            self._figures.ended(exchange, understood.record)
            entry, erase = self._body_policy.apply(exchange, understood)
            self._entries.append(entry)
            self._erase += erase
            self._bytes += exchange.held

    def _take_notes(self, run: Run) -> None:
        for note in run.fold.notes:
            add_refused(self._refused, note)
            self._gaps += gaps_of(note)
            self._changed = True
        run.fold.notes.clear()
        lost = run.reader.frames_lost - run.lost_told
        if lost > 0:
            run.lost_told = run.reader.frames_lost
            log.error("frames_lost", extra={"run": run.name, "frames": lost})
            now_us = clock.wall_us()
            self._gaps.append(Gap(from_at=now_us, to_at=now_us, count=lost, reason="damaged"))

    def _set_aside(self, run: Run) -> None:
        """Takes large bodies of open exchanges out of memory; but not again those of recorded ones."""
        if run.is_replaying:
            return
        for exchange in run.fold.open.values():
            self._bytes += self._body_policy.set_aside_if_large(exchange)

    # -- committing ------------------------------------------------------------------------------------------------

    def _commit(self) -> None:
        now = clock.monotonic_ns()
        running = self._running(now) if now - self._running_told_ns > _RUNNING_EVERY_NS else None
        if not self._changed and running is None:
            return
        batch = Batch(
            entries=self._entries,
            moved=[moved for run in self._runs.values() for moved in self._move(run)],
            positions={run.name: run.position() for run in self._runs.values()} if self._changed else {},
            running=running,
            gaps=self._gaps,
            refused=self._refused,
            erase=self._erase,
        )
        self._store_patiently(batch)
        self._entries, self._erase, self._gaps, self._refused = [], [], [], {}
        self._bytes = 0
        self._changed = False
        self._since_ns = None
        self._clean_up()

    def _move(self, run: Run) -> list[Moved]:
        """States of open exchanges that would hold back a segment, or whose bytes lie in the store already."""
        moved: list[Moved] = []
        if run.is_replaying:
            return moved
        here = run.reader.place.segment
        for exchange in run.fold.open.values():
            first = exchange.first
            if first is not None and (first[0] < here or exchange.extents):
                self._body_policy.set_aside(exchange)
                exchange.first = None
                state = encode_exchange(exchange)
                moved.append(Moved(run=run.name, exchange=exchange.id, number=exchange.number, state=state))
        return moved

    def _running(self, now: int) -> list[Running] | None:
        """Requests that have run for a second; None when there are none and there were none."""
        self._running_told_ns = now
        found = [
            exchange
            for run in self._runs.values()
            if not run.reader.finished
            for exchange in run.fold.open.values()
            if now - exchange.opened_ns > _RUNNING_AFTER_NS
        ]
        told, self._running_told = self._running_told, bool(found)
        return self._told_of(found) if found or told else None

    def _told_of(self, exchanges: list[Exchange]) -> list[Running]:
        ids, take, tell = shown(exchanges), self._crash_guard.take, self._understanding.running
        told = [tell(each, read_bodies=take(each.id), is_shown=each.id in ids) for each in exchanges]
        self._crash_guard.let_go()
        return told

    def _store_patiently(self, batch: Batch) -> None:
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
        self._text.committed(batch.entries)
        self._figures.committed(clock.monotonic_ns() - began_ns)

    def _without_rejected(self, batch: Batch) -> Batch:
        """Tries the entries one by one; what cannot be stored goes to the quarantine. What is left of the batch."""
        for entry in batch.entries:
            try:
                self._retry.until_done(partial(self._store.commit, Batch(entries=[entry])))
            except BatchRejected as error:
                log.error("record_quarantined", extra={"id": entry.record.id, "reason": str(error)})
                self._quarantine.put(entry, str(error))
        batch.entries = []
        return batch

    def _clean_up(self) -> None:
        """Unlinks segments that are not needed any more, and whole runs that are over."""
        for run in list(self._runs.values()):
            if run.reader.finished:
                run.reader.remove()
                self._store_patiently(Batch(runs_over=[run.name]))
                self._positions.pop(run.name, None)
                del self._runs[run.name]
            else:
                run.reader.remove_before(run.position().replay_from[0])
