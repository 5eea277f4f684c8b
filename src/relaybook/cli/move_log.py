"""``relaybook import`` without files: copy the SQLite log in the data directory to the store of the settings.

The server must be stopped. Requests that were copied before are skipped, so an interrupted copy can be repeated.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from relaybook import clock
from relaybook.cli.failure import CommandFailed
from relaybook.cli.progress import progress_bar
from relaybook.log.namespaces import LabelChange, NamespaceRow
from relaybook.log.record import Side
from relaybook.log.store import open_store
from relaybook.log.store.errors import BatchRejected, StoreTooNew, StoreUnavailable
from relaybook.log.store.port import Batch, Body, Entry, Reader, Store, Writer
from relaybook.server.data_directory import DataDirectory, DataInUse
from relaybook.settings.configuration import Configuration

_RECORDS: Final = 2000
_BATCH_BYTES: Final = 32 << 20
#: Bodies larger than a batch are copied in parts of about this size.
_PART_BYTES: Final = 8 << 20
_NAMESPACES: Final = 500
_DELETIONS: Final = 1000
_QUERY_NS: Final = 60 * clock.NANOSECONDS


def move_log(configuration: Configuration) -> int:
    """Copy requests with their bodies and feedback, gaps, labels and saved filters. Raises CommandFailed."""
    data = DataDirectory(configuration.data)
    try:
        data.open()
    except DataInUse:
        raise CommandFailed(f"A server uses {configuration.data}. Stop it before you import its log.") from None
    source = open_store(data.store)
    try:
        if not source.exists():
            raise CommandFailed(
                f"There is no SQLite log in {configuration.data}. Choose another directory with --data."
            )
        copy_log(source, open_store(data.store, configuration.settings), configuration.settings.store)
    except (StoreUnavailable, StoreTooNew, BatchRejected) as error:
        raise CommandFailed(f"{error} Repeat the import: requests that were added are skipped.") from None
    finally:
        data.close()
    return 0


def copy_log(source: Store, target: Store, name: str) -> None:
    """Copy a log to the store ``name``, and print what was copied.

    Raises CommandFailed, StoreUnavailable, StoreTooNew and BatchRejected.
    """
    reader = source.open_reader()
    if any(deletion.state != "done" for deletion in reader.deletions(_DELETIONS)):
        raise CommandFailed(
            "Requests are being deleted from the SQLite log. Start relaybook serve without --store, and wait until "
            "the page says that the deletion is done."
        )
    writer = target.open_writer(lock_wait_s=0)
    try:
        known = target.open_reader()
        added, skipped = _Requests(reader, writer, known).copy()
        known_gaps = known.gaps(0)
        writer.commit(Batch(gaps=[gap for gap in reader.gaps(0) if gap not in known_gaps]))
    finally:
        writer.close()
    labels = list(_labels(reader))
    for row in labels:
        target.open_labels().change(
            LabelChange(
                namespace=row.namespace, pinned=True, color=row.color or 1, group=row.group, position=row.position or 0
            )
        )
    saved_filters = reader.saved_filters()
    for saved in saved_filters:
        target.open_saved_filters().save_filter(saved)
    already = f", {skipped:,} were in the log already" if skipped else ""
    print(f"{added:,} requests of the SQLite log were added to {name}{already}.")
    print(f"Labels copied: {len(labels):,}. Saved filters copied: {len(saved_filters):,}.")


class _Requests:
    """Copies the requests of a log, oldest first."""

    def __init__(self, reader: Reader, writer: Writer, target: Reader) -> None:
        self._reader = reader
        self._writer = writer
        self._target = target

    def copy(self) -> tuple[int, int]:
        """Return the numbers of requests that were added, and that were in the log already."""
        total, last_seq = self._reader.status().records, self._target.last_seq()
        done = added = after = 0
        with progress_bar() as on_progress:
            while entries := self._reader.entries(after, _RECORDS, _BATCH_BYTES):
                after = entries[-1].record.seq or 0
                new = [entry for entry in entries if self._add_large_bodies(entry)]
                self._writer.commit(Batch(entries=new))
                done += len(entries)
                added += sum((entry.record.seq or 0) > last_seq for entry in new)
                on_progress(done, total)
        return added, done - added

    def _add_large_bodies(self, entry: Entry) -> bool:
        """Write the bodies that ``Reader.entries`` omitted. Returns False if the log has this request already."""
        record = entry.record
        if record.body_state != "stored" or max(record.request_bytes, record.response_bytes) <= _BATCH_BYTES:
            return True
        if self._target.get(record.id) is not None:
            return False
        entry.request = entry.request or self._written(record.id, "request")
        entry.response = entry.response or self._written(record.id, "response")
        return True

    def _written(self, record_id: str, side: Side) -> Body | None:
        chunks = self._reader.body(record_id, side)
        return None if chunks is None else Body(refs=[self._writer.write_body(part) for part in _joined(chunks)])


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


def _labels(reader: Reader) -> Iterator[NamespaceRow]:
    """Yield the pinned namespaces."""
    after: str | None = None
    while True:
        rows, after = reader.namespaces("", "last_at", _NAMESPACES, after, True, clock.monotonic_ns() + _QUERY_NS)
        yield from rows
        if after is None:
            return
