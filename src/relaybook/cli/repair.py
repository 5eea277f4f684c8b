"""``relaybook check --salvage`` and ``--requeue``: bring requests into the log that were put aside.

Both write to the store, so they work while no server does. Idempotent: what the log has already is passed over.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from relaybook.cli.failure import FAILED, CommandFailed
from relaybook.log.store.errors import BatchRejected, StoreDamaged, StoreTooNew, StoreUnavailable
from relaybook.log.store.port import Batch, Entry
from relaybook.log.store.sqlite import SqliteReader, SqliteWriter
from relaybook.log.store.sqlite.set_aside import list_set_aside
from relaybook.recorder.quarantine import decode_quarantined, list_quarantined
from relaybook.server.data_directory import DataDirectory

_RECORDS: Final = 200
_BATCH_BYTES: Final = 32 << 20


@dataclass
class _Salvaged:
    """Of one store: how many requests were copied, how many of them without bodies, how many could not be read."""

    copied: int = 0
    without_bodies: int = 0
    unreadable: int = 0


def repair(path: Path, *, salvage: bool, requeue: bool) -> int:
    """Does what is wished for; the exit code."""
    codes = [_salvage(path)] if salvage else []
    codes += [_requeue(path)] if requeue else []
    return max(codes, default=0)


def _salvage(path: Path) -> int:
    """Copies what can be read of each store that was set aside into the log; 1 when something could not be read."""
    data = DataDirectory(path)
    found = list_set_aside(data.store)
    if not found:
        print(f"✓ salvage: nothing is set aside in {path}")
        return 0
    writer = _writer(data)
    try:
        lost = sum(_salvage_one(aside, writer) for aside in found)
    finally:
        writer.close()
    return FAILED if lost else 0


def _salvage_one(aside: Path, writer: SqliteWriter) -> int:
    """Copies one store, and renames it when all of it came back; how many requests could not be read."""
    done = _copy(aside, writer)
    rest = f", {done.without_bodies:,} of them without bodies" if done.without_bodies else ""
    mark = "✗" if done.unreadable else "✓"
    print(f"{mark} salvage: {done.copied:,} requests of {aside.name} are in the log now{rest}")
    if done.unreadable:
        print(f"  {done.unreadable:,} could not be read, so {aside} is kept as it is.")
        print("  SQLite's own `.recover` may do more. Delete it when you want nothing more of it.", flush=True)
        return done.unreadable
    emptied = aside.with_name(aside.name.replace(".corrupt-", ".salvaged-"))
    aside.rename(emptied)
    if done.without_bodies:
        print(f"  Bodies that are lost or damaged did not come back; {emptied} is kept as it was.")
        print("  Delete it when you want nothing more of it.", flush=True)
        return 0
    print(f"  All of it could be read; {emptied} is kept as it was and may be deleted.", flush=True)
    return 0


def _requeue(path: Path) -> int:
    """Tries to store again what is in the quarantine; 1 when something is still refused."""
    data = DataDirectory(path)
    files = list_quarantined(data.quarantine)
    if not files:
        print(f"✓ requeue: nothing is in the quarantine of {path}")
        return 0
    writer = _writer(data)
    refused = 0
    try:
        for file in files:
            try:
                writer.commit(Batch(entries=[decode_quarantined(file.read_bytes())]))
            except (BatchRejected, msgspec.MsgspecError) as error:
                refused += 1
                print(f"✗ requeue: {file} is still refused: {error}")
            except StoreUnavailable as error:
                raise CommandFailed(str(error)) from None
            else:
                file.unlink()
    finally:
        writer.close()
    print(
        f"{'✗' if refused else '✓'} requeue: {len(files) - refused:,} requests are in the log now, {refused:,} refused"
    )
    return FAILED if refused else 0


def _writer(data: DataDirectory) -> SqliteWriter:
    try:
        return SqliteWriter(data.store, lock_wait_s=0)
    except (StoreUnavailable, StoreTooNew) as error:
        raise CommandFailed(f"{error} (This writes to the log, which only one program may do at a time.)") from None


def _copy(aside: Path, writer: SqliteWriter) -> _Salvaged:
    reader = SqliteReader(aside)
    done = _Salvaged()
    entries: list[Entry] = []
    held = 0
    try:
        for seq in range(1, _last_seq(reader) + 1):
            entry = _read(reader, seq, done)
            if entry is None:
                continue
            entries.append(entry)
            held += entry.record.request_bytes + entry.record.response_bytes
            if len(entries) >= _RECORDS or held >= _BATCH_BYTES:
                writer.commit(Batch(entries=entries))
                entries, held = [], 0
        writer.commit(Batch(entries=entries))
    except (StoreUnavailable, BatchRejected) as error:
        raise CommandFailed(str(error)) from None
    finally:
        reader.close()
    return done


def _last_seq(reader: SqliteReader) -> int:
    try:
        return reader.last_seq()
    except StoreDamaged as error:
        raise CommandFailed(
            f"{error} Nothing of it can be read this way: SQLite's own `.recover` may do more."
        ) from None


def _read(reader: SqliteReader, seq: int, done: _Salvaged) -> Entry | None:
    try:
        entry = reader.salvage(seq)
    except StoreDamaged:
        done.unreadable += 1
        return None
    if entry is not None:
        done.copied += 1
        done.without_bodies += entry.record.body_state == "expired"
    return entry
