"""Define the interface of a log store.

The recorder writes to a store, and the API and the command line query the store. The recorder process owns the
``Writer``. A ``Reader`` can be opened in any number of other processes at the same time. ``Store`` opens both. The
interfaces for changes by users are ``Labels`` in ``log/namespaces.py``, ``SavedFilters`` in ``log/saved_filters.py``,
``FeedbackLog`` in ``log/feedback.py``, ``Deletions`` in ``log/deletions.py`` and ``Rereads`` in ``log/rereads.py``.
Exceptions are in ``errors.py``. Implementations differ only in where they keep data. One conformance suite tests that
all of them behave the same.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final, Literal, Protocol, get_args, get_type_hints

import msgspec

from relaybook.ids import parse_id
from relaybook.log.aggregate.stats import Stats, StatsQuery
from relaybook.log.deletions import Deletion, Deletions
from relaybook.log.feedback import FeedbackLog
from relaybook.log.namespaces import Labels, NamespaceQuery, NamespaceRow
from relaybook.log.query.filters import Cursor, Filter, Sort
from relaybook.log.query.found_values import FoundValues
from relaybook.log.query.words import SearchText
from relaybook.log.record import Detail, Gap, Record, Side
from relaybook.log.rereads import Reread, Rereads
from relaybook.log.retention import Cutoffs, RequestTimes
from relaybook.log.saved_filters import SavedFilter, SavedFilters
from relaybook.log.store.entry import BodyRef, Entry
from relaybook.log.store.errors import BatchRejected
from relaybook.log.store.file_store import FileStore
from relaybook.log.store.status import RunPosition, StoreStatus

#: ``process`` means that a commit survives the crash of a process. ``power`` means that a commit also survives a power
#: failure.
Durability = Literal["process", "power"]

#: Reads the bodies of an entry again, and returns the entry with the new results. Its id, ``seq``, times, namespace,
#: bodies and detail are the same. `None` if the bodies cannot be read again.
ReadAgain = Callable[[Entry], Entry | None]

_encode_into: Final = msgspec.msgpack.Encoder().encode_into
#: Returns the integers of a record. Unknown ones are `None`.
_integers_of: Final[Callable[[Record], tuple[Any, ...]]] = attrgetter(
    *(name for name, hint in get_type_hints(Record).items() if int in (hint, *get_args(hint)))
)


class ExchangeCheckpoint(msgspec.Struct, kw_only=True):
    """The stored state of an open exchange, with references to the body bytes so far.

    After a restart, the recorder continues from this state. The exchange's journal frames with numbers up to ``number``
    need not be read again.
    """

    run: str
    exchange: bytes
    number: int
    state: bytes


class Running(msgspec.Struct, kw_only=True):
    """A running request, with its detail and body bytes so far.

    ``detail``, ``request`` and ``response`` are set only for the newest requests with small bodies (see the limits in
    ``recorder/running.py``). They are `None` for all other requests, and for a request whose bodies must not be
    stored.
    """

    record: Record
    detail: Detail | None = None
    request: bytes | None = None
    response: bytes | None = None


class Batch(msgspec.Struct, kw_only=True):
    """The contents of one transaction, which is stored completely or not at all.

    - ``running`` replaces all running requests, unless ``running`` is `None`. Requests whose record is in ``entries``
      are always removed from the running requests.
    - ``checkpoints`` replaces earlier checkpoints of the same exchanges. The checkpoint of an exchange is deleted if
      the exchange is in ``entries`` or in ``rejected``. ``rejected`` has the ids of requests that the store rejected.
      The recorder has written these requests to the directory ``quarantine``.
    - ``finished_runs`` lists runs of the journal that have been read completely. The positions and checkpoints of these
      runs are deleted.
    - ``erase`` lists body bytes that must be unreadable within seconds after the commit. The store completes the
      erasure even after a crash.
    - ``is_import`` means that a user adds the entries, for example from an exported file. Such entries are stored even
      if they were deleted earlier. Entries from a journal are not stored again after they were deleted.
    - ``refused`` has the number of requests that were not admitted, by error code. The store adds these numbers to its
      counts.
    """

    entries: list[Entry] = []
    positions: dict[str, RunPosition] = {}
    checkpoints: list[ExchangeCheckpoint] = []
    finished_runs: list[str] = []
    running: list[Running] | None = None
    gaps: list[Gap] = []
    refused: dict[str, int] = {}
    erase: list[BodyRef] = []
    rejected: list[str] = []
    is_import: bool = False


class Page(msgspec.Struct, kw_only=True):
    """A page of the log, newest first.

    ``complete`` is False if the deadline ended the search early. One cursor then points to the position where the
    search stopped, even if nothing was found. A search for older records sets ``next_cursor`` to this position. A
    search for newer records sets ``newer_cursor``.

    After a complete search, ``next_cursor`` is `None` if there are no older matches, and ``newer_cursor`` is `None` if
    the page is empty. If ``newer_cursor`` is `None`, callers keep the ``newer_cursor`` of the previous page. When a
    page is full, the store searches for one more match, to find out whether there is a next page. A store may limit the
    time of this search. If the time ends before a match is found, ``next_cursor`` is set, and the next page may be
    empty.
    """

    records: list[Record]
    next_cursor: Cursor | None
    newer_cursor: Cursor | None
    complete: bool = True


class StoredRecord(msgspec.Struct, kw_only=True):
    """A record with the data for the detail view.

    The sizes are the numbers of transferred bytes. A size is `None` if the body is not stored. ``request`` and
    ``response`` are set if the store had already read the bodies with the detail. Otherwise both are `None`, and
    ``Reader.body`` reads the bodies. ``detail`` is `None` if it is not stored, for example because the content of the
    request has expired. If the detail and the bodies cannot be read, ``damage`` says why, and the detail is `None`.
    """

    record: Record
    detail: Detail | None
    request_size: int | None
    response_size: int | None
    request: bytes | None = None
    response: bytes | None = None
    damage: str | None = None


class Link(msgspec.Struct, kw_only=True):
    """The data that shows which earlier requests a finished request continues.

    ``chain`` is the encoded message chain, or `None` if the request has no messages.
    """

    seq: int
    id: str
    started_at: int
    failed: bool
    completion_id: str | None
    session: str | None
    chain: bytes | None
    model: str | None


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """The number of matching requests.

    ``last_at`` is the latest start time of a match, or `None` if there is no match. ``complete`` is False if the
    deadline ended the count. In this case, only the newest matches were counted, and the true count may be higher.
    """

    requests: int = 0
    failed: int = 0
    last_at: int | None = None
    complete: bool = True


class FeedbackTotals(msgspec.Struct, frozen=True, kw_only=True):
    """Totals of the feedback on the matching requests.

    ``requests`` is the number of matching requests with feedback. ``scores`` is the number of scores on these requests.
    A request can have scores from several sources. ``complete`` is False if the deadline ended the search. The search
    starts with the newest matches, so older matches may then be missing from the totals.
    """

    requests: int = 0
    scores: int = 0
    score_sum: float = 0.0
    complete: bool = True


class ValueCount(msgspec.Struct, kw_only=True):
    """A value of a field, and the number of records that have this value."""

    value: str
    requests: int


class Retained(msgspec.Struct, frozen=True, kw_only=True):
    """How many requests a ``Writer.retain`` call removed, and how many other requests lost their content.

    ``is_complete`` is True if nothing is left to remove.
    """

    removed: int = 0
    expired: int = 0
    is_complete: bool = True


class Writer(Protocol):
    """The interface through which the recorder writes to a store. Only one thread of one process uses a writer."""

    #: Minimum time between two commits, unless a batch is full. The time is longer for stores in which small commits
    #: are expensive.
    commit_interval_ns: int

    def commit(self, batch: Batch) -> None:
        """Store the batch in one transaction and assign each record its ``seq``.

        The first eight namespaces of the log whose names do not look like ids are pinned.

        The batch is durable when the method returns. With the durability ``process``, the batch survives a crash of any
        program. With ``power``, the batch also survives a power failure. An entry whose record id is already stored is
        skipped and not counted again. Raises SyncFailed if the data cannot be synced. Also raises BatchRejected and
        StoreUnavailable. After BatchRejected, nothing is stored. After StoreUnavailable, a shared store may have some
        of the requests, so call the method again with the same batch.
        """

    def write_body(self, data: bytes) -> BodyRef:
        """Write body bytes before their record exists.

        The bytes become part of the store when a commit contains the returned reference.
        """

    def read_body(self, ref: BodyRef) -> bytes:
        """Return the bytes that ``write_body`` wrote."""

    def positions(self) -> dict[str, RunPosition]:
        """Return the journal positions by run id. The result is empty for a new store."""

    def checkpoints(self, run: str) -> list[ExchangeCheckpoint]:
        """Return the checkpoints of the open exchanges of one run."""

    def verify_newest(self) -> None:
        """Check that the newest requests can be read from the disk. Data in the writer's memory is not used.

        The recorder deletes the journal segments with these requests only if this check succeeds. Bodies are not read.
        Raises StoreDamaged and StoreUnavailable.
        """

    def retain(self, cutoffs: Cutoffs, until_ns: int) -> Retained:
        """Remove requests and content according to the cutoffs. Stop at ``until_ns`` (monotonic clock).

        A request that ended before the request cutoff is removed. It no longer appears in pages, counts, lists and
        threads, but is still included in aggregates over time. Any other request that ended before the content cutoff
        loses its content. If its bodies were stored, its ``body_state`` becomes "expired". ``run_maintenance`` frees
        the space. Call ``retain`` again until ``is_complete`` is True. After a crash, the next call continues the
        removal. Raises StoreUnavailable.
        """

    def delete(self, until_ns: int) -> int:
        """Carry out deletions until ``until_ns`` (monotonic clock). Returns the number of requests removed.

        Unlike ``retain``, this method also subtracts the requests from the aggregates over time, and unpins a namespace
        that has no requests left. A deletion continues after a crash. A deletion is "done" when no file contains bytes
        of the deleted requests. Raises StoreUnavailable.
        """

    def reread(self, read_again: ReadAgain, until_ns: int) -> bool:
        """Carry out rereads until ``until_ns`` (monotonic clock). Return False if there was nothing to do.

        Each request keeps its ``seq``, bodies, detail and feedback. All other data of the request is replaced in one
        transaction: the record, the message chain, and the request's share of all counters and aggregates. A store may
        replace the text later, but before a deletion by text, and also after a crash. Requests for which ``read_again``
        returns `None`, and requests without content, do not change. Each request is replaced once. A reread continues
        after a crash. Raises StoreUnavailable.
        """

    def run_maintenance(self, until_ns: int) -> bool:
        """Do deferred maintenance until ``until_ns`` (monotonic clock).

        Maintenance includes erasing the bytes of removed requests and freeing their space. Readers see no change.
        Returns False if there was nothing to do. Raises StoreUnavailable.
        """

    def close(self) -> None: ...


class Reader(Protocol):
    """The interface through which the API and the command line query a store.

    A reader is thread-safe. Each call sees one consistent snapshot. ``deadline_ns`` is the time on the monotonic clock
    at which a call stops. At the deadline, a page, a count or feedback totals are returned as incomplete. The list
    that ``links`` returns may also be incomplete. Other calls raise DeadlinePassed.
    """

    def page(self, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> Page:
        """Return a page of the log, newest first.

        A cursor has the ``seq`` of a record. So the search for page 10,000 does not read earlier pages.
        """

    def around(self, record_id: str, filter_: Filter, limit: int, deadline_ns: int) -> Page | None:
        """Return a page with the record in the middle of its matching neighbors.

        The page has at most ``limit`` records: at most ``limit // 2`` newer records, the record itself (even if it does
        not match), and older records. `None` if the record does not exist.
        """

    def top(self, filter_: Filter, sort: Sort, limit: int, deadline_ns: int) -> Page:
        """Return the matching finished requests with the highest or lowest values of a number.

        The highest value is first, or the lowest if the sort is ascending. Among equal values, the newest request is
        first. Requests without a value are omitted. There is only one page, without cursors. If the deadline ended the
        search, the page has the best values that were found by then.
        """

    def count(self, filter_: Filter, deadline_ns: int) -> Count:
        """Count the matching finished requests.

        Without a time range, the counts of the whole log and of namespaces are available immediately, because every
        write updates these counts.
        """

    def feedback_totals(self, filter_: Filter, deadline_ns: int) -> FeedbackTotals:
        """Return totals of the feedback on the matching finished requests."""

    def stats(self, question: StatsQuery, deadline_ns: int) -> Stats:
        """Return aggregates of finished requests over time.

        Raises DeadlinePassed. A result is never partial.
        """

    def running(self, filter_: Filter) -> list[Record]:
        """Return the matching running requests, in descending order of start time.

        The records have no ``seq``. The call is cheap, because no bodies are read.
        """

    def open_request(self, record_id: str) -> Running | None:
        """Return a running request by record id, with its data so far.

        `None` if the request is not running.
        """

    def get(self, record_id: str) -> StoredRecord | None:
        """Return a finished record by record id, or `None` if the record does not exist."""

    def entries(self, after: int, limit: int, max_bytes: int) -> list[Entry]:
        """Return finished requests whose ``seq`` is above ``after``, oldest first.

        The entries have their message chains and feedback, and their bodies are in memory. A body larger than
        ``max_bytes`` is omitted. If the bodies of ``limit`` entries together exceed ``max_bytes``, fewer entries are
        returned, but at least one.
        """

    def links(self, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> list[Link]:
        """Return a ``Link`` for each matching finished request, newest first. Pagination works as in ``page``."""

    def find(self, foreign_id: str, limit: int) -> list[Record]:
        """Return records with this foreign id, newest first.

        A foreign id is a provider request id, a completion id or a client request id.
        """

    def body(self, record_id: str, side: Side) -> Iterator[bytes] | None:
        """Return the body bytes as transferred, in chunks.

        `None` if the body is not stored or has expired.
        """

    def namespaces(
        self, query: NamespaceQuery, limit: int, after: str | None, deadline_ns: int
    ) -> tuple[list[NamespaceRow], str | None]:
        """Return a page of namespaces, and the cursor of the next page.

        Namespaces are sorted by ``query.sort`` in descending order, and by name if these values are equal. A namespace
        without requests is included only while it is pinned. Raises BadFilter if ``after`` is not a valid cursor.
        """

    def request_times(self, patterns: Collection[str], deadline_ns: int) -> RequestTimes:
        """Return the start times of the first and of the last request, by pattern of namespaces.

        Each namespace belongs to one pattern, or to `None` if no pattern matches.
        """

    def values(self, field: str, prefix: str, limit: int, deadline_ns: int) -> list[ValueCount]:
        """Return the values of a field with their counts, most frequent first.

        Raises BadFilter if the field is not one of ``namespace model user session key finish_reason label property
        property.<name>``.
        """

    def find_values(self, text: str, limit: int, deadline_ns: int) -> FoundValues:
        """Return values of all listed fields and properties that contain the text, best match first.

        Values that are equal to the text, or begin with it, are found first. Then the search goes on until the
        deadline. See ``found_values.best`` for the order.
        """

    def saved_filters(self) -> list[SavedFilter]:
        """Return all saved filters, sorted by name."""

    def gaps(self, since_us: int) -> list[Gap]:
        """Return the gaps that end at or after ``since_us``, newest first."""

    def deletions(self, limit: int) -> list[Deletion]:
        """Return the latest deletions, newest first."""

    def rereads(self, limit: int) -> list[Reread]:
        """Return the latest rereads, newest first."""

    def last_seq(self) -> int:
        """Return the ``seq`` of the newest record, or 0 if the log is empty.

        A shared store returns the ``seq`` up to which the log is complete. The call is cheap enough to be repeated four
        times a second.
        """

    def since(self, seq: int, filter_: Filter, limit: int) -> tuple[list[Record], int]:
        """Return matching records after ``seq``, oldest first.

        The second value is the ``seq`` up to which the result is complete.
        """

    def stored_since(self, seq: int, filter_: Filter, limit: int) -> tuple[Iterator[StoredRecord], int]:
        """Return the same records as ``since``, with their data for the detail view.

        The detail and bodies of a record are read when the iterator reaches the record, or at most a second earlier, so
        only the data of a few records is in memory. If the data was erased by then, because the record was deleted, the
        record is omitted. If the data cannot be read for another reason, the record is marked as expired.
        """

    def status(self) -> StoreStatus: ...

    def close(self) -> None: ...


def reject_unstorable(batch: Batch) -> None:
    """Raise BatchRejected if the batch has text that is not UTF-8, integers over 64 bits, or wrong ids.

    A database would reject such values.
    """
    buffer = bytearray()
    try:
        for entry in batch.entries:  # one by one into the same buffer, because a whole batch can have many megabytes
            _encode_into(entry, buffer)
        _encode_into(msgspec.structs.replace(batch, entries=[]), buffer)
        numbers = (value for entry in batch.entries for value in _integers_of(entry.record) if value is not None)
        too_large = [value for value in numbers if not -(2**63) <= value < 2**63]
    except (ValueError, TypeError, OverflowError, msgspec.MsgspecError) as error:
        raise BatchRejected(f"A value cannot be stored: {error}.") from error
    if too_large:
        raise BatchRejected(f"{too_large[0]} does not fit in 64 bits.")
    wrong_ids = [entry.record.id for entry in batch.entries if parse_id(entry.record.id) is None]
    if wrong_ids:
        raise BatchRejected(f"{wrong_ids[0]!r} is not an id.")


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """The result of verifying a store.

    ``records`` is the number of records, and ``damaged`` is the number of damaged records. ``problems`` describes
    problems in the order in which they were found. A store may report only the first ten problems.
    """

    records: int
    damaged: int
    problems: list[str]


class TextIndex(Protocol):
    """The interface of the text index for its single writer.

    Methods raise the errors of ``log/store/errors.py``.
    """

    def indexed_to(self) -> int:
        """Return the ``seq`` up to which records are in the index, or 0 if the index is empty."""

    def add(self, texts: Sequence[tuple[int, SearchText]], up_to: int) -> None:
        """Add the text of records, and set ``indexed_to`` to ``up_to``.

        The records must be in ascending order of ``seq``. If the call fails, no text is added.
        """

    def close(self) -> None: ...


class Store(Protocol):
    """A store. Its parts, such as the writer and readers, can be opened in different processes.

    Files are opened or created only when a part is opened. ``files`` does what only a store in files can do. It is
    `None` for a database.
    """

    files: FileStore | None

    def check(self) -> None:
        """Check the settings, before a server starts.

        Raises UnsupportedSchema or StoreMisconfigured if the server cannot use the store with these settings. Raises
        StoreUnavailable if the store cannot be checked now.
        """

    def exists(self) -> bool:
        """Return whether the store was created by a writer."""

    def open_writer(self, *, durability: Durability = "process", lock_wait_s: float = 5.0) -> Writer:
        """Create or open the store for the single writer.

        Raises StoreUnavailable if another writer does not release the store within ``lock_wait_s``, StoreDamaged if the
        files are not a store, and UnsupportedSchema if a version with another schema wrote the store.
        """

    def open_reader(self) -> Reader:
        """Open a reader. The log is empty until a writer creates the store."""

    def open_text_index(self) -> TextIndex | None:
        """Open the text index for its single writer. `None` if the writer indexes the text in each commit."""

    def open_deletions(self) -> Deletions:
        """Open the interface for requesting deletions while a writer may be running."""

    def open_rereads(self) -> Rereads:
        """Open the interface for requesting rereads while a writer may be running."""

    def open_labels(self) -> Labels:
        """Open the interface for changing labels while a writer may be running."""

    def open_saved_filters(self) -> SavedFilters:
        """Open the interface for changing saved filters while a writer may be running."""

    def open_feedback(self) -> FeedbackLog:
        """Open the interface for adding feedback while a writer may be running."""

    def forget_server(self, server: str) -> None:
        """Forget a server whose data directory is lost, so that deletions no longer wait for its journal.

        ``server`` is the server's name in the status. Raises StoreUnavailable if the log has no lost server with this
        name.
        """

    def verify(self, on_progress: Callable[[int, int], object]) -> Verification:
        """Read and check every stored byte.

        ``on_progress`` is called with the number of records checked so far and the total. Raises StoreUnavailable and
        StoreDamaged.
        """
