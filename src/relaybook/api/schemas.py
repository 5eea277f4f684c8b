"""Define the models of the API's responses. Handlers build the models, and the OpenAPI document describes them.

Every field is always present unless its description says otherwise. Timestamps are RFC 3339 in UTC with microseconds.
New fields may be added at any time.
"""

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from relaybook.api.record_fields import RequestFeedback, TimestampText, row_fields
from relaybook.api.status_schemas import DeletionList, DeletionRow, Health, RequestedDeletion, Status
from relaybook.log.feedback import NewFeedback
from relaybook.log.formats.conversation import Message, Response
from relaybook.log.likely_values import LikelyValue
from relaybook.log.namespaces import LabelChange
from relaybook.log.query.filters import BadTermCode


class Percentiles(Struct, kw_only=True):
    """The 50th, 95th and 99th percentiles in milliseconds. `null` if nothing was measured.

    A percentile is accurate to 5 %. It is never below the minimum or above the maximum of the measured values.
    """

    p50: float | None
    p95: float | None
    p99: float | None


class Aggregate(Struct, kw_only=True):
    """Aggregates of a set of requests."""

    requests: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: Annotated[
        float | None,
        Meta(description="Total cost of the requests whose cost is known. `null` if no cost is known."),
    ]
    duration_ms: Percentiles
    first_token_ms: Percentiles


class StatsPoint(Aggregate, kw_only=True):
    """The aggregates of one bucket, which is a time range of `bucket_seconds`. Empty buckets are omitted."""

    at: Annotated[TimestampText, Meta(description="Start of the bucket.")]


class StatsRest(Struct, kw_only=True):
    """The aggregates of all requests that are in none of the groups."""

    points: list[StatsPoint]
    total: Aggregate


class StatsGroup(Struct, kw_only=True):
    """The aggregates of one group of requests."""

    by: Annotated[
        dict[str, str | None],
        Meta(
            description="An object with one entry. The key is the field in the parameter `by`. The value is the value "
            "of this field in the requests of the group, or `null` if they have no value. Without the parameter `by`, "
            "the object is `{}`."
        ),
    ]
    points: list[StatsPoint]
    total: Aggregate


class StatsResponse(Struct, kw_only=True):
    """Aggregates over time. The time range is extended to whole buckets."""

    bucket_seconds: int
    from_: Annotated[TimestampText, Meta(description="Start of the first bucket.")] = field(name="from")
    to: Annotated[TimestampText, Meta(description="End of the last bucket.")]
    groups: Annotated[
        list[StatsGroup],
        Meta(description="The 20 groups with the most requests, in descending order of the number of requests."),
    ]
    other: StatsRest | None
    total: Aggregate
    source: Annotated[
        Literal["rollups", "log"],
        Meta(
            description="`rollups`: precomputed aggregates were used. `log`: the aggregates were computed from the "
            "records."
        ),
    ]


class NewMessages(Struct, kw_only=True):
    """The new messages of a request, compared with the request that it continues."""

    from_: Annotated[int, Meta(description="Index of the first new message.")] = field(name="from")
    count: int


class ThreadPart(Struct, kw_only=True):
    """The fields that ``ThreadRow`` has in addition to the fields of a row."""

    conversation: Annotated[str, Meta(description="Id of the conversation's first request.")]
    turn: Annotated[int, Meta(description="Position in the conversation, from 1.")]
    follows: Annotated[
        str | None,
        Meta(
            description="Id of the request that this request continues. `null` if this request starts a conversation."
        ),
    ]
    repeats: Annotated[
        str | None,
        Meta(
            description="Id of an earlier request with the same messages. This request is a retry or a variant of the "
            "earlier request."
        ),
    ]
    new_messages: NewMessages


if TYPE_CHECKING:
    #: A row and its position in its conversation, in one object.
    ThreadRow: TypeAlias = dict[str, Any]
else:
    ThreadRow = msgspec.defstruct(
        "ThreadRow",
        row_fields(),
        bases=(ThreadPart,),
        kw_only=True,
        namespace={"__doc__": "A request and its position in its conversation."},
    )


class Conversation(Struct, kw_only=True):
    """The part of a conversation that is on this page."""

    conversation: str
    requests: int
    turns: Annotated[int, Meta(description="The highest `turn` in this part of the conversation.")]
    failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: Annotated[
        float | None,
        Meta(description="Total cost of the requests whose cost is known. `null` if no cost is known."),
    ]
    first_at: TimestampText
    last_at: TimestampText


class Thread(Struct, kw_only=True):
    """A page of a thread, with its requests in the order in which they were recorded."""

    data: list[ThreadRow]
    conversations: Annotated[
        list[Conversation], Meta(description="The conversations, in the order of their first requests on this page.")
    ]
    total: Annotated[
        Aggregate | None,
        Meta(description="Aggregates of the whole thread. `null` if they could not be computed in time."),
    ]
    is_thread: Annotated[
        bool,
        Meta(
            description="`false` if this page has no requests, or if fewer than one in five of them continue another "
            "request."
        ),
    ]
    next_cursor: Annotated[
        str | None, Meta(description="The `cursor` of the next page, with older requests. `null` on the last page.")
    ]
    complete: Annotated[bool, Meta(description="`false` if the search was stopped at its deadline.")]


if TYPE_CHECKING:
    #: A record as ``row.to_json`` returns it.
    Row: TypeAlias = dict[str, Any]
else:
    Row = msgspec.defstruct("Row", row_fields(), kw_only=True, namespace={"__doc__": "A logged request."})


class RequestPage(Struct, kw_only=True):
    """A page of the log, newest first. With `sort=<field>`, the page is in descending order of this field."""

    data: list[Row]
    running: (
        Annotated[
            list[Row],
            Meta(
                description="Running requests, latest start first. Only the first page has this field, and only "
                "if `sort` is not set."
            ),
        ]
        | UnsetType
    ) = UNSET
    next_cursor: Annotated[
        str | None,
        Meta(
            description="The `cursor` of the next page, with older requests. `null` on the last page and with `sort`."
        ),
    ]
    newer_cursor: Annotated[
        str | None,
        Meta(
            description="The `cursor` for newer requests. `null` if `sort` is set. On an empty page, `newer_cursor` "
            "can also be `null`. In this case, use the last `newer_cursor` that was not `null`."
        ),
    ]
    complete: Annotated[
        bool,
        Meta(
            description="`false` if the search was stopped at its deadline. Without `sort`, `next_cursor` continues "
            "the search. With `sort`, the page has the highest values among the requests that were found before the "
            "deadline."
        ),
    ]
    likely_values: (
        Annotated[
            list[LikelyValue],
            Meta(
                description="Likely corrections of filter values that no request has. Present only if no request was "
                "found."
            ),
        ]
        | UnsetType
    ) = UNSET


class Sighting(Struct, kw_only=True):
    """Another request that the id in the path also identifies. `id` is the Relaybook id of this other request."""

    id: str
    started_at: TimestampText


_HEADERS: Final = (
    "Names and values as received. Secrets are replaced. `null` if the headers cannot be read or are no longer stored, "
    "for example because the content of the request has expired. Empty if there were no headers."
)


class DetailPart(Struct, kw_only=True):
    """The fields that ``RequestDetail`` has in addition to the fields of a row.

    Fields that can be `None` are `None` if their data is not stored, cannot be read, or exceeds 64 MiB.
    """

    damage: Annotated[
        str | None,
        Meta(
            description="Why headers or bodies cannot be read, and which file is damaged. `null` if they are not "
            "damaged."
        ),
    ]
    reason: Annotated[str | None, Meta(description="Reason phrase of the response's status line.")]
    request_headers: Annotated[list[tuple[str, str]] | None, Meta(description=_HEADERS)]
    response_headers: Annotated[list[tuple[str, str]] | None, Meta(description=_HEADERS)]
    stored_request_bytes: Annotated[
        int | None,
        Meta(
            description="How many bytes of the request body are stored, counted before the log compresses them. "
            "`null` if the body is not stored."
        ),
    ]
    stored_response_bytes: Annotated[
        int | None,
        Meta(
            description="How many bytes of the response body are stored, counted before the log compresses them. "
            "`null` if the body is not stored."
        ),
    ]
    parameters: Annotated[
        dict[str, Any] | None, Meta(description="All fields of the request body except the messages, as sent.")
    ]
    messages: Annotated[
        list[Message] | None,
        Meta(description="The messages of the request body, oldest first, in the same structure for all APIs."),
    ]
    response: Annotated[
        Response | None,
        Meta(
            description="The response body, in the same structure for all APIs. For a stream, the body is assembled "
            "from the events of the stream."
        ),
    ]
    timeline: Annotated[
        list[tuple[float, int]],
        Meta(
            description="A pair for each chunk of the response: milliseconds since the request's headers arrived, and "
            "number of bytes."
        ),
    ]
    also: Annotated[
        list[Sighting],
        Meta(description="Up to 20 other finished requests that the id in the path also identifies, newest first."),
    ]


class RequestCount(Struct, kw_only=True):
    """The number of finished requests that match a filter."""

    requests: int
    failed: int
    last_at: Annotated[
        TimestampText | None, Meta(description="Start of the latest request. `null` if no request matches.")
    ]
    complete: Annotated[
        bool, Meta(description="`false` if counting was stopped at its time limit. The true count may be higher.")
    ]


_OF_ALL_TIME: Final = "`null` if only the requests of a time range are counted."


class Namespace(Struct, kw_only=True):
    """A namespace with its counters, color, group and position. Pinned namespaces are shown above the log."""

    namespace: str
    requests: int
    failed: int
    input_tokens: Annotated[int | None, Meta(description=_OF_ALL_TIME)]
    output_tokens: Annotated[int | None, Meta(description=_OF_ALL_TIME)]
    cost_usd: Annotated[float | None, Meta(description=_OF_ALL_TIME)]
    first_at: Annotated[
        TimestampText | None,
        Meta(
            description="Start of the first request. `null` if there is none, or if only the requests of a time range "
            "are counted."
        ),
    ]
    last_at: Annotated[
        TimestampText | None, Meta(description="Start of the latest request. `null` if there are no requests.")
    ]
    pinned: bool
    color: Annotated[
        int | None, Meta(description="Number of the color, from 1 to 8. `null` if the namespace is not pinned.")
    ]
    group: Annotated[
        str | None,
        Meta(description="Name of the group. `null` if the namespace has no group or is not pinned."),
    ]
    position: Annotated[
        int | None, Meta(description="Position among the pinned namespaces. `null` if the namespace is not pinned.")
    ]


class NamespacePage(Struct, kw_only=True):
    """A page of namespaces, in descending order of `sort`."""

    data: list[Namespace]
    next_cursor: str | None
    complete: Annotated[
        bool,
        Meta(description="`false` if counting was stopped at its time limit. The true counts may be higher."),
    ]


class FeedbackSummary(Struct, kw_only=True):
    """The feedback on the requests that match a filter."""

    requests: Annotated[int, Meta(description="Number of matching requests that have feedback.")]
    scores: Annotated[
        int,
        Meta(
            description="Number of scores that these requests have. A request has at most one score from each source."
        ),
    ]
    mean_score: Annotated[
        float | None, Meta(description="Mean of all scores of the matching requests. `null` if no request has a score.")
    ]
    complete: Annotated[
        bool,
        Meta(
            description="`false` if the search was stopped at its time limit. In that case, only the newest requests "
            "are counted."
        ),
    ]


class AcceptedFeedback(Struct, kw_only=True):
    """The accepted feedback, and whether it is already in the log."""

    state: Annotated[
        Literal["stored", "pending"],
        Meta(
            description="`stored`: the feedback was added to a finished request. `pending`: no finished request has "
            "the id yet. The feedback is added when a request with the id is recorded."
        ),
    ]
    feedback: RequestFeedback


class FieldValue(Struct, kw_only=True):
    """A value of a field, and the number of requests with this value."""

    value: str
    requests: int


class FieldValues(Struct, kw_only=True):
    """The values of a field, most frequent first."""

    data: list[FieldValue]


class QueryToken(Struct, kw_only=True):
    """One part of a query, such as a word or `name:value`. `start` and `end` are offsets in UTF-16 code units."""

    start: int
    end: int
    field: Annotated[str, Meta(description="Name of the filter. For a word or a phrase, the name is `words`.")]
    negated: bool


class QueryError(Struct, kw_only=True):
    """An error in a query. `start` and `end` are offsets in UTF-16 code units."""

    start: Annotated[int, Meta(description="Start of the first invalid part.")]
    end: int
    code: Annotated[BadTermCode, Meta(description="Error code, for programs. More codes may be added.")]
    message: Annotated[str, Meta(description="The error, and how to correct it.")]
    replacement: Annotated[
        str | None,
        Meta(description="A valid part that can replace the invalid part. `null` if no replacement is likely."),
    ]


class Suggestion(Struct, kw_only=True):
    """A completion of a query."""

    insert: Annotated[str, Meta(description="The text to insert. The text ends with a colon if a value must follow.")]
    label: Annotated[str, Meta(description="The text to show.")]
    hint: Annotated[str | None, Meta(description="The meaning of the completion, in a few words.")]
    requests: Annotated[
        int | None, Meta(description="Number of requests with this value. `null` if the requests were not counted.")
    ]


class Suggestions(Struct, kw_only=True):
    """Completions of the part of the query at the caret. `start` and `end` are offsets in UTF-16 code units."""

    start: Annotated[int, Meta(description="Start of the text that a completion replaces.")]
    end: int
    items: list[Suggestion]


_PARAMS: Final = (
    "Pairs of name and value. The names are parameters of `GET /api/requests`: filters, `from`, `to` and `sort`."
)


class FilterToSave(Struct, kw_only=True, forbid_unknown_fields=True):
    """The body of `PUT /api/saved-filters/{name}`."""

    params: Annotated[list[tuple[str, str]], Meta(description=_PARAMS)]


class SavedFilter(Struct, kw_only=True):
    """A filter with a name."""

    name: str
    params: Annotated[list[tuple[str, str]], Meta(description=_PARAMS)]
    created_at: Annotated[TimestampText, Meta(description="Time at which a filter was first saved under this name.")]


class SavedFilterList(Struct, kw_only=True):
    """All saved filters."""

    data: list[SavedFilter]


class ParsedQuery(Struct, kw_only=True):
    """The result of parsing a query."""

    params: Annotated[
        list[tuple[str, str]],
        Meta(description="The query as parameters of `GET /api/requests`. Empty if the query is invalid."),
    ]
    request_id: Annotated[
        str | None, Meta(description="The id of a request, if the query consists only of this id. Otherwise `null`.")
    ]
    tokens: Annotated[list[QueryToken], Meta(description="The parts of the query, in order.")]
    error: Annotated[QueryError | None, Meta(description="`null` if the query is valid.")]
    suggestions: Suggestions


class SignIn(Struct, kw_only=True, forbid_unknown_fields=True):
    """The body of `POST /api/session`."""

    token: str


class Session(Struct, kw_only=True):
    """The time at which the sign-in expires. `null` after you sign out, or if the dashboard has no token."""

    expires_at: TimestampText | None


class Problem(Struct, kw_only=True):
    """The error. `param` is the offending parameter, field or header."""

    message: str
    type: Literal["invalid_request_error", "api_error"]
    param: str | None
    code: str
    term: Annotated[str, Meta(description="The invalid part of the query, if `param` is `q`.")] | UnsetType = UNSET
    at: Annotated[int, Meta(description="Offset of `term` in the query, in UTF-16 code units.")] | UnsetType = UNSET
    requests: (
        Annotated[
            int,
            Meta(
                description="Number of finished requests that match the filter. Present only if `confirm` is missing "
                "or wrong."
            ),
        ]
        | UnsetType
    ) = UNSET


class ErrorResponse(Struct, kw_only=True):
    """The form of every error."""

    error: Problem


if TYPE_CHECKING:
    #: A row and the fields of ``DetailPart``, in one object.
    RequestDetail: TypeAlias = dict[str, Any]
else:
    RequestDetail = msgspec.defstruct(
        "RequestDetail",
        row_fields(),
        bases=(DetailPart,),
        kw_only=True,
        namespace={"__doc__": "A request with its headers, messages and response."},
    )

MODELS: tuple[Any, ...] = (
    Row,
    RequestPage,
    RequestDetail,
    RequestCount,
    StatsResponse,
    Thread,
    NamespacePage,
    LabelChange,
    NewFeedback,
    AcceptedFeedback,
    FeedbackSummary,
    FieldValues,
    FilterToSave,
    SavedFilter,
    SavedFilterList,
    RequestedDeletion,
    DeletionRow,
    DeletionList,
    ParsedQuery,
    Status,
    Health,
    SignIn,
    Session,
    ErrorResponse,
)
