"""Define the models of responses that are not answers about the log, and list all models of the OpenAPI document.

Every field is always present unless its description says otherwise. Timestamps are RFC 3339 in UTC with microseconds.
New fields may be added at any time.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from relaybook.api.status_schemas import Health, Status
from relaybook.log.ask.cache import ThreadCache
from relaybook.log.ask.compare import Comparison
from relaybook.log.ask.count import RequestCount
from relaybook.log.ask.deletions import DeletionList, DeletionReceipt, DeletionRow, RequestedDeletion
from relaybook.log.ask.detail import RequestDetail
from relaybook.log.ask.feedback import AcceptedFeedback, FeedbackSummary
from relaybook.log.ask.fields import Row, TimestampText
from relaybook.log.ask.lanes import Lanes
from relaybook.log.ask.last_good import LastGood
from relaybook.log.ask.namespaces import NamespacePage
from relaybook.log.ask.progress import ResponseProgress
from relaybook.log.ask.replay import ReplayablePage
from relaybook.log.ask.requests import RequestPage
from relaybook.log.ask.rereads import RereadList, RereadRow
from relaybook.log.ask.saved_filters import PARAMS, SavedFilterList, SavedFilterRow
from relaybook.log.ask.stats import StatsResponse
from relaybook.log.ask.thread import Thread
from relaybook.log.ask.values import FieldValues, FoundValueList
from relaybook.log.feedback import NewFeedback
from relaybook.log.namespaces import LabelChange
from relaybook.log.prompt_cache import CacheReport
from relaybook.log.query.filters import BadTermCode


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
    is_filter: Annotated[
        bool, Meta(description="Whether the completion is a whole filter for a word without a name, such as a user.")
    ]


class Suggestions(Struct, kw_only=True):
    """Completions of the part of the query at the caret. `start` and `end` are offsets in UTF-16 code units."""

    start: Annotated[int, Meta(description="Start of the text that a completion replaces.")]
    end: int
    items: list[Suggestion]


class FilterToSave(Struct, kw_only=True, forbid_unknown_fields=True):
    """The body of `PUT /api/saved-filters/{name}`."""

    params: Annotated[list[tuple[str, str]], Meta(description=PARAMS)]


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
            Meta(description="Number of finished requests that match the filter. Present only if `confirm` is wrong."),
        ]
        | UnsetType
    ) = UNSET


class ErrorResponse(Struct, kw_only=True):
    """The form of every error."""

    error: Problem


MODELS: tuple[Any, ...] = (
    Row,
    RequestPage,
    RequestDetail,
    CacheReport,
    ResponseProgress,
    ReplayablePage,
    Comparison,
    LastGood,
    RequestCount,
    StatsResponse,
    Thread,
    Lanes,
    ThreadCache,
    NamespacePage,
    LabelChange,
    NewFeedback,
    AcceptedFeedback,
    FeedbackSummary,
    FieldValues,
    FoundValueList,
    FilterToSave,
    SavedFilterRow,
    SavedFilterList,
    RequestedDeletion,
    DeletionRow,
    DeletionReceipt,
    DeletionList,
    RereadRow,
    RereadList,
    ParsedQuery,
    Status,
    Health,
    SignIn,
    Session,
    ErrorResponse,
)
