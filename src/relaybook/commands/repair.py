"""``relaybook check --salvage`` and ``--requeue``: bring requests into the log that were put aside.

Both write to the store, so they work while no server does. Idempotent: what the log has already is passed over.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from relaybook.commands.failure import FAILED, CommandFailed
from relaybook.filters import Filter
from relaybook.recorder.quarantine import decode_quarantined
from relaybook.records import Detail, Record, Side
from relaybook.serve.data_directory import DataDirectory
from relaybook.stores.base import (
    Batch,
    BatchRejected,
    Body,
    BodyDamaged,
    Entry,
    Reader,
    StoreDamaged,
    StoreTooNew,
    StoreUnavailable,
)
from relaybook.stores.sqlite import SqliteReader, SqliteWriter
from relaybook.stores.sqlite.set_aside import list_set_aside

_RECORDS: Final = 200
_BATCH_BYTES: Final = 32 << 20
_EVERYTHING: Final = Filter()


def repair(path: Path, *, salvage: bool, requeue: bool) -> int:
    """Does what is wished for; the exit code."""
    codes = [_salvage(path)] if salvage else []
    codes += [_requeue(path)] if requeue else []
    return max(codes, default=0)


def _salvage(path: Path) -> int:
    """Copies what can be read of each store that was set aside into the log, and renames it; the exit code."""
    data = DataDirectory(path)
    found = list_set_aside(data.store)
    if not found:
        print(f"✓ salvage: nothing is set aside in {path}")
        return 0
    writer = _writer(data)
    try:
        for aside in found:
            copied, unreadable, without_bodies = _copy(aside, writer)
            done = aside.with_name(aside.name.replace(".corrupt-", ".salvaged-"))
            aside.rename(done)
            rest = f", {without_bodies:,} of them without bodies" if without_bodies else ""
            print(f"✓ salvage: {copied:,} requests of {aside.name} are in the log now{rest}")
            print(f"  {unreadable:,} could not be read; {done} is kept as it was and may be deleted", flush=True)
    finally:
        writer.close()
    return 0


def _requeue(path: Path) -> int:
    """Tries to store again what is in the quarantine; 1 when something is still refused."""
    data = DataDirectory(path)
    files = sorted(data.quarantine.glob("*.msgpack")) if data.quarantine.is_dir() else []
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


def _copy(aside: Path, writer: SqliteWriter) -> tuple[int, int, int]:
    """How many requests were copied, could not be read, and were copied without their bodies."""
    copied = without_bodies = 0
    missing = _Missing()
    reader = SqliteReader(aside)
    entries: list[Entry] = []
    held = 0
    try:
        for record in _records(reader, missing):
            entry = _entry(reader, record, missing)
            if entry is None:
                continue
            without_bodies += entry.record.body_state == "expired" and record.body_state == "stored"
            entries.append(entry)
            held += record.request_bytes + record.response_bytes
            copied += 1
            if len(entries) >= _RECORDS or held >= _BATCH_BYTES:
                writer.commit(Batch(entries=entries))
                entries, held = [], 0
        writer.commit(Batch(entries=entries))
    except (StoreUnavailable, BatchRejected) as error:
        raise CommandFailed(str(error)) from None
    finally:
        reader.close()
    return copied, missing.requests, without_bodies


class _Missing:
    """How many requests could not be read."""

    requests = 0


def _records(reader: Reader, missing: _Missing) -> Iterator[Record]:
    """All that can be read, in order of recording; damaged stretches are passed over request by request."""
    try:
        last = reader.last_seq()
    except StoreDamaged as error:
        raise CommandFailed(
            f"{error} Nothing of it can be read this way: SQLite's own `.recover` may do more."
        ) from None
    seq, limit = 0, _RECORDS
    while seq < last:
        try:
            found, upto = reader.since(seq, _EVERYTHING, limit)
        except StoreDamaged:
            if limit == 1:
                missing.requests += 1
                seq += 1
            limit = 1
            continue
        limit = 1 if limit == 1 and seq % _RECORDS else _RECORDS
        seq = max(upto, seq + 1)
        yield from found


def _entry(reader: Reader, record: Record, missing: _Missing) -> Entry | None:
    """The request as it was recorded; None when its row cannot be read."""
    try:
        stored = reader.get(record.id)
        if stored is None:
            return None
        request, response = _body(reader, record, "request"), _body(reader, record, "response")
        return Entry(record=stored.record, detail=stored.detail, request=request, response=response)
    except BodyDamaged:
        record = msgspec.structs.replace(record, body_state="expired")
        return Entry(record=record, detail=Detail(), request=None, response=None)
    except StoreDamaged:
        missing.requests += 1
        return None


def _body(reader: Reader, record: Record, side: Side) -> Body | None:
    pieces = reader.body(record.id, side)
    return None if pieces is None else Body([], list(pieces))
