"""The recorder's process: opens the store, records until told to stop, sets a store aside that is damaged.

Whatever the store does, the journal keeps what is not recorded, and the relay does not notice.
"""

import ctypes
import logging
import os
import platform
import signal
import struct
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

from relaybook.journal.segment import JournalTooNew
from relaybook.log.store.errors import BodyDamaged, StoreDamaged, StoreTooNew, SyncFailed
from relaybook.log.store.port import Batch, Extent
from relaybook.log.store.sqlite.reader import SqliteReader
from relaybook.log.store.sqlite.set_aside import gap_of, list_set_aside, set_aside
from relaybook.log.store.sqlite.text_index import SqliteTextIndex
from relaybook.log.store.sqlite.writer import SqliteWriter
from relaybook.parent_pipe import is_cut
from relaybook.recorder.body_policy import BodyPolicy
from relaybook.recorder.crash_guard import CrashGuard
from relaybook.recorder.loop import DefectiveBatch, Recorder
from relaybook.recorder.memory_reserve import Ballast
from relaybook.recorder.metrics import Metrics
from relaybook.recorder.prices import Prices
from relaybook.recorder.quarantine import Quarantine
from relaybook.recorder.retry import GivenUp, Retry
from relaybook.recorder.text_pass import TextPass
from relaybook.recorder.understand import Understanding
from relaybook.server.data_directory import DataDirectory
from relaybook.server.gc_tuning import collect_rarely
from relaybook.settings.definitions import Settings

#: ``struct sched_attr`` of sched_setattr(2): size, policy, flags, nice, priority, runtime, deadline, period.
_ATTRIBUTES: Final = struct.Struct("=IIQiIQQQ")
#: The most that Linux gives; its own choice is about 3 ms.
_LONG_NS: Final = 100_000_000
#: The number of the call by machine: glibc has no function for it before 2.41.
_SCHED_SETATTR: Final = {"x86_64": 314, "aarch64": 274, "riscv64": 274}


def take_long_slices() -> None:
    """Asks for long, rare turns on a core; for work that can wait. Threads that begin later do the same.

    Linux 6.12 and later let a process that wakes up interrupt one whose slice is longer than its own, which otherwise
    keeps the core until the next tick, up to 4 ms. The share of the core stays what it was. Where the system has no
    such thing, or an operator has chosen a scheduling policy, nothing changes.
    """
    call = _SCHED_SETATTR.get(platform.machine())
    if sys.platform != "linux" or call is None or os.sched_getscheduler(0) != os.SCHED_OTHER:
        return
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    attributes = _ATTRIBUTES.pack(_ATTRIBUTES.size, os.SCHED_OTHER, 0, nice, 0, _LONG_NS, 0, 0)
    ctypes.CDLL(None).syscall(call, 0, attributes, 0)  # refused, say by a container's filter: as before


log = logging.getLogger("relaybook.recorder")

_LOCK_WAIT_SECONDS: Final = 60.0


def record(settings: Settings, data: DataDirectory, supervisor_pipe: int) -> int:
    """Records until a signal or the supervisor's end; the exit code."""
    collect_rarely()
    take_long_slices()  # what we do can wait, but not the relay
    told = _Told()
    signal.signal(signal.SIGTERM, told)
    signal.signal(signal.SIGINT, told)
    with suppress(OSError):
        os.write(supervisor_pipe, b"\n")  # we can be told
    threading.Thread(target=_watch, args=(supervisor_pipe, told.for_good), daemon=True).start()
    ballast = Ballast(data.ballast, settings.min_free)
    try:
        store = _open(settings, data, Retry(ballast, lambda: 2 * told.times))  # nothing to finish yet
        try:
            _recorder(settings, data, store, Retry(ballast, lambda: told.times)).run()
        finally:
            ballast.leave()
            store.close()  # only now may another recorder begin
    except GivenUp:
        pass  # told to stop before the store could be opened
    except (StoreTooNew, JournalTooNew) as error:
        log.critical("later_version", extra={"reason": str(error)})
        return 2
    except StoreDamaged as error:
        aside = set_aside(data.store)
        log.critical("store_set_aside", extra={"reason": str(error), "to": str(aside) if aside else None})
        return 1  # the supervisor starts the process anew, and with it an empty store
    except DefectiveBatch as error:
        log.critical("batch_rejected", extra={"reason": str(error)})
        return 1
    except SyncFailed as error:
        log.critical("sync_failed", extra={"reason": str(error)})
        return 1  # a new start writes all of it again, from the journal
    return 0


def _open(settings: Settings, data: DataDirectory, retry: Retry) -> SqliteWriter:
    """The store, as soon as the environment lets it be opened. Raises GivenUp, StoreDamaged, StoreTooNew."""
    durability = settings.durability
    store = retry.until_done(lambda: SqliteWriter(data.store, durability=durability, lock_wait_s=_LOCK_WAIT_SECONDS))
    retry.until_done(partial(_note_what_is_aside, data, store))
    return store


def _recorder(settings: Settings, data: DataDirectory, store: SqliteWriter, retry: Retry) -> Recorder:
    def keep_aside(body: bytes) -> Extent:
        return retry.until_done(partial(store.set_aside, body))

    def read_back(extent: Extent) -> bytes:
        try:
            return store.read_back(extent)
        except BodyDamaged as error:
            log.error("body_damaged", extra={"reason": str(error)})
            return b""  # the record is written all the same, with what is left of the body

    understanding = Understanding(Prices(settings.price_as), read_back)
    body_policy = BodyPolicy(keep_aside, read_back, settings.keep_other_bodies)
    quarantine, crash_guard, figures = Quarantine(data.quarantine), CrashGuard(data.path), Metrics(data.figures)
    text = TextPass(SqliteReader(data.store), SqliteTextIndex(data.store))
    return Recorder(data.journal, store, retry, understanding, body_policy, quarantine, crash_guard, figures, text)


def _note_what_is_aside(data: DataDirectory, store: SqliteWriter) -> None:
    """A gap for each store that was set aside and is not told of yet: also when a death came in between."""
    aside = list_set_aside(data.store)
    if not aside:
        return
    reader = SqliteReader(data.store)
    try:
        told = {gap.to_at for gap in reader.gaps(0) if gap.reason == "store_set_aside"}
    finally:
        reader.close()
    gaps = [gap for gap in map(gap_of, aside) if gap.to_at not in told]
    if gaps:
        store.commit(Batch(gaps=gaps))


class _Told:
    """How often this process was told to stop. No lock: a handler may run at any point of the main thread."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, *_: Any) -> None:
        self.times += 1

    def for_good(self) -> None:
        """The supervisor is gone: nothing is waited for any more."""
        self.times = 2


def _watch(supervisor_pipe: int, end: Callable[[], None]) -> None:
    """Calls ``end`` when the supervisor is gone."""
    while not is_cut(supervisor_pipe):
        pass
    end()
