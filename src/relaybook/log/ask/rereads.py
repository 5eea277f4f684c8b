"""Request rereads, and list them. The recorder carries them out."""

import sys
from typing import Annotated, Final

from msgspec import Meta, Struct

from relaybook.clock import format_timestamp
from relaybook.log.ask.count import EXACT_COUNT_SECONDS, exact_deadline_ns
from relaybook.log.ask.errors import AskError
from relaybook.log.ask.fields import TimestampText
from relaybook.log.query.filters import Filter, Term
from relaybook.log.query.parameters import parameters_of_filter
from relaybook.log.rereads import Reread, Rereads, RereadState
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.port import Reader

#: A later version may read the bodies of these requests better.
UNREAD: Final = Term(
    "note", ("not_understood", "not_json", "unknown_encoding", "too_large_to_read", "too_many_odd_events")
)
#: A later version may know the cost of these requests.
UNPRICED: Final = Term(
    "cost_reason",
    (
        *("unknown_model", "ambiguous_model", "no_price", "no_rate_for_audio"),
        *("no_rate_for_cache_writes", "no_rate_for_web_searches"),
    ),
)


class RereadRow(Struct, kw_only=True):
    """A reread. The log keeps the entry of a reread forever."""

    id: str
    state: Annotated[
        RereadState,
        Meta(
            description="`reading`: requests are being read again. `done`: the log, the search and all numbers have "
            "the new results."
        ),
    ]
    filter: Annotated[
        list[tuple[str, str | None]],
        Meta(
            description="Parameters of `GET /api/requests` that select the requests. In the state `done`, values that "
            "could identify a person are `null`."
        ),
    ]
    requests: Annotated[int, Meta(description="Number of requests that matched when the reread was requested.")]
    read: Annotated[int, Meta(description="Number of requests that were examined so far.")]
    changed: Annotated[int, Meta(description="Number of these requests whose fields or links changed.")]
    requested_at: TimestampText
    requested_by: Annotated[
        str, Meta(description="Address of the client that requested the reread, or `command line`.")
    ]
    done_at: Annotated[TimestampText | None, Meta(description="`null` until the reread is done.")]


class RereadList(Struct, kw_only=True):
    """Rereads, newest first."""

    data: list[RereadRow]


def improvable(reader: Reader, deadline_ns: int) -> list[tuple[Term, int]]:
    """Return the terms that select requests for which a later version may find more, each with its number of requests.

    Terms that select no request are omitted.
    """
    found = [(term, reader.count(Filter((term,)), deadline_ns).requests) for term in (UNREAD, UNPRICED)]
    return [(term, requests) for term, requests in found if requests]


def reread(reader: Reader, rereads: Rereads, filter_: Filter, by: str) -> RereadRow:
    """Request that all finished requests that match are read again. Raises AskError.

    ``by`` becomes ``Reread.requested_by``.
    """
    count = reader.count(filter_, exact_deadline_ns())
    if not count.complete:
        raise AskError(
            "deadline",
            f"The requests could not be counted within {EXACT_COUNT_SECONDS} seconds, so nothing is read again. Choose "
            "a shorter time range (from=, to=), or use filters other than words= and contains=.",
        )
    try:
        return row_of(rereads.request_reread(filter_, count.requests, by))
    except StoreUnavailable as error:
        raise AskError("store_unavailable", f"Nothing is read again: {error} Try again.") from error


def latest(reader: Reader, limit: int) -> RereadList:
    """Return the latest rereads, newest first."""
    return RereadList(data=[row_of(each) for each in reader.rereads(limit)])


def find(reader: Reader, reread_id: str) -> RereadRow | None:
    """Return the reread with this id, or `None` if it does not exist."""
    found = next((each for each in reader.rereads(sys.maxsize) if each.id == reread_id), None)
    return None if found is None else row_of(found)


def row_of(reread: Reread) -> RereadRow:
    """Convert a reread to the reread of an answer."""
    return RereadRow(
        id=reread.id,
        state=reread.state,
        filter=parameters_of_filter(reread.filter_),
        requests=reread.requests,
        read=reread.read,
        changed=reread.changed,
        requested_at=format_timestamp(reread.requested_at),
        requested_by=reread.requested_by,
        done_at=None if reread.done_at is None else format_timestamp(reread.done_at),
    )
