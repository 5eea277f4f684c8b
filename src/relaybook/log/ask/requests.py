"""List the requests that match a filter, page by page, together with running requests."""

from typing import Annotated, Final

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from relaybook import clock
from relaybook.log.ask.count import count_deadline_ns
from relaybook.log.ask.errors import AskError
from relaybook.log.ask.fields import Row
from relaybook.log.likely_values import LikelyValue, likely_values_of
from relaybook.log.query.filters import SAID_HERE, WORDS, Cursor, Filter, Sort, Term
from relaybook.log.row import to_json
from relaybook.log.store.errors import DeadlinePassed
from relaybook.log.store.port import Page, Reader

#: Time limit for finding out which rows match only in earlier messages.
_MARKING_NS: Final = 150_000_000


class RequestPage(Struct, kw_only=True):
    """A page of the log, newest first. With `sort=<field>`, the page is in the order of this field."""

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
            "the search. With `sort`, the page has the highest (or lowest) values among the requests that were found "
            "before the deadline."
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


def top(reader: Reader, filter_: Filter, sort: Sort, limit: int, deadline_ns: int) -> RequestPage:
    """Return the finished requests with the highest or lowest values of a number."""
    found = _request_page(reader.top(filter_, sort, limit, deadline_ns))
    _mark_said_earlier(reader, filter_, found.data, deadline_ns)
    return found


def page(reader: Reader, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> RequestPage:
    """Return a page of the log, newest first.

    Without a cursor, the result is the newest page and includes the running requests.
    """
    # Read the running requests first. A request that ends between the two queries is then in both results, so that it
    # is never missed.
    running = [to_json(record) for record in reader.running(filter_)] if cursor is None else None
    found = _request_page(reader.page(filter_, limit, cursor, deadline_ns))
    _mark_said_earlier(reader, filter_, found.data, deadline_ns)
    if running is not None:
        finished = {row["id"] for row in found.data}
        found.running = [row for row in running if row["id"] not in finished]
        if found.complete and not found.data and not found.running:
            found.likely_values = _likely_values(reader, filter_, deadline_ns)
    return found


def _likely_values(reader: Reader, filter_: Filter, deadline_ns: int) -> list[LikelyValue] | UnsetType:
    """Return likely corrections of filter values that no request has. UNSET if there are no corrections."""
    try:
        return likely_values_of(reader, filter_, count_deadline_ns(deadline_ns)) or UNSET
    except DeadlinePassed:
        return UNSET


def around(reader: Reader, record_id: str, filter_: Filter, limit: int, deadline_ns: int) -> RequestPage:
    """Return the page with the request in the middle of its matching neighbors. Raises AskError."""
    found = reader.around(record_id, filter_, limit, deadline_ns)
    if found is not None:
        around_it = _request_page(found)
        matching = around_it.data
        if any(term.name == WORDS for term in filter_.terms):
            # The request itself is in the page even if it does not match.
            itself = reader.page(Filter((Term("id", (record_id,)), *filter_.terms)), 1, None, deadline_ns)
            matching = [row for row in matching if row["id"] != record_id or itself.records]
        _mark_said_earlier(reader, filter_, matching, deadline_ns)
        return around_it
    if reader.running(Filter((Term("id", (record_id,)),))):
        # Running requests are at the top of the log, which is the first page.
        return page(reader, filter_, limit, None, deadline_ns)
    raise around_not_found(record_id)


def _mark_said_earlier(reader: Reader, filter_: Filter, rows: list[Row], deadline_ns: int) -> None:
    """Mark the rows that match a search for words only in the earlier messages of their conversation.

    If the search takes too long, no row is marked.
    """
    searched = [term for term in filter_.terms if term.name == WORDS and not term.negated]
    if not searched or not rows:
        return
    ids = Term("id", tuple(row["id"] for row in rows))
    said = (msgspec.structs.replace(term, name=SAID_HERE) for term in searched)
    deadline_ns = min(deadline_ns, clock.monotonic_ns() + _MARKING_NS)
    found = reader.page(Filter((ids, *said)), len(rows), None, deadline_ns)
    if not found.complete:
        return
    said_here = {record.id for record in found.records}
    for row in rows:
        if row["id"] not in said_here:
            row["said_earlier"] = True


def _request_page(page: Page) -> RequestPage:
    rows: list[Row] = [to_json(record) for record in page.records]
    return RequestPage(
        data=rows,
        running=UNSET,
        next_cursor=str(page.next_cursor) if page.next_cursor else None,
        newer_cursor=str(page.newer_cursor) if page.newer_cursor else None,
        complete=page.complete,
    )


def around_not_found(record_id: str) -> AskError:
    """Return the error for the parameter ``around`` if no request has this id."""
    message = f"around must be a Relaybook id (Service-Request-Id), but no request has the id {record_id[:80]!r}."
    return AskError("not_found", message, "around")
