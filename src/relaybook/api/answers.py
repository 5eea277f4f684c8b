"""The shapes of the API's answers, declared once: handlers build them, the OpenAPI document describes them.

Every field is always present unless it says otherwise. Moments are RFC 3339 text in UTC with microseconds. New
fields may be added at any time.
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
    Row = msgspec.defstruct("Row", row_fields(), kw_only=True, namespace={"__doc__": "One logged request."})


class RequestPage(Struct, kw_only=True):
    """A page of the log, latest recorded first."""

    data: list[Row]
    running: (
        Annotated[list[Row], Meta(description="Requests still open, latest started first; only on the first page.")]
        | UnsetType
    ) = UNSET
    next_cursor: Annotated[
        str | None,
        Meta(description="Pass it on as `cursor` for older requests; null: there are none."),
    ]
    newer_cursor: Annotated[
        str | None,
        Meta(description="Pass it on as `cursor` for newer requests; null: this page is empty, keep the one you had."),
    ]
    complete: Annotated[
        bool,
        Meta(description="False when the deadline ended the search: next_cursor goes on from there."),
    ]


class Sighting(Struct, kw_only=True):
    """Another request that carries the id asked for."""

    id: str
    started_at: MomentText


class DetailPart(Struct, kw_only=True):
    """What the detail view shows besides the row. Null: not stored, not understood, or over 16 MiB."""

    reason: Annotated[str | None, Meta(description="The reason phrase beside the answer's status.")]
    request_headers: Annotated[
        list[tuple[str, str]] | None, Meta(description="Name and value as they came; secrets are replaced.")
    ]
    response_headers: Annotated[
        list[tuple[str, str]] | None, Meta(description="Name and value as they came; secrets are replaced.")
    ]
    stored_request_bytes: Annotated[
        int | None, Meta(description="Bytes of the stored body as it crossed; null: not stored.")
    ]
    stored_response_bytes: Annotated[
        int | None, Meta(description="Bytes of the stored body as it crossed; null: not stored.")
    ]
    parameters: Annotated[dict[str, Any] | None, Meta(description="The request's fields but its messages, as sent.")]
    messages: Annotated[
        list[dict[str, Any]] | None,
        Meta(description="Each with `role`, `text` and `parts`, and what else it had, as sent."),
    ]
    answer: Annotated[
        dict[str, Any] | None,
        Meta(description="The answer's fields, with `choices` put together from the pieces of a stream."),
    ]
    timeline: Annotated[
        list[tuple[float, int]],
        Meta(description="Of each piece of the answer: milliseconds since the request's head, bytes."),
    ]
    also: Annotated[
        list[Sighting], Meta(description="Other requests that carry the id asked for, latest first, at most 20.")
    ]


class RequestCount(Struct, kw_only=True):
    """How many finished requests a filter selects."""

    requests: int
    failed: int
    last_at: Annotated[MomentText | None, Meta(description="When the latest started; null: there is none.")]
    complete: Annotated[bool, Meta(description="False when the time for counting ran out: there are at least so many.")]


_OF_ALL_TIME: Final = "Null when counted for a span of time, for which it is not kept."


class Namespace(Struct, kw_only=True):
    """A namespace with its counters, and how it is shown: a pinned one is a label, all others are threads."""

    namespace: str
    requests: int
    failed: int
    input_tokens: Annotated[int | None, Meta(description=_OF_ALL_TIME)]
    output_tokens: Annotated[int | None, Meta(description=_OF_ALL_TIME)]
    cost_usd: Annotated[float | None, Meta(description=_OF_ALL_TIME)]
    first_at: Annotated[MomentText | None, Meta(description=f"Null without a request. {_OF_ALL_TIME}")]
    last_at: Annotated[MomentText | None, Meta(description="When the latest request started; null: there is none.")]
    pinned: bool
    color: Annotated[int | None, Meta(description="The label's slot, 1 to 8; null: not pinned.")]
    group: Annotated[str | None, Meta(description="The labels it stands among; null: none, or not pinned.")]
    position: Annotated[int | None, Meta(description="The label's place among all labels; null: not pinned.")]


class NamespacePage(Struct, kw_only=True):
    """Namespaces, largest by the sort first."""

    data: list[Namespace]
    next_cursor: str | None
    complete: Annotated[
        bool,
        Meta(description="False when the time for counting a span ran out: there are at least so many requests."),
    ]


class FieldValue(Struct, kw_only=True):
    """A value of a field and how many requests have it."""

    value: str
    requests: int


class FieldValues(Struct, kw_only=True):
    """Values of one field, most frequent first."""

    data: list[FieldValue]


class LogGap(Struct, kw_only=True):
    """A span in which requests were answered but not logged, or logged and then lost."""

    from_at: MomentText
    to_at: MomentText
    count: int
    reason: Literal["log_unavailable", "forwarded_unlogged", "damaged", "store_set_aside"]


class JournalStatus(Struct, kw_only=True):
    """How far the log is behind. Null: unknown."""

    lag_bytes: int | None
    lag_seconds: float | None


class StorageStatus(Struct, kw_only=True):
    """Where the log lies and how long its disk lasts at the present rate. Null: unknown."""

    data_path: str | None
    store_bytes: int
    disk_free_bytes: int | None
    days_left: float | None


class Status(Struct, kw_only=True):
    """How Relaybook is."""

    version: str
    relay_base_url: str
    dashboard_url: str | None
    page_build: Annotated[str | None, Meta(description="Which build of the page is served; null: it was not built.")]
    sample_data: Annotated[bool, Meta(description="Whether `relaybook demo` fills this log.")]
    records: int
    namespaces: Annotated[int, Meta(description="How many namespaces there are, labels among them.")]
    labels: Annotated[int, Meta(description="How many of them are pinned.")]
    last_seq: int
    indexed_to: Annotated[int, Meta(description="The newest record (`seq`) whose words can be found by `q`.")]
    running: int
    refused: Annotated[dict[str, int], Meta(description="Requests that were not admitted, by code.")]
    frames_lost: int
    journal: JournalStatus
    storage: StorageStatus
    gaps: Annotated[list[LogGap], Meta(description="The latest 100.")]
    gap_count: int
    settings: Annotated[dict[str, Any], Meta(description="Effective settings, without secrets.")]


class Health(Struct, kw_only=True):
    """Whether this listener works."""

    status: Literal["ok", "ready"]


class SignIn(Struct, kw_only=True, forbid_unknown_fields=True):
    """What `POST /api/session` takes."""

    token: str


class Session(Struct, kw_only=True):
    """A sign-in, until when; null when this dashboard has no token."""

    expires_at: MomentText | None


class Problem(Struct, kw_only=True):
    """What was wrong and how to mend it; `param` names the parameter, field or header at fault."""

    message: str
    type: Literal["invalid_request_error", "api_error"]
    param: str | None
    code: str


class ErrorAnswer(Struct, kw_only=True):
    """The shape of every refusal."""

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
        namespace={"__doc__": "One request with all that is known of it."},
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
