"""The models of the API's responses: handlers build them, the OpenAPI document describes them.

Every field is always present unless its description says otherwise. Timestamps are RFC 3339 in UTC with microseconds.
New fields may be added at any time.
"""

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from relaybook.api.fields import MomentText, row_fields
from relaybook.api.sums_answers import StatsAnswer
from relaybook.api.thread_answers import Thread
from relaybook.stores.labels import LabelChange

if TYPE_CHECKING:
    #: A record as ``records.to_json`` writes it.
    Row: TypeAlias = dict[str, Any]
else:
    Row = msgspec.defstruct("Row", row_fields(), kw_only=True, namespace={"__doc__": "A logged request."})


class RequestPage(Struct, kw_only=True):
    """A page of the log, newest first."""

    data: list[Row]
    running: (
        Annotated[list[Row], Meta(description="Running requests, latest start first. Only on the first page.")]
        | UnsetType
    ) = UNSET
    next_cursor: Annotated[
        str | None,
        Meta(description="The `cursor` of the next, older page. `null` on the last page."),
    ]
    newer_cursor: Annotated[
        str | None,
        Meta(description="The `cursor` for newer requests. `null` if this page is empty: keep the previous one."),
    ]
    complete: Annotated[
        bool,
        Meta(description="`false` if the search was stopped at its deadline. `next_cursor` continues it."),
    ]


class Sighting(Struct, kw_only=True):
    """Another request with the same id."""

    id: str
    started_at: MomentText


class DetailPart(Struct, kw_only=True):
    """The fields that a detail has and a row has not. `None` if not stored, not readable, or over 16 MiB."""

    reason: Annotated[str | None, Meta(description="Reason phrase of the response's status line.")]
    request_headers: Annotated[
        list[tuple[str, str]] | None, Meta(description="Names and values as received. Secrets are replaced.")
    ]
    response_headers: Annotated[
        list[tuple[str, str]] | None, Meta(description="Names and values as received. Secrets are replaced.")
    ]
    stored_request_bytes: Annotated[
        int | None, Meta(description="Size of the stored body in bytes, as transferred. `null` if it is not stored.")
    ]
    stored_response_bytes: Annotated[
        int | None, Meta(description="Size of the stored body in bytes, as transferred. `null` if it is not stored.")
    ]
    parameters: Annotated[
        dict[str, Any] | None, Meta(description="The fields of the request body except the messages, as sent.")
    ]
    messages: Annotated[
        list[dict[str, Any]] | None,
        Meta(description="The messages. Each has `role`, `text` and `parts`; other fields are as sent."),
    ]
    answer: Annotated[
        dict[str, Any] | None,
        Meta(description="The response body. For a stream, `choices` is assembled from its events."),
    ]
    timeline: Annotated[
        list[tuple[float, int]],
        Meta(description="For each read of the response: milliseconds since the request's headers, and bytes."),
    ]
    also: Annotated[list[Sighting], Meta(description="Other requests that have the id, latest first, at most 20.")]


class RequestCount(Struct, kw_only=True):
    """The number of finished requests that match a filter."""

    requests: int
    failed: int
    last_at: Annotated[MomentText | None, Meta(description="Start of the latest request. `null` if there is none.")]
    complete: Annotated[
        bool, Meta(description="`false` if counting was stopped at its time limit. The true count may be higher.")
    ]


_OF_ALL_TIME: Final = "`null` if counted for a time range."


class Namespace(Struct, kw_only=True):
    """A namespace, its counters and its appearance. A pinned namespace is a label, all others are threads."""

    namespace: str
    requests: int
    failed: int
    input_tokens: Annotated[int | None, Meta(description=_OF_ALL_TIME)]
    output_tokens: Annotated[int | None, Meta(description=_OF_ALL_TIME)]
    cost_usd: Annotated[float | None, Meta(description=_OF_ALL_TIME)]
    first_at: Annotated[MomentText | None, Meta(description=f"`null` without requests. {_OF_ALL_TIME}")]
    last_at: Annotated[MomentText | None, Meta(description="Start of the latest request. `null` without requests.")]
    pinned: bool
    color: Annotated[int | None, Meta(description="Color slot of the label, 1 to 8. `null` if not pinned.")]
    group: Annotated[str | None, Meta(description="Group of the label. `null` without a group, or if not pinned.")]
    position: Annotated[int | None, Meta(description="Position among all labels. `null` if not pinned.")]


class NamespacePage(Struct, kw_only=True):
    """A page of namespaces, in descending order of `sort`."""

    data: list[Namespace]
    next_cursor: str | None
    complete: Annotated[
        bool,
        Meta(description="`false` if counting was stopped at its time limit. The true counts may be higher."),
    ]


class FieldValue(Struct, kw_only=True):
    """A value of a field and the number of requests that have it."""

    value: str
    requests: int


class FieldValues(Struct, kw_only=True):
    """The values of a field, most frequent first."""

    data: list[FieldValue]


class LogGap(Struct, kw_only=True):
    """A time range in which requests were refused or not logged, or in which records were lost."""

    from_at: MomentText
    to_at: MomentText
    count: int
    reason: Literal["log_unavailable", "forwarded_unlogged", "damaged", "store_set_aside"]


class JournalStatus(Struct, kw_only=True):
    """How far the log is behind the journal. `null` if unknown."""

    lag_bytes: int | None
    lag_seconds: float | None


class StorageStatus(Struct, kw_only=True):
    """The location of the log, and when its disk is full at the current rate. `null` if unknown."""

    data_path: str | None
    store_bytes: int
    disk_free_bytes: int | None
    days_left: Annotated[float | None, Meta(description="Days until the disk is full, at the last week's rate.")]


class Status(Struct, kw_only=True):
    """The state of Relaybook."""

    version: str
    relay_base_url: str
    dashboard_url: str | None
    page_build: Annotated[str | None, Meta(description="Build id of the page. `null` if it was not built.")]
    sample_data: Annotated[bool, Meta(description="Whether `relaybook demo` fills this log.")]
    records: int
    namespaces: Annotated[int, Meta(description="Number of namespaces, including labels.")]
    labels: Annotated[int, Meta(description="Number of pinned namespaces.")]
    last_seq: int
    indexed_to: Annotated[int, Meta(description="`seq` of the newest record that full-text search can find.")]
    running: int
    refused: Annotated[dict[str, int], Meta(description="Number of requests that were not admitted, by error code.")]
    frames_lost: int
    journal: JournalStatus
    storage: StorageStatus
    gaps: Annotated[list[LogGap], Meta(description="The latest 100 gaps.")]
    gap_count: int
    settings: Annotated[dict[str, Any], Meta(description="Effective settings, without secrets.")]


class Health(Struct, kw_only=True):
    """The health of this listener."""

    status: Literal["ok", "ready"]


class SignIn(Struct, kw_only=True, forbid_unknown_fields=True):
    """The body of `POST /api/session`."""

    token: str


class Session(Struct, kw_only=True):
    """When the sign-in expires. `null` if the dashboard has no token, or after signing out."""

    expires_at: MomentText | None


class Problem(Struct, kw_only=True):
    """The error. `param` is the offending parameter, field or header."""

    message: str
    type: Literal["invalid_request_error", "api_error"]
    param: str | None
    code: str


class ErrorAnswer(Struct, kw_only=True):
    """The form of every error."""

    error: Problem


if TYPE_CHECKING:
    #: A row and the detail's part, in one object.
    RequestDetail: TypeAlias = dict[str, Any]
else:
    RequestDetail = msgspec.defstruct(
        "RequestDetail",
        row_fields(),
        bases=(DetailPart,),
        kw_only=True,
        namespace={"__doc__": "Everything known about a request."},
    )

MODELS: tuple[Any, ...] = (
    Row,
    RequestPage,
    RequestDetail,
    RequestCount,
    StatsAnswer,
    Thread,
    NamespacePage,
    LabelChange,
    FieldValues,
    Status,
    Health,
    SignIn,
    Session,
    ErrorAnswer,
)
