"""Define the interface of a log store.

The recorder writes through it, and the API and the command line query it. The recorder process owns the ``Writer``. A
``Reader`` can be opened in any number of other processes at the same time. ``Store`` opens them. The interfaces for
changes by users are ``Labels`` in ``log/namespaces.py``, ``SavedFilters`` in ``log/saved_filters.py``, ``FeedbackLog``
in ``log/feedback.py`` and ``Deletions`` in ``log/deletions.py``. Exceptions are in ``errors.py``. Implementations
differ in where they keep data, not in behavior: one conformance suite runs against all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from relaybook.log.aggregate.stats import Stats, StatsQuery
from relaybook.log.deletions import Deletion, Deletions
from relaybook.log.feedback import FeedbackLog
from relaybook.log.namespaces import Labels, NamespaceRow, NamespaceSort
from relaybook.log.query.filters import Cursor, Filter, SortField
from relaybook.log.record import Detail, Gap, Record, Side
from relaybook.log.retention import Cutoffs, Removal
from relaybook.log.saved_filters import SavedFilter, SavedFilters
from relaybook.log.store.errors import BatchRejected

#: Whether a commit survives only a crash of any process, or also a power cut.
Durability = Literal["process", "power"]


class BodyRef(msgspec.Struct, frozen=True, array_like=True):
    """A reference to body bytes in a store. ``location`` has a meaning only for the store that created it."""

    location: tuple[int, ...]
    #: The number of bytes as transferred.
    size: int


class Body(msgspec.Struct, array_like=True):
    """The bytes of one body as transferred.

    The bytes in ``refs`` were written earlier; ``rest`` follows them.
    """

    refs: list[BodyRef] = []
    rest: list[bytes] = []


class Entry(msgspec.Struct, kw_only=True):
    """A finished request to be stored. The store assigns ``record.seq``, and adds pending feedback to the feedback that
    the record has.

    A body is `None` if it must not be stored; ``record.body_state`` says so too.
    """

    record: Record
    detail: Detail
    request: Body | None
    response: Body | None
    #: The encoded message chain, which identifies the requests that this one continues. Opaque to the store.
    chain: bytes | None = None


class RunPosition(msgspec.Struct, frozen=True, kw_only=True):
    """How far one run of the journal has been read.

    Each position is (segment, offset, frame number). All frames before ``read_to`` were read. ``replay_from`` is the
    first frame of the oldest exchange that is neither recorded nor checkpointed. After a restart, the recorder reads
    from ``replay_from`` and skips exchanges that ended before ``read_to``. ``is_segment_start`` tells that no frame of
    the segment of ``read_to`` was read.
    """

    read_to: tuple[int, int, int]
    replay_from: tuple[int, int, int]
    is_segment_start: bool = False


class ExchangeCheckpoint(msgspec.Struct, kw_only=True):
    """A checkpoint of an open exchange: its state, including its body bytes so far.

    The exchange's journal frames before ``number`` need not be read again.
    """

    run: str
    exchange: bytes
    number: int
    state: bytes


class Running(msgspec.Struct, kw_only=True):
    """A running request, with its detail and body bytes so far.

    A value is `None` if it was not reported or must not be stored.
    """

    record: Record
    detail: Detail | None = None
    request: bytes | None = None
    response: bytes | None = None


class Batch(msgspec.Struct, kw_only=True):
    """The contents of one transaction. It is stored completely or not at all.

    - ``running``, unless `None`, replaces all running requests. Requests whose record is in ``entries`` are removed
      from the running requests in any case.
    - ``checkpoints`` replaces earlier checkpoints of the same exchanges. A checkpoint is deleted when its exchange is
      in ``entries``.
    - ``finished_runs`` deletes the positions and checkpoints of runs that have been read completely.
    - ``erase`` lists body bytes that must be unreadable within seconds after the commit. The store completes this
      even after a crash.
    - ``refused`` adds to the counts of requests that were not admitted, by code.
    """

    entries: list[Entry] = []
    positions: dict[str, RunPosition] = {}
    checkpoints: list[ExchangeCheckpoint] = []
    finished_runs: list[str] = []
    running: list[Running] | None = None
    gaps: list[Gap] = []
    refused: dict[str, int] = {}
    erase: list[BodyRef] = []


class Page(msgspec.Struct, kw_only=True):
    """A page of the log, newest first.

    ``complete`` is False if the deadline ended the search early. ``next_cursor`` is `None` if there are no older
    matches. ``newer_cursor`` is `None` for an empty page; callers then keep the previous cursor. If the deadline ended
    the search, the cursor for the direction of the search points to where it stopped, even if nothing was found. The
    ``next_cursor`` of a full page may lead to an empty page, because the store searches for one more match only for a
    limited time.
    """

    records: list[Record]
    next_cursor: Cursor | None
    newer_cursor: Cursor | None
    complete: bool = True


class StoredRecord(msgspec.Struct, kw_only=True):
    """A record with the data for the detail view.

    Sizes refer to the transferred bodies; `None` if the body is not stored. ``request`` and ``response`` are set if the
    bodies were read at no extra cost; otherwise they are `None` and ``Reader.body`` reads them.
    """

    record: Record
    detail: Detail
    request_size: int | None
    response_size: int | None
    request: bytes | None = None
    response: bytes | None = None


class Link(msgspec.Struct, kw_only=True):
    """The data of a finished request that identifies the requests it continues.

    ``chain`` is the encoded message chain; `None` if the request has no messages.
    """

    seq: int
    id: str
    started_at: int
    failed: bool
    completion_id: str | None
    chain: bytes | None


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """The number of matching requests.

    ``last_at`` is the start time of the latest match; `None` if there is none. ``complete`` is False if the deadline
    ended the count. The newest matches are counted first, and the true count may be higher.
    """

    requests: int = 0
    failed: int = 0
    last_at: int | None = None
    complete: bool = True


class FeedbackTotals(msgspec.Struct, frozen=True, kw_only=True):
    """Totals of the feedback on the matching requests.

    ``requests`` is the number of matching requests with feedback. ``scores`` is the number of their scores; a request
    can have scores from several sources. ``complete`` is False if the deadline ended the search. The newest matches are
    included first.
    """

    requests: int = 0
    scores: int = 0
    score_sum: float = 0.0
    complete: bool = True


class ValueCount(msgspec.Struct, kw_only=True):
    """A value of a field, and the number of records that have it."""

    value: str
    requests: int


class RecorderState(msgspec.Struct, frozen=True, kw_only=True):
    """One of the recorders that write to a shared store.

    ``server`` is the name of its machine. A recorder that is not live stopped responding within the last hour, without
    being stopped. ``lag_us`` is the age of the newest request that it stored last, or the time since it responded.
    """

    server: str
    is_live: bool
    lag_us: int


class StoreStatus(msgspec.Struct, kw_only=True):
    """Metrics of the store, cheap to read at any size.

    ``labels`` is the number of pinned ``namespaces``. ``oldest_at`` and ``oldest_content_at`` are close to the start
    times of the oldest request and of the oldest request with content; `None` if there is none.
    """

    records: int
    namespaces: int
    labels: int
    last_seq: int
    #: The number of requests that have feedback.
    feedback: int
    #: The ``seq`` up to which records are in the text index.
    indexed_to: int
    bytes_on_disk: int
    positions: dict[str, RunPosition]
    refused: dict[str, int]
    oldest_at: int | None = None
    oldest_content_at: int | None = None
    #: The last pass of retention that removed something.
    last_removal: Removal | None = None
    #: The recorders that share the store, by server. Empty for a store with one writer.
    recorders: list[RecorderState] = []


class Retained(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one call of ``Writer.retain``: requests removed, and others that lost their content.

    ``is_complete`` is True if nothing is left to remove.
    """

    removed: int = 0
    expired: int = 0
    is_complete: bool = True


class Writer(Protocol):
    """The interface through which the recorder writes to a store. Used by one thread of one process."""

    def commit(self, batch: Batch) -> None:
        """Store the batch in one transaction and assign each record its ``seq``.

        The first eight namespaces whose names do not look like ids are pinned as labels.

        The batch is durable on return, as configured: with ``process`` it survives a crash of any program, with
        ``power`` also a power failure. Idempotent by record id: an entry that is already stored is skipped and not
        counted again. Raises StoreUnavailable or BatchRejected; in both cases nothing was stored.
        """

    def write_body(self, data: bytes) -> BodyRef:
        """Write body bytes before their record exists.

        The bytes become part of the store when a commit contains the returned reference.
        """

    def read_body(self, ref: BodyRef) -> bytes:
        """Return the bytes that ``write_body`` wrote."""

    def positions(self) -> dict[str, RunPosition]:
        """Return the journal positions by run id; empty for a new store."""

    def checkpoints(self, run: str) -> list[ExchangeCheckpoint]:
        """Return the checkpoints of the open exchanges of one run."""

    def retain(self, cutoffs: Cutoffs, until_ns: int) -> Retained:
        """Remove requests that ended before the cutoffs, until ``until_ns`` (monotonic clock).

        Removed requests no longer appear in pages, counts, lists and threads; aggregates over time keep counting them.
        A request whose content expired has ``body_state`` "expired" if it had bodies, and no previews, error message,
        headers, message chain and searchable text. The space is freed by ``run_maintenance``. Call it again until
        ``is_complete``; after a crash it continues. Raises StoreUnavailable.
        """

    def delete(self, until_ns: int) -> int:
        """Carry out deletions until ``until_ns`` (monotonic clock). Returns the number of requests removed.

        Unlike ``retain``, it subtracts them from the aggregates over time as well, and a namespace without requests
        loses its label. A deletion survives a crash, and is "done" when no file contains bytes of the deleted
        requests. Raises StoreUnavailable.
        """

    def run_maintenance(self, until_ns: int) -> bool:
        """Do deferred maintenance until ``until_ns`` (monotonic clock).

        This includes erasing the bytes of removed requests and freeing their space. Readers see no change. Returns
        False if there was nothing to do.
        """

    def close(self) -> None: ...


class Reader(Protocol):
    """The interface through which the API and the command line query a store.

    Thread-safe. Each call sees one consistent snapshot. ``deadline_ns`` is the time on the monotonic clock at which a
    call stops. A page or a count is then returned as incomplete; other calls raise DeadlinePassed.
    """

    def page(self, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> Page:
        """Return a page of the log, newest first.

        Pagination is by key, so page 10,000 costs as much as page 1.
        """

    def around(self, record_id: str, filter_: Filter, limit: int, deadline_ns: int) -> Page | None:
        """Return a page with the record in the middle of its matching neighbors.

        `None` if the record does not exist. The page has at most ``limit // 2`` newer records, the record itself (even
        if it does not match), and older records.
        """

    def top(self, filter_: Filter, field: SortField, limit: int, deadline_ns: int) -> Page:
        """Return the matching finished requests with the highest values of a field.

        The highest value is first; among equal values, the newest request is first. Requests without a value are
        omitted. There is one page, without cursors. If the deadline ended the search, it has the highest values that
        were found until then.
        """

    def count(self, filter_: Filter, deadline_ns: int) -> Count:
        """Count the matching finished requests.

        Without a time range, the counts of the whole log and of namespaces are returned at once, because they are
        updated with every write.
        """

    def feedback_totals(self, filter_: Filter, deadline_ns: int) -> FeedbackTotals:
        """Return totals of the feedback on the matching finished requests."""

    def stats(self, question: StatsQuery, deadline_ns: int) -> Stats:
        """Return aggregates of finished requests over time.

        Raises DeadlinePassed; a result is never partial.
        """

    def running(self, filter_: Filter) -> list[Record]:
        """Return the matching running requests, latest started first.

        ``seq`` is `None`. This is cheap, because no bodies are read.
        """

    def open_request(self, record_id: str) -> Running | None:
        """Return a running request by record id, with its data so far.

        `None` if it is not running.
        """

    def get(self, record_id: str) -> StoredRecord | None:
        """Return a finished record by record id. `None` if it does not exist."""

    def entries(self, after: int, limit: int, max_bytes: int) -> list[Entry]:
        """Return finished requests recorded after ``after``, oldest first.

        Their bodies are in memory, and they have their message chains and feedback. A body larger than ``max_bytes`` is
        omitted. Fewer than ``limit`` entries are returned if together they exceed ``max_bytes``.
        """

    def links(self, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> list[Link]:
        """Return how requests continue earlier requests.

        Pagination works as in ``page``, newest first.
        """

    def find(self, foreign_id: str, limit: int) -> list[Record]:
        """Return records with this foreign id, newest first.

        A foreign id is a provider request id, a completion id or a client request id.
        """

    def body(self, record_id: str, side: Side) -> Iterator[bytes] | None:
        """Return the body bytes as transferred, in chunks.

        `None` if the body is not stored or has expired.
        """

    def namespaces(
        self, prefix: str, sort: NamespaceSort, limit: int, after: str | None, pinned: bool | None, deadline_ns: int
    ) -> tuple[list[NamespaceRow], str | None]:
        """Return a page of namespaces and the cursor of the next page.

        Namespaces are sorted in descending order, ties by name. A namespace without requests is included only while it
        is pinned. Raises BadFilter if ``after`` is not a valid cursor.
        """

    def values(self, field: str, prefix: str, limit: int, deadline_ns: int) -> list[ValueCount]:
        """Return the values of a field with their counts, most frequent first.

        The field is one of ``namespace model user key finish_reason label property property.<name>``; otherwise raises
        BadFilter.
        """

    def saved_filters(self) -> list[SavedFilter]:
        """Return all saved filters, by name."""

    def gaps(self, since_us: int) -> list[Gap]:
        """Return the gaps that end at or after ``since_us``, newest first."""

    def deletions(self, limit: int) -> list[Deletion]:
        """Return the latest deletions, newest first."""

    def last_seq(self) -> int:
        """Return the ``seq`` of the newest record, 0 for an empty log.

        Cheap enough to poll four times a second.
        """

    def since(self, seq: int, filter_: Filter, limit: int) -> tuple[list[Record], int]:
        """Return matching records after ``seq``, oldest first.

        The second value is the ``seq`` up to which the result is complete.
        """

    def stored_since(self, seq: int, filter_: Filter, limit: int) -> tuple[Iterator[StoredRecord], int]:
        """Return the same records as ``since``, with their data for the detail view.

        Details and bodies are read when the iterator reaches the record, so only those of one are in memory. If they
        cannot be read, the record is marked as expired.
        """

    def status(self) -> StoreStatus: ...

    def close(self) -> None: ...


def body_size(body: Body | None) -> int | None:
    """Return the size of a body in bytes, as transferred.

    `None` if the body is not stored.
    """
    if body is None:
        return None
    return sum(ref.size for ref in body.refs) + sum(map(len, body.rest))


def reject_unstorable(batch: Batch) -> None:
    """Raise BatchRejected for values that a database would reject.

    Such values are text that is not UTF-8 and integers over 64 bits.
    """
    try:
        msgspec.msgpack.encode(batch)
        numbers = (value for entry in batch.entries for value in msgspec.structs.astuple(entry.record))
        too_large = [value for value in numbers if isinstance(value, int) and not -(2**63) <= value < 2**63]
    except (ValueError, TypeError, OverflowError, msgspec.MsgspecError) as error:
        raise BatchRejected(f"A value cannot be stored: {error}.") from error
    if too_large:
        raise BatchRejected(f"{too_large[0]} does not fit in 64 bits.")


class Backup(msgspec.Struct, frozen=True, kw_only=True):
    """The size of a backup: its requests, the bytes of their bodies, and how many of these bytes were copied now."""

    records: int
    copied_bytes: int
    total_bytes: int


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """The result of reading every byte of a store: records, records with damaged data, and the first problems."""

    records: int
    damaged: int
    problems: list[str]


class TextIndex(Protocol):
    """The interface of the text index for its single writer.

    Methods raise the errors of ``log/store/errors.py``.
    """

    def indexed_to(self) -> int:
        """Return the newest ``seq`` that was processed, 0 if none."""

    def add(self, texts: Sequence[tuple[int, str]], up_to: int) -> None:
        """Add the text of records, and set ``indexed_to`` to ``up_to``.

        The records must be in ascending order of ``seq``. Either all texts are added or none.
        """

    def close(self) -> None: ...


class SetAside(Protocol):
    """A store that was moved aside because it is damaged."""

    @property
    def location(self) -> str:
        """The store's location, for messages."""

    def gap(self) -> Gap:
        """Return the gap that this store leaves in the log, as far as the store can be read."""

    def entries(self) -> Iterator[Entry | None]:
        """Yield the requests that can still be read, oldest first; `None` for each request that cannot be read.

        Details and bodies that cannot be read are omitted. Raises StoreDamaged if nothing can be read.
        """

    def mark_salvaged(self) -> str:
        """Rename the store, so that it is not listed again. Returns its new location."""


class Store(Protocol):
    """A store. Its parts can be opened in different processes. Nothing is opened or created before a part is opened."""

    def check(self) -> None:
        """Check the settings, before a server starts.

        Raises StoreTooNew, StoreMisconfigured, or another StoreUnavailable if the store cannot be checked now.
        """

    def exists(self) -> bool:
        """Return whether the store was created by a writer."""

    def open_writer(self, *, durability: Durability = "process", lock_wait_s: float = 5.0) -> Writer:
        """Create or open the store for the single writer.

        Raises StoreUnavailable if another writer does not release it within ``lock_wait_s``, StoreDamaged if it is
        not a store, StoreTooNew if a later version wrote it.
        """

    def open_reader(self) -> Reader:
        """Open a reader. The log is empty until a writer creates the store."""

    def open_text_index(self) -> TextIndex | None:
        """Open the text index for its single writer. `None` if the writer's commits index the text."""

    def open_deletions(self) -> Deletions:
        """Open the deletions to request one, alongside the writer."""

    def open_labels(self) -> Labels:
        """Open the labels for changes, alongside the writer."""

    def open_saved_filters(self) -> SavedFilters:
        """Open the saved filters for changes, alongside the writer."""

    def open_feedback(self) -> FeedbackLog:
        """Open the feedback for additions, alongside the writer."""

    def bytes_per_day(self) -> float | None:
        """Return the number of bytes written per day in the last week. `None` if less than 1 MiB was written."""

    def back_up(self, target: Path, on_progress: Callable[[int, int], object]) -> Backup:
        """Copy the store to a directory, while it is used. A later backup to the same directory copies only new bodies.

        ``on_progress`` is called with the bytes of bodies that are done, and with their total. Raises StoreUnavailable
        and StoreTooNew.
        """

    def verify(self, on_progress: Callable[[int, int], object]) -> Verification:
        """Read every stored byte. ``on_progress`` is called with the records that are done, and with their number.

        Raises StoreUnavailable and StoreDamaged.
        """

    def set_aside(self) -> str | None:
        """Move the damaged store aside, so that an empty one can replace it, and return its new location.

        `None` if there is no store. Raises OSError.
        """

    def list_set_aside(self) -> list[SetAside]:
        """Return the stores that were moved aside and not salvaged, oldest first."""
