"""``relaybook import`` without files: move the SQLite log in the data directory to the store in the settings.

The server must be stopped. An interrupted import can be repeated, because requests that were copied are skipped. After
the copy, the files of the SQLite log are moved to another directory. If these files stayed, a later import could bring
back requests that were deleted from the new store.
"""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

from relaybook import clock
from relaybook.cli.failure import CommandFailed
from relaybook.cli.output import plural
from relaybook.cli.progress import progress_bar
from relaybook.journal.reader import list_runs
from relaybook.log.export.export import labels_of
from relaybook.log.namespaces import LabelChange
from relaybook.log.record import Side
from relaybook.log.saved_filters import MAX_SAVED_FILTERS, SavedFilter, TooManySavedFilters
from relaybook.log.store import open_store
from relaybook.log.store.entry import Body, Entry
from relaybook.log.store.errors import BatchRejected, BodyDamaged, StoreUnavailable, UnsupportedSchema, until_writable
from relaybook.log.store.files import LOCK, RECORDER
from relaybook.log.store.port import Batch, Reader, Store, Writer
from relaybook.server.data_directory import DataDirectory, DataInUse
from relaybook.settings.configuration import Configuration
from relaybook.system import disk

_RECORDS: Final = 2000
_BATCH_BYTES: Final = 32 << 20
#: Bodies larger than a batch are copied in parts of about this size.
_PART_BYTES: Final = 8 << 20
_DELETIONS: Final = 1000
#: Prefix of the name of the directory to which the files of a SQLite log are moved. The time follows the prefix.
_MOVED: Final = "store.moved-"


def move_log(configuration: Configuration) -> int:
    """Copy the SQLite log to the store in the settings, then move the SQLite files to another directory.

    The copy contains gaps, labels (pinned namespaces), saved filters, and all requests with their bodies and feedback.
    Raises CommandFailed.
    """
    data = DataDirectory(configuration.data)
    try:
        data.open()
    except DataInUse:
        raise CommandFailed(
            f"A server is using {configuration.data}. Stop the server before you import the log."
        ) from None
    new = data.store.with_name("store.new")
    source, target = open_store(data.store), open_store(new, configuration.settings)
    try:
        # If the directory contains the file RECORDER, an earlier import copied the log but did not move all files.
        is_copied = (data.store / RECORDER).exists()
        if not (_sqlite_files(data.store) if is_copied else source.exists()):
            raise CommandFailed(
                f"There is no SQLite log in {configuration.data}. Choose another directory with --data."
            )
        if not is_copied:
            if list_runs(data.journal):
                raise CommandFailed(
                    f"The journal in {data.path} has requests that are not in the log yet. Run relaybook drain --store "
                    f"sqlite --data {data.path} first."
                )
            target.check()
            _copy_or_advise(source, target, configuration.settings.store)
            disk.make_directory(data.store.with_name(f"{_MOVED}{clock.wall_us()}"))
            # After this rename, the log is in ClickHouse: a SQLite store does not open in a directory with the file
            # RECORDER.
            (new / RECORDER).rename(data.store / RECORDER)
            disk.sync_directory(data.store)
        old = max(data.path.glob(f"{_MOVED}*"))
        for path in _sqlite_files(data.store):
            path.rename(old / path.name)
        shutil.rmtree(new, ignore_errors=True)
    except (StoreUnavailable, UnsupportedSchema) as error:
        raise CommandFailed(str(error)) from None
    finally:
        data.close()
    print(f"The files of the SQLite log are now in {old}. Delete this directory when you no longer need it.")
    return 0


def _sqlite_files(store: Path) -> list[Path]:
    """Return the files and directories of the SQLite log.

    These are the contents of the directory ``store`` except RECORDER and LOCK, which stay there for the new store.
    """
    return [path for path in store.iterdir() if path.name not in (RECORDER, LOCK)]


def _copy_or_advise(source: Store, target: Store, name: str) -> None:
    try:
        copy_log(source, target, name)
    except (StoreUnavailable, BatchRejected) as error:
        raise CommandFailed(f"{error} Repeat the import. Requests that were already added are skipped.") from None


def copy_log(source: Store, target: Store, name: str) -> None:
    """Copy a log from ``source`` to ``target``, and print what was copied. The output calls the target ``name``.

    Raises CommandFailed, StoreUnavailable, UnsupportedSchema and BatchRejected.
    """
    with closing(source.open_reader()) as reader, closing(target.open_reader()) as known:
        if any(deletion.state != "done" for deletion in reader.deletions(_DELETIONS)):
            raise CommandFailed(
                "A deletion in the SQLite log is not finished. Start relaybook serve with --store sqlite, and wait "
                "until the page says that the deletion is done."
            )
        pinned_before = {label.namespace for label in labels_of(known)}
        with closing(target.open_writer(lock_wait_s=0)) as writer:
            added, skipped = _Requests(reader, writer, known).copy()
            known_gaps = known.gaps(0)
            gaps = Batch(gaps=[gap for gap in reader.gaps(0) if gap not in known_gaps])
            until_writable(lambda: writer.commit(gaps))
        labels = list(labels_of(reader))
        # In a new log, the target pins the first namespaces automatically. Unpin namespaces that are not pinned in the
        # SQLite log, unless they were pinned in the target before the copy.
        pinned = pinned_before | {label.namespace for label in labels}
        changes = labels + [
            LabelChange(namespace=label.namespace, pinned=False)
            for label in labels_of(known)
            if label.namespace not in pinned
        ]
        for change in changes:
            target.open_labels().change(change)
        saved_filters = reader.saved_filters()
        copied = sum(_is_saved(target, saved) for saved in saved_filters)
    already = f"; {plural(skipped, 'was', 'were')} already in the log" if skipped else ""
    were_added = plural(added, "request of the SQLite log was", "requests of the SQLite log were")
    print(f"{were_added} added to {name}{already}.")
    print(f"Pinned namespaces: {len(labels):,}. Saved filters: {copied:,}.")
    if left := len(saved_filters) - copied:
        were = plural(left, "saved filter was", "saved filters were")
        print(f"{were} not copied, because {name} already has {MAX_SAVED_FILTERS}.")


def _is_saved(target: Store, saved: SavedFilter) -> bool:
    try:
        target.open_saved_filters().save_filter(saved)
    except TooManySavedFilters:
        return False
    return True


class _Requests:
    """Copies the requests of a log, oldest first."""

    def __init__(self, reader: Reader, writer: Writer, target: Reader) -> None:
        self._reader = reader
        self._writer = writer
        self._target = target

    def copy(self) -> tuple[int, int]:
        """Copy all requests to the target.

        Returns the number of added requests, and the number of requests that were already in the target.
        """
        total, last_seq = self._reader.status().records, self._target.last_seq()
        done = added = after = 0
        with progress_bar() as on_progress:
            while entries := self._reader.entries(after, _RECORDS, _BATCH_BYTES):
                after = entries[-1].record.seq or 0
                new = [entry for entry in entries if self._add_large_bodies(entry)]
                until_writable(partial(self._writer.commit, Batch(entries=new, is_import=True)))
                done += len(entries)
                added += sum((entry.record.seq or 0) > last_seq for entry in new)
                on_progress(done, total)
        return added, done - added

    def _add_large_bodies(self, entry: Entry) -> bool:
        """Copy the large bodies of a request to the target, because ``Reader.entries`` omitted these bodies.

        Returns False, and copies nothing, if the request has large bodies and is already in the target.
        """
        record = entry.record
        if record.body_state != "stored" or max(record.request_bytes, record.response_bytes) <= _BATCH_BYTES:
            return True
        if self._target.get(record.id) is not None:
            return False
        entry.request = entry.request or self._written(record.id, "request")
        entry.response = entry.response or self._written(record.id, "response")
        return True

    def _written(self, record_id: str, side: Side) -> Body | None:
        """Copy a body to the target, and return a ``Body`` that refers to the copy.

        `None` if the body is not stored or is damaged.
        """
        chunks = self._reader.body(record_id, side)
        try:
            return None if chunks is None else Body(refs=[self._writer.write_body(part) for part in _joined(chunks)])
        except BodyDamaged:
            return None


def _joined(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Join chunks into parts of about ``_PART_BYTES``."""
    part = bytearray()
    for chunk in chunks:
        part += chunk
        if len(part) >= _PART_BYTES:
            yield bytes(part)
            part.clear()
    if part:
        yield bytes(part)
