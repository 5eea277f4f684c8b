"""Define the metrics of a store, and how far the journal has been read."""

import msgspec

from relaybook.log.retention import Removal


class RunPosition(msgspec.Struct, frozen=True, kw_only=True):
    """How far one run of the journal has been read.

    ``read_to`` and ``replay_from`` each consist of segment, offset and frame number. All frames before ``read_to`` were
    read. ``replay_from`` is the first frame of the oldest exchange that has neither a record nor a checkpoint. After a
    restart, the recorder reads from ``replay_from`` and skips exchanges that ended before ``read_to``. If
    ``is_segment_start`` is True, no frame in the segment of ``read_to`` was read yet.
    """

    read_to: tuple[int, int, int]
    replay_from: tuple[int, int, int]
    is_segment_start: bool = False


class RecorderState(msgspec.Struct, frozen=True, kw_only=True):
    """One of the recorders that write to a shared store.

    ``server`` names the recorder's machine and data directory. A recorder is live if it wrote to the store in the last
    30 seconds. Recorders that were closed, or that wrote nothing in the last hour, are not listed. ``lag_us`` is the
    age of the recorder's newest data in the store. If the recorder's last write stored requests, the age is the time
    since the last of these requests ended. Otherwise, the age is the time since that write.
    """

    server: str
    is_live: bool
    lag_us: int


class StoreStatus(msgspec.Struct, kw_only=True):
    """Metrics of the store, which are cheap to read even if the store is large.

    ``labels`` is the number of pinned namespaces. ``oldest_at`` is close to the start time of the oldest request.
    ``oldest_content_at`` is close to the start time of the oldest request with content. A time is `None` if there is no
    such request.
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
    #: The last retention pass that removed something.
    last_removal: Removal | None = None
    #: The recorders that share the store, sorted by server. Empty for a store with one writer.
    recorders: list[RecorderState] = []
