"""The port: what the recorder writes to a store and what readers ask of one.

Two faces. A ``Writer`` belongs to the one recorder process; a ``Reader`` may be opened in any number of processes
beside it. A third, ``Labels``, is in ``log/namespaces.py``; what goes wrong is in ``errors.py``. Implementations
differ in where things lie, never in meaning: one conformance suite runs on all of them.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, Protocol

import msgspec

from relaybook.log.aggregate.stats import Question, Stats
from relaybook.log.query.filters import Cursor, Filter
from relaybook.log.record import Detail, Gap, Record, Side


class Extent(msgspec.Struct, frozen=True, array_like=True):
    """Where a compressed run of body bytes lies. Only the store that made one can read it."""

    pack: int
    offset: int
    length: int
    raw_length: int


class Body(msgspec.Struct, array_like=True):
    """Bytes as they crossed: extents set aside earlier, then the rest, in order."""

    extents: list[Extent] = []
    rest: list[bytes] = []


class Entry(msgspec.Struct, kw_only=True):
    """One finished request on its way into the store. ``record.seq`` is given by the store.

    Bodies are None when they must not be kept; ``record.body_state`` says so too.
    """

    record: Record
    detail: Detail
    request: Body | None
    response: Body | None
    #: What tells which other requests it goes on from (``bodies.turns``); opaque to the store.
    turn: bytes | None = None


class RunPosition(msgspec.Struct, frozen=True, kw_only=True):
    """How far one run of the journal was read, as (segment, offset, frame number).

    All before ``read_to`` is folded; ``replay_from`` is the first frame of the oldest exchange neither recorded nor
    moved. A restart folds from ``replay_from`` and skips what ended before ``read_to``.
    """

    read_to: tuple[int, int, int]
    replay_from: tuple[int, int, int]


class Moved(msgspec.Struct, kw_only=True):
    """An open exchange whose frames before ``number`` need no longer be read: its state, and its body bytes so far."""

    run: str
    exchange: bytes
    number: int
    state: bytes


class Running(msgspec.Struct, kw_only=True):
    """A request that is still open. Detail and body bytes are those so far; None: not told, or not to be kept."""

    record: Record
    detail: Detail | None = None
    request: bytes | None = None
    response: bytes | None = None


class Batch(msgspec.Struct, kw_only=True):
    """What one transaction stores, all of it or nothing.

    ``running`` replaces all running requests of this node when it is not None; one whose record is among ``entries``
    leaves them in any case. ``moved`` replaces earlier states of the same exchange; a state is dropped when its
    exchange is among ``entries``. ``runs_over`` forgets positions and states of runs read to their end. ``erase`` names
    extents whose bytes must be unreadable within seconds after the commit (the store finishes that even after a crash).
    ``refused`` adds to the counts of requests that were not admitted, by code.
    """

    entries: list[Entry] = []
    positions: dict[str, RunPosition] = {}
    moved: list[Moved] = []
    runs_over: list[str] = []
    running: list[Running] | None = None
    gaps: list[Gap] = []
    refused: dict[str, int] = {}
    erase: list[Extent] = []


class Page(msgspec.Struct, kw_only=True):
    """A page of the log, latest recorded first. ``complete`` is False when the deadline ended the search early.

    ``next_cursor`` is None when nothing older is left. ``newer_cursor`` is None for an empty page: keep the one at
    hand. A page that the deadline ended has the cursor of its direction set to the place the search reached, also when
    nothing was found. A full page may have a ``next_cursor`` that leads to an empty one, when looking for one more
    record would have taken long.
    """

    records: list[Record]
    next_cursor: Cursor | None
    newer_cursor: Cursor | None
    complete: bool = True


class Stored(msgspec.Struct, kw_only=True):
    """One record with what the detail view needs. Body sizes are as they crossed; None: not stored.

    The bodies themselves are here where they came with the rest at no cost; else None, and ``Reader.body`` reads them.
    """

    record: Record
    detail: Detail
    request_size: int | None
    response_size: int | None
    request: bytes | None = None
    response: bytes | None = None


class Step(msgspec.Struct, kw_only=True):
    """What of a finished request tells which others it goes on from. ``turn`` None: it has no messages."""

    seq: int
    id: str
    started_at: int
    failed: bool
    completion_id: str | None
    turn: bytes | None


class NamespaceRow(msgspec.Struct, kw_only=True):
    """A namespace with its counters, kept at write time. ``color``, ``group`` and ``position`` are those of a label.

    ``cost_usd`` adds up the costs that are known; None: none is. In an order it then stands where 0 would.
    ``first_at`` and ``last_at`` are when its first and last request started; 0 while it has none.
    """

    namespace: str
    requests: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    first_at: int
    last_at: int
    pinned: bool = False
    color: int | None = None
    group: str | None = None
    position: int | None = None


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """What a filter selects, added up. ``last_at`` is when the latest started, None when there is none.

    ``complete`` is False when the deadline ended the counting: there are at least so many, and they are the newest.
    """

    requests: int = 0
    failed: int = 0
    last_at: int | None = None
    complete: bool = True


NamespaceSort = Literal["last_at", "requests", "failed", "cost_usd"]


class ValueCount(msgspec.Struct, kw_only=True):
    """A value a field has in the log, and on how many records."""

    value: str
    requests: int


class StoreStatus(msgspec.Struct, kw_only=True):
    """Figures of the store itself, cheap at any size. ``labels`` are the pinned ones among the ``namespaces``."""

    records: int
    namespaces: int
    labels: int
    last_seq: int
    #: The newest record whose words can be found.
    indexed_to: int
    bytes_on_disk: int
    positions: dict[str, RunPosition]
    refused: dict[str, int]


class Writer(Protocol):
    """The recorder's face of a store. One process, one thread."""

    def commit(self, batch: Batch) -> None:
        """Stores the batch in one transaction and gives each record its ``seq``.

        The first namespaces whose names do not look like ids become labels in it (``label_rules``), eight in all.

        Durable when it returns as far as the store's durability goes (``process``: survives a crash of any program;
        ``power``: a power cut). Idempotent by record id: an entry stored before is skipped and not counted again.
        Raises StoreUnavailable or BatchRejected; then nothing was stored.
        """

    def set_aside(self, data: bytes) -> Extent:
        """Writes body bytes ahead of their record. They count only once a later commit refers to their extent."""

    def read_back(self, extent: Extent) -> bytes:
        """The bytes of an extent that ``set_aside`` made."""

    def positions(self) -> dict[str, RunPosition]:
        """By run id; empty for a new store."""

    def moved(self, run: str) -> list[Moved]:
        """States of open exchanges moved aside earlier, of one run."""

    def tidy(self, until_ns: int) -> bool:
        """Does work that can wait, until a moment; readers see no change. False: none is left."""

    def close(self) -> None: ...


class Reader(Protocol):
    """What the API and the command line ask. Any thread; each call sees one consistent state.

    ``deadline_ns`` is a moment of the monotonic clock after which the call stops (a page and a count come back
    incomplete, other calls raise DeadlinePassed).
    """

    def page(self, wanted: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> Page:
        """One page by key: page 10,000 costs what page 1 costs."""

    def around(self, record_id: str, wanted: Filter, limit: int, deadline_ns: int) -> Page | None:
        """A page with the record in its middle, its neighbours being those of the filter. None: no such record.

        At most ``limit // 2`` newer ones, the record itself (whether or not the filter wants it), and older ones.
        """

    def count(self, wanted: Filter, deadline_ns: int) -> Count:
        """How many finished requests the filter selects; at once for the whole log and for namespaces of all time."""

    def stats(self, question: Question, deadline_ns: int) -> Stats:
        """Finished requests added up over time. Raises DeadlinePassed; a span too long to add up is never cut."""

    def running(self, wanted: Filter) -> list[Record]:
        """Requests still open, latest started first; ``seq`` is None. Cheap: reads no body."""

    def open_request(self, record_id: str) -> Running | None:
        """One request still open, by our id, with what there is of it so far. None: it is not open (any more)."""

    def get(self, record_id: str) -> Stored | None:
        """A finished record by our id."""

    def entries(self, after: int, limit: int, most_bytes: int) -> list[Entry]:
        """Finished requests recorded after ``after``, oldest first, with their bodies in memory.

        A body of more than ``most_bytes`` is left out; there are fewer than ``limit`` when all have more together.
        """

    def steps(self, wanted: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> list[Step]:
        """Like ``page``, but only what tells which requests go on from which; the latest recorded first."""

    def find(self, foreign_id: str, limit: int) -> list[Record]:
        """Records that carry the text as the provider's, completion's or client's id, latest recorded first."""

    def body(self, record_id: str, side: Side) -> Iterator[bytes] | None:
        """The bytes that crossed, in pieces. None: not stored (any more)."""

    def namespaces(
        self, prefix: str, sort: NamespaceSort, limit: int, after: str | None, pinned: bool | None, deadline_ns: int
    ) -> tuple[list[NamespaceRow], str | None]:
        """Namespaces by the sort, largest first (ties by name), and the cursor of the next page.

        One without a request is there while it is pinned. Raises BadFilter for an ``after`` that is not such a cursor.
        """

    def values(self, field: str, prefix: str, limit: int, deadline_ns: int) -> list[ValueCount]:
        """Of ``namespace model user key finish_reason property property.<name>``, or BadFilter. Most frequent first."""

    def gaps(self, since_us: int) -> list[Gap]:
        """Spans in which something is missing, latest first."""

    def last_seq(self) -> int:
        """The newest record's number, 0 for an empty log. Cheap enough to ask four times a second."""

    def since(self, seq: int, wanted: Filter, limit: int) -> tuple[list[Record], int]:
        """Records recorded after ``seq``, oldest first, and the seq up to which nothing was left out."""

    def status(self) -> StoreStatus: ...

    def close(self) -> None: ...


def body_size(body: Body | None) -> int | None:
    """How many bytes crossed."""
    if body is None:
        return None
    return sum(extent.raw_length for extent in body.extents) + sum(map(len, body.rest))


class TextIndex(Protocol):
    """The one writer's face. What it raises are the errors of ``log/store/errors.py``."""

    def indexed_to(self) -> int:
        """The newest ``seq`` that was looked at; 0: none."""

    def add(self, texts: Sequence[tuple[int, str]], up_to: int) -> None:
        """Adds what records say, by ``seq``, rising; all up to ``up_to`` have been looked at then. All or nothing."""

    def close(self) -> None: ...
