"""Define the models of the responses about the log as a whole: its status and its retention.

The conventions of ``schemas`` also apply to these models.
"""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from relaybook.log.ask.deletions import DeletionRow
from relaybook.log.ask.fields import TimestampText
from relaybook.log.retention import RemovalReason


class LogGap(Struct, kw_only=True):
    """A time range in which requests were refused or not logged, or in which records were lost."""

    from_at: TimestampText
    to_at: TimestampText
    count: int
    reason: Literal["log_unavailable", "forwarded_unlogged", "damaged", "store_set_aside"]


class JournalStatus(Struct, kw_only=True):
    """How much of the journal is not recorded yet. A field is `null` if its value is unknown."""

    lag_bytes: int | None
    lag_seconds: float | None


class RecorderStatus(Struct, kw_only=True):
    """One of the servers that share the log."""

    server: Annotated[
        str, Meta(description="Machine name and data directory of the server, such as `host1:/var/lib/relaybook`.")
    ]
    state: Annotated[
        Literal["live", "lost"],
        Meta(
            description="`lost`: the server was not stopped, but has not reported to the log for 30 seconds. "
            "A server stays in the list until an hour after its last report."
        ),
    ]
    lag_seconds: Annotated[
        float,
        Meta(
            description="Age of the server's newest data in the log, in seconds. If the server's last write stored "
            "requests, the age is the time since the last of these requests ended. Otherwise, it is the time since the "
            "write."
        ),
    ]


class StorageStatus(Struct, kw_only=True):
    """The location of the log and the state of its disk. A field is `null` if its value is unknown."""

    data_path: str | None
    store_bytes: int
    disk_free_bytes: int | None
    days_left: Annotated[float | None, Meta(description="Days until the disk is full, at the rate of the last week.")]


class RemovalRow(Struct, kw_only=True):
    """One removal of data because of its age or the disk budget."""

    at: TimestampText
    reason: Annotated[
        RemovalReason, Meta(description="`age`: the data was too old. `disk_budget`: the log took too much disk space.")
    ]
    requests: Annotated[int, Meta(description="Number of requests that were removed.")]
    contents: Annotated[int, Meta(description="Number of requests that lost only their content.")]


class RetentionClock(Struct, kw_only=True):
    """One kind of data and how long this data is kept."""

    days: Annotated[
        int,
        Meta(description="Number of days after which the data is removed, as in the settings. 0 means no age limit."),
    ]
    oldest_day: Annotated[
        str | None,
        Meta(
            description="The oldest day (UTC) for which the log still has data of this kind. `null` if the log has no "
            "such data, or if the day is unknown.",
            extra_json_schema={"format": "date"},
        ),
    ]
    next_removal: Annotated[
        str | None,
        Meta(
            description="The day (UTC) on which the next data becomes old enough to be removed, by the rules for "
            "namespaces, too. Today means that data is being removed. `null` if no rule removes any of the data, or if "
            "the day is unknown.",
            extra_json_schema={"format": "date"},
        ),
    ]


class RetentionStatus(Struct, kw_only=True):
    """How long data is kept, and the disk budget.

    Namespaces can have their own periods: see `namespaces` in the field `settings` of the status.
    """

    bodies: Annotated[
        RetentionClock,
        Meta(description="The content of requests: bodies, headers, previews, error messages, searchable text."),
    ]
    requests: RetentionClock
    aggregates: Annotated[RetentionClock, Meta(description="Aggregates over time.")]
    disk_budget_bytes: Annotated[
        int | None,
        Meta(
            description="Disk space that the journal and the store may take up. If the setting `disk_budget` is "
            "`auto`, the limit depends on the free space. `null` if there is no limit or if the limit is unknown."
        ),
    ]
    disk_used_bytes: Annotated[
        int | None,
        Meta(description="Disk space that the journal and the store take up in the data directory. `null` if unknown."),
    ]
    last_removal: Annotated[
        RemovalRow | None,
        Meta(description="The last removal of data because of its age or the disk budget. `null` if there was none."),
    ]


class RouteRow(Struct, kw_only=True):
    """A route: a base URL of the relay, and the upstream that it stands for."""

    name: str
    base_url: Annotated[str, Meta(description="Base URL for clients.")]
    upstream: Annotated[str, Meta(description="Base URL of the upstream.")]
    preset: Annotated[str | None, Meta(description="Name of the preset. `null` if the route has none.")]
    variable: Annotated[
        str | None,
        Meta(description="Environment variable from which the clients of the preset read the base URL."),
    ]


class Status(Struct, kw_only=True):
    """The state of Relaybook."""

    version: str
    program: Annotated[
        Literal["compiled", "plain"],
        Meta(description="`compiled` if the code that relays requests is compiled, `plain` if it is plain Python."),
    ]
    relay_base_url: str
    routes: Annotated[
        list[RouteRow], Meta(description="All routes. The first is that of the setting `upstream`, named `default`.")
    ]
    dashboard_url: str | None
    page_build: Annotated[str | None, Meta(description="Build id of the page. `null` if the page was not built.")]
    signed_in: Annotated[
        bool,
        Meta(
            description="`true` if this request has access because of its session cookie, which `POST /api/session` "
            "sets. `false` if the dashboard has no token, or if the request sends the token in `Authorization`."
        ),
    ]
    sample_data: Annotated[bool, Meta(description="Whether `relaybook demo` writes sample data to this log.")]
    records: int
    namespaces: Annotated[int, Meta(description="Number of namespaces, including pinned namespaces.")]
    labels: Annotated[int, Meta(description="Number of pinned namespaces.")]
    last_seq: int
    feedback: Annotated[int, Meta(description="Number of requests that have feedback.")]
    indexed_to: Annotated[int, Meta(description="`seq` of the newest record that full-text search can find.")]
    running: int
    refused: Annotated[
        dict[str, int], Meta(description="Number of requests that were refused without a record, by error code.")
    ]
    frames_lost: int
    journal: JournalStatus
    recorders: Annotated[
        list[RecorderStatus],
        Meta(description="The servers that share the log, sorted by name. Empty if the log is in the data directory."),
    ]
    storage: StorageStatus
    retention: RetentionStatus
    deletions: Annotated[list[DeletionRow], Meta(description="The latest 10 deletions, newest first.")]
    gaps: Annotated[list[LogGap], Meta(description="The latest 100 gaps.")]
    gap_count: int
    settings: Annotated[dict[str, Any], Meta(description="Effective settings, without secrets.")]


class Health(Struct, kw_only=True):
    """The health of the dashboard."""

    status: Literal["ok", "ready"]
