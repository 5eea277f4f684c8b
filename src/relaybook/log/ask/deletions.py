"""Request deletions, and list them. The recorder carries them out."""

import sys
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from relaybook.clock import format_timestamp, wall_us
from relaybook.log.ask.count import EXACT_COUNT_SECONDS, count_deadline_ns, exact_deadline_ns
from relaybook.log.ask.errors import AskError
from relaybook.log.ask.fields import TimestampText
from relaybook.log.ask.scope import Scope
from relaybook.log.deletions import Deletion, Deletions, DeletionState, filter_digest
from relaybook.log.descriptions import NOT_ERASED
from relaybook.log.query.filters import Filter, Term
from relaybook.log.query.parameters import parameters_of_filter
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.port import Reader

LATEST: Final = 100


class DeletionRow(Struct, kw_only=True):
    """A deletion. The log keeps the entry of a deletion forever."""

    id: str
    state: Annotated[
        DeletionState,
        Meta(
            description="`removing`: requests are being removed from the log. `erasing`: all requests are removed, and "
            "their bytes are being erased from the files. `done`: no file contains the bytes of these requests."
        ),
    ]
    filter: Annotated[
        list[tuple[str, str | None]],
        Meta(
            description="Parameters of `GET /api/requests` that select the requests. In the states `erasing` and "
            "`done`, values that could identify a person are `null`."
        ),
    ]
    requests: Annotated[int, Meta(description="Number of requests that matched when the deletion was requested.")]
    removed: Annotated[int, Meta(description="Number of requests removed so far.")]
    requested_at: TimestampText
    requested_by: Annotated[
        str, Meta(description="Address of the client that requested the deletion, or `command line`.")
    ]
    removed_at: Annotated[
        TimestampText | None,
        Meta(description="Time at which the last request was removed from the log. `null` until then."),
    ]
    done_at: Annotated[
        TimestampText | None,
        Meta(description="Time at which the last byte was erased from the files. `null` until the deletion is done."),
    ]


class RequestedDeletion(DeletionRow, kw_only=True):
    """The deletion that was requested."""

    running: Annotated[
        int,
        Meta(description="Number of running requests that match. These requests are not deleted, even after they end."),
    ]


class FilterCheck(Struct, kw_only=True):
    """Whether a filter is the filter of a deletion, and the number of requests that match it now.

    The log keeps no values of a filter that could identify a person. It keeps a digest, with which a known filter can
    be checked.
    """

    filter: Annotated[
        list[tuple[str, str | None]],
        Meta(description="The filter that was checked, with its values, as parameters of `GET /api/requests`."),
    ]
    is_filter: Annotated[bool, Meta(description="Whether the deletion had this filter.")]
    checked_at: Annotated[TimestampText, Meta(description="Time at which the matching requests were counted.")]
    requests: Annotated[
        int, Meta(description="Number of finished requests that match the filter now, whenever they started.")
    ]
    complete: Annotated[
        bool, Meta(description="`false` if the count was stopped at its deadline. The true count may be higher.")
    ]


class DeletionReceipt(DeletionRow, kw_only=True):
    """A deletion, and what the program knows about copies of the deleted requests."""

    is_final: Annotated[
        bool,
        Meta(description="Whether the deletion is done. If `false`, requests are still being removed or erased."),
    ]
    check: Annotated[FilterCheck | None, Meta(description="`null` if the call has no filter.")]
    not_erased: Annotated[
        list[str], Meta(description="Copies of the requests that the deletion does not reach, as sentences.")
    ]


class DeletionList(Struct, kw_only=True):
    """Deletions, newest first."""

    data: list[DeletionRow]


def delete(reader: Reader, deletions: Deletions, filter_: Filter, confirm: int, by: str) -> RequestedDeletion:
    """Request the deletion of all finished requests that match. Raises AskError.

    ``confirm`` must be the number of these requests. ``by`` becomes ``Deletion.requested_by``.
    """
    running = len(reader.running(filter_))
    count = reader.count(filter_, exact_deadline_ns())
    if not count.complete:
        raise AskError(
            "deadline",
            f"The requests could not be counted within {EXACT_COUNT_SECONDS} seconds, so nothing was deleted. Delete "
            "the requests in parts, each with a shorter time range (from=, to=), or use filters other than words= and "
            "contains=.",
        )
    if count.requests != confirm:
        found = count.requests
        message = f"confirm is {confirm}, but {found} requests match. To delete them, send confirm={found}."
        raise AskError("wrong_count", message, "confirm", requests=found)
    return _requested(deletions, filter_, count.requests, by, running)


def delete_one(
    reader: Reader, deletions: Deletions, record_id: str, scope: Scope, by: str, deadline_ns: int
) -> RequestedDeletion:
    """Request the deletion of one finished request. Raises AskError."""
    # Only count the request. Its content may be damaged, so reading it could fail.
    filter_ = scope.narrow(Filter((Term("id", (record_id,)),)))
    count = reader.count(filter_, deadline_ns)
    if count.requests:
        return _requested(deletions, filter_, 1, by, 0)
    if not count.complete:
        raise AskError("deadline", "The request could not be found in time, so nothing was deleted. Try again.")
    if reader.open_request(record_id) is not None:
        raise AskError("request_running", "The request is still running. Delete the request when it has ended.", "id")
    raise AskError(
        "not_found",
        f"No request in this log has the Relaybook id {record_id[:80]!r}. GET /api/requests/{{id}} finds a request "
        "by any of its ids.",
        "id",
    )


def latest(reader: Reader, limit: int) -> DeletionList:
    """Return the latest deletions, newest first."""
    return DeletionList(data=[row_of(each) for each in reader.deletions(limit)])


def receipt(reader: Reader, deletion_id: str, filter_: Filter) -> DeletionReceipt | None:
    """Return the deletion with this id, or `None` if it does not exist. Checks the filter if it has terms."""
    deletion = _find(reader, deletion_id)
    if deletion is None:
        return None
    check = None
    if filter_.terms:
        # Requests that arrived after the deletion must count, too.
        still = Filter(tuple(term for term in filter_.terms if term.name != "to"))
        count = reader.count(still, count_deadline_ns(exact_deadline_ns()))
        is_filter = filter_digest(deletion_id, filter_) == deletion.filter_digest
        check = FilterCheck(
            filter=parameters_of_filter(filter_),
            is_filter=is_filter,
            checked_at=format_timestamp(wall_us()),
            requests=count.requests,
            complete=count.complete,
        )
    return DeletionReceipt(
        is_final=deletion.state == "done",
        check=check,
        not_erased=list(NOT_ERASED),
        **msgspec.structs.asdict(row_of(deletion)),
    )


def _find(reader: Reader, deletion_id: str) -> Deletion | None:
    """Return the deletion with this id, or `None` if it does not exist. The latest deletions are searched first."""
    for limit in (LATEST, sys.maxsize):
        deletions = reader.deletions(limit)
        if found := next((each for each in deletions if each.id == deletion_id), None):
            return found
        if len(deletions) < limit:
            break
    return None


def _requested(deletions: Deletions, filter_: Filter, requests: int, by: str, running: int) -> RequestedDeletion:
    try:
        deletion = deletions.request(filter_, requests, by)
    except StoreUnavailable as error:
        raise AskError("store_unavailable", f"Nothing was deleted: {error} Try again.") from error
    return RequestedDeletion(running=running, **msgspec.structs.asdict(row_of(deletion)))


def row_of(deletion: Deletion) -> DeletionRow:
    """Convert a deletion to the deletion of an answer."""
    return DeletionRow(
        id=deletion.id,
        state=deletion.state,
        filter=parameters_of_filter(deletion.filter_),
        requests=deletion.requests,
        removed=deletion.removed,
        requested_at=format_timestamp(deletion.requested_at),
        requested_by=deletion.requested_by,
        removed_at=None if deletion.removed_at is None else format_timestamp(deletion.removed_at),
        done_at=None if deletion.done_at is None else format_timestamp(deletion.done_at),
    )
