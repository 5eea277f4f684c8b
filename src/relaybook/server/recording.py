"""Run the recorder process: open the store, record until told to stop, and set a damaged store aside.

Frames stay in the journal until they are recorded, so store problems do not affect the relay.
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
from relaybook.log.prices import Prices
from relaybook.log.retention import Retention
from relaybook.log.store import open_store
from relaybook.log.store.entry import BodyRef
from relaybook.log.store.errors import BodyDamaged, StoreDamaged, SyncFailed, UnsupportedSchema
from relaybook.log.store.port import Batch, Store, Writer
from relaybook.recorder.body_policy import BodyPolicy
from relaybook.recorder.crash_guard import CrashGuard
from relaybook.recorder.disk_reserve import DiskReserve
from relaybook.recorder.entry_builder import EntryBuilder
from relaybook.recorder.loop import DefectiveBatch, Recorder
from relaybook.recorder.metrics import Metrics
from relaybook.recorder.passes.imports import ImportPass
from relaybook.recorder.passes.reread import RereadPass
from relaybook.recorder.passes.retain import DiskUse, RetainPass
from relaybook.recorder.passes.schedule import Passes
from relaybook.recorder.passes.text import TextPass
from relaybook.recorder.property_sources import PropertySources
from relaybook.recorder.quarantine import Quarantine
from relaybook.recorder.retry import Retry, RetryAborted
from relaybook.server.data_directory import DataDirectory, disk_use
from relaybook.settings.definitions import Settings
from relaybook.system.parent_pipe import is_closed
from relaybook.system.process import collect_rarely, raise_descriptor_limit

log = logging.getLogger("relaybook.recorder")

_LOCK_WAIT_SECONDS: Final = 60.0
#: The recorder needs two descriptors to read a run. The other half of the descriptors is for the store.
_DESCRIPTORS_PER_RUN: Final = 4
#: ``struct sched_attr`` of sched_setattr(2): size, policy, flags, nice, priority, runtime, deadline, period.
_ATTRIBUTES: Final = struct.Struct("=IIQiIQQQ")
#: The longest time slice that Linux allows. The default time slice is about 3 ms.
_SLICE_NS: Final = 100_000_000
#: The number of the system call on each machine. glibc before 2.41 has no function for this call.
_SCHED_SETATTR: Final = {"x86_64": 314, "aarch64": 274, "riscv64": 274}


def take_long_slices() -> None:
    """Request long time slices for this thread and threads started later, so that the relay can preempt them.

    Since Linux 6.12, a relay that wakes up preempts the running recorder if the recorder has a longer slice. If the
    slices were equal, the recorder would keep the core until the next tick, for up to 4 ms. The recorder's share of CPU
    time does not change. This function does nothing if the system does not support slices or if the scheduling policy
    is not SCHED_OTHER.
    """
    call = _SCHED_SETATTR.get(platform.machine())
    if sys.platform != "linux" or call is None:
        return
    try:
        policy = os.sched_getscheduler(0)
    except OSError:  # raised with musl, and in some containers
        return
    if policy != os.SCHED_OTHER:
        return
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    attributes = _ATTRIBUTES.pack(_ATTRIBUTES.size, os.SCHED_OTHER, 0, nice, 0, _SLICE_NS, 0, 0)
    ctypes.CDLL(None).syscall(call, 0, attributes, 0)  # errors are ignored, for example if a container forbids the call


def record(settings: Settings, data: DataDirectory, supervisor_pipe: int, *, until_read: bool = False) -> int:
    """Record the requests in the journal until a stop signal, or until the supervisor dies or closes the pipe.

    Return the exit code. With ``until_read``, also stop at the end of the journal.
    """
    collect_rarely()
    take_long_slices()  # the relay must not wait for the recorder
    stop_requests = _StopRequests()
    signal.signal(signal.SIGTERM, stop_requests)
    signal.signal(signal.SIGINT, stop_requests)
    with suppress(OSError):
        os.write(supervisor_pipe, b"\n")  # tell the supervisor that signals are handled from now on
    threading.Thread(target=_watch, args=(supervisor_pipe, stop_requests.supervisor_gone), daemon=True).start()
    store = open_store(data.store, settings)
    reserve = DiskReserve(data.reserve, settings.min_free)
    try:
        # While the store is being opened, each stop request counts twice. So one request is enough to stop the retries.
        writer = _open(settings, store, Retry(reserve, lambda: 2 * stop_requests.count))
        try:
            recorder = _recorder(settings, data, store, writer, reserve, Retry(reserve, lambda: stop_requests.count))
            recorder.run(until_read=until_read)
        finally:
            reserve.remove()
            writer.close()  # another recorder can open the store only after this call
    except RetryAborted:
        pass  # the recorder had to stop while the store was unavailable
    except (UnsupportedSchema, JournalTooNew) as error:
        log.critical("unsupported_data", extra={"reason": str(error)})
        return 2
    except StoreDamaged as error:
        moved_to = store.files.set_aside() if store.files is not None else None
        if moved_to is None:
            log.critical("store_deleted", extra={"reason": str(error)})
        else:
            log.critical("store_set_aside", extra={"reason": str(error), "to": moved_to})
        return 1  # the supervisor restarts this process, which creates an empty store
    except DefectiveBatch as error:
        log.critical("batch_rejected", extra={"reason": str(error)})
        return 1
    except SyncFailed as error:
        log.critical("sync_failed", extra={"reason": str(error)})
        return 1  # after the restart, unrecorded data is written again from the journal
    return 0


def _open(settings: Settings, store: Store, retry: Retry) -> Writer:
    """Open the store for writing, and record the gaps of stores that were set aside.

    Retry while the store is unavailable. Raises RetryAborted, StoreDamaged and UnsupportedSchema.
    """
    durability = settings.durability
    writer = retry.until_done(lambda: store.open_writer(durability=durability, lock_wait_s=_LOCK_WAIT_SECONDS))
    retry.until_done(partial(_record_set_aside_gaps, store, writer))
    return writer


def _recorder(
    settings: Settings, data: DataDirectory, store: Store, writer: Writer, reserve: DiskReserve, retry: Retry
) -> Recorder:
    def write_body(body: bytes) -> BodyRef:
        return retry.until_done(partial(writer.write_body, body))

    def read_back(ref: BodyRef) -> bytes:
        try:
            return retry.until_done(partial(writer.read_body, ref))
        except BodyDamaged as error:
            log.error("body_damaged", extra={"reason": str(error)})
            return b""  # the record is written without the body

    entry_builder = EntryBuilder(Prices.of(settings), read_back, PropertySources.of(settings))
    body_policy = BodyPolicy(write_body, read_back, settings.keep_other_bodies)
    quarantine, crash_guard = Quarantine(data.quarantine), CrashGuard(data.path)
    metrics = Metrics(data.metrics, [route.name for route in settings.resolved_routes()])
    reader = store.open_reader()
    text = TextPass(reader, store.open_text_index())

    def measure() -> DiskUse:
        return disk_use(data, settings, reader.status().bytes_on_disk)

    retain = RetainPass(Retention.of(settings), writer, reader, measure)
    imports = ImportPass(data.imports, writer, reader, text, settings.min_free)
    reread = RereadPass(writer, entry_builder, crash_guard)
    passes = Passes(writer, text, imports, retain, reread, reserve)
    return Recorder(
        data.journal,
        writer,
        retry,
        entry_builder,
        body_policy,
        quarantine,
        crash_guard,
        metrics,
        passes,
        max_runs=raise_descriptor_limit() // _DESCRIPTORS_PER_RUN,
    )


def _record_set_aside_gaps(store: Store, writer: Writer) -> None:
    """Record the gaps of stores that were set aside, except for gaps that are already recorded."""
    set_aside = store.files.list_set_aside() if store.files is not None else []
    if not set_aside:
        return
    reader = store.open_reader()
    try:
        recorded = {gap.to_at for gap in reader.gaps(0) if gap.reason == "store_set_aside"}
    finally:
        reader.close()
    gaps = [gap for each in set_aside if (gap := each.gap()).to_at not in recorded]
    if gaps:
        writer.commit(Batch(gaps=gaps))


class _StopRequests:
    """Counts stop requests. After one, the recorder stops at the end of the journal. After two, it stops at once.

    The class uses no lock. A signal handler interrupts the main thread, so the handler would wait forever for a lock
    that the main thread holds.
    """

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, *_: Any) -> None:
        self.count += 1

    def supervisor_gone(self) -> None:
        """Make the recorder stop at once, because the supervisor has died or has closed the pipe."""
        self.count = 2


def _watch(supervisor_pipe: int, end: Callable[[], None]) -> None:
    """Call ``end`` when the supervisor has died, or has closed the pipe after a reload."""
    while not is_closed(supervisor_pipe):
        pass
    end()
