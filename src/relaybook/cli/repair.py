"""``relaybook check --salvage`` and ``--requeue``: copy records from damaged stores and the quarantine into the log.

Both repairs write to the store, so the server must be stopped. Both repairs are idempotent, because records that are
already in the log are skipped.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from relaybook.cli.failure import FAILED, CommandFailed
from relaybook.cli.output import plural
from relaybook.log.store import open_store
from relaybook.log.store.entry import Entry
from relaybook.log.store.errors import BatchRejected, StoreDamaged, StoreUnavailable, UnsupportedSchema, until_writable
from relaybook.log.store.file_store import FileStore, SetAside
from relaybook.log.store.port import Batch, Store, Writer
from relaybook.recorder.quarantine import decode_quarantined, list_quarantined
from relaybook.server.data_directory import DataDirectory
from relaybook.settings.definitions import Settings

_RECORDS: Final = 200
_BATCH_BYTES: Final = 32 << 20


@dataclass
class _Salvaged:
    """Counts for one damaged store: copied requests, those of them without bodies, and requests that cannot be read."""

    copied: int = 0
    without_bodies: int = 0
    unreadable: int = 0


def repair(path: Path, settings: Settings | None = None, *, salvage: bool, requeue: bool) -> int:
    """Run the chosen repairs. Returns the exit code: 1 if something could not be read or stored.

    Raises CommandFailed if the data directory does not exist or cannot be read.
    """
    try:
        names = [each.name for each in path.iterdir()]
    except OSError as error:
        raise CommandFailed(
            f"{path} cannot be read: {error.strerror}. Choose the server's directory with --data, and run this command "
            "as the server's user."
        ) from None
    if not any(name.startswith(("journal", "quarantine", "store")) for name in names):
        raise CommandFailed(f"{path} is not a server's data directory. Choose the server's directory with --data.")
    codes = [_salvage(path, settings)] if salvage else []
    codes += [_requeue(path, settings)] if requeue else []
    return max(codes, default=0)


def _salvage(path: Path, settings: Settings | None) -> int:
    """Copy all readable records of the damaged stores that were set aside, and of the store itself if it is damaged.

    Returns 1 if some records could not be read, otherwise 0.
    """
    data = DataDirectory(path)
    store = open_store(data.store, settings)
    files = store.files
    if files is not None:
        _set_aside_if_damaged(store, files)
    stores = files.list_set_aside() if files is not None else []
    if not stores:
        print(f"✓ salvage: the store is intact, and no store was set aside in {path}")
        return 0
    writer = _writer(data, settings)
    try:
        lost = sum(_salvage_one(store, writer) for store in stores)
    finally:
        writer.close()
    return FAILED if lost else 0


def _set_aside_if_damaged(store: Store, files: FileStore) -> None:
    """Set the store aside if its structure is damaged. Raises CommandFailed if a server uses the store."""
    if not store.exists():
        return
    try:
        store.open_writer(lock_wait_s=0).close()
        damage = files.damage()
    except StoreDamaged as error:
        damage = str(error.__cause__ or error)
    except (StoreUnavailable, UnsupportedSchema) as error:
        raise CommandFailed(str(error)) from None
    if damage is not None:
        print(f"? salvage: the store is damaged: {damage}")
        print(f"  It was renamed to {files.set_aside()}. Test the disk.", flush=True)


def _salvage_one(store: SetAside, writer: Writer) -> int:
    """Copy one store to the log.

    If all requests were read, rename the store, so that a later salvage does not copy the store again. Returns the
    number of requests that could not be read.
    """
    done = _copy(store, writer)
    suffix = f", {done.without_bodies:,} of them without bodies" if done.without_bodies else ""
    mark = "✗" if done.unreadable else "✓"
    name = Path(store.location).name
    copied = plural(done.copied, f"request from {name} is", f"requests from {name} are")
    print(f"{mark} salvage: {copied} now in the log{suffix}")
    if done.copied:
        print("  A search for words finds these requests only after a server was started with this data directory.")
    if done.unreadable:
        unreadable = plural(done.unreadable, "request", "requests")
        print(f"  {unreadable} could not be read, so {store.location} was not renamed.")
        print(
            "  A database repair tool may recover more requests. Delete the store when you no longer need it.",
            flush=True,
        )
        return done.unreadable
    salvaged = store.mark_salvaged()
    if done.without_bodies:
        print(f"  Bodies that are damaged or had expired were not copied. The old store is kept as {salvaged}.")
        print("  Delete the old store when you no longer need it.", flush=True)
        return 0
    print(f"  Everything was read. The old store is kept as {salvaged}. You can delete the old store.", flush=True)
    return 0


def _requeue(path: Path, settings: Settings | None) -> int:
    """Try again to store the records in the quarantine. Returns 1 if some records are still rejected, otherwise 0."""
    data = DataDirectory(path)
    files = list_quarantined(data.quarantine)
    if not files:
        print(f"✓ requeue: the quarantine of {path} is empty")
        return 0
    writer = _writer(data, settings)
    rejected = 0
    try:
        for file in files:
            try:
                batch = Batch(entries=[decode_quarantined(file.read_bytes())], is_import=True)
                until_writable(partial(writer.commit, batch))
            except (BatchRejected, msgspec.MsgspecError) as error:
                rejected += 1
                print(f"✗ requeue: {file} is still rejected: {error}")
            except StoreUnavailable as error:
                raise CommandFailed(str(error)) from None
            else:
                file.unlink()
    finally:
        writer.close()
    stored = plural(len(files) - rejected, "request", "requests")
    print(f"{'✗' if rejected else '✓'} requeue: {stored} stored, {rejected:,} still rejected")
    return FAILED if rejected else 0


def _writer(data: DataDirectory, settings: Settings | None) -> Writer:
    try:
        return open_store(data.store, settings).open_writer(lock_wait_s=0)
    except (StoreUnavailable, UnsupportedSchema) as error:
        raise CommandFailed(str(error)) from None


def _copy(store: SetAside, writer: Writer) -> _Salvaged:
    done = _Salvaged()
    entries: list[Entry] = []
    batch_bytes = 0
    for entry in _readable(store):
        if entry is None:
            done.unreadable += 1
            continue
        done.copied += 1
        done.without_bodies += entry.record.body_state == "expired"
        entries.append(entry)
        batch_bytes += entry.record.request_bytes + entry.record.response_bytes
        if len(entries) >= _RECORDS or batch_bytes >= _BATCH_BYTES:
            _commit(writer, entries, done)
            entries, batch_bytes = [], 0
    _commit(writer, entries, done)
    return done


def _readable(store: SetAside) -> Iterator[Entry | None]:
    try:
        yield from store.entries()
    except StoreDamaged as error:
        raise CommandFailed(
            f"Salvage cannot read {store.location}: {error.__cause__ or error}. Nothing was copied. The server can "
            "start with an empty log. The .recover command of SQLite may be able to read more."
        ) from None
    except StoreUnavailable as error:
        raise CommandFailed(str(error)) from None


def _commit(writer: Writer, entries: list[Entry], done: _Salvaged) -> None:
    """Commit entries. Entries that the store rejects are counted as unreadable."""
    try:
        writer.commit(Batch(entries=entries, is_import=True))
    except BatchRejected:
        if len(entries) > 1:
            for entry in entries:
                _commit(writer, [entry], done)
        else:
            done.copied -= 1
            done.without_bodies -= entries[0].record.body_state == "expired"
            done.unreadable += 1
    except StoreUnavailable as error:
        raise CommandFailed(str(error)) from None
