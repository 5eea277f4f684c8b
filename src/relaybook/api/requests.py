"""List the requests that match a filter, page by page, together with running requests."""

from typing import Final

import msgspec
from msgspec import UNSET, UnsetType
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.count import count_deadline_ns
from relaybook.api.reading import async_reader_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import RequestPage, Row
from relaybook.log.likely_values import LikelyValue, likely_values_of
from relaybook.log.query.filters import SORT_FIELDS, BadFilter, Cursor, Filter, SortField, Term, parse_sort
from relaybook.log.row import to_json
from relaybook.log.store.errors import DeadlinePassed
from relaybook.log.store.port import Page, Reader

routes = Routes("log")

_PAGING: Final = ("limit", "cursor", "around", "sort")
_TOP: Final = 200
_PARAMETERS = [
    openapi.parameter(
        "sort",
        "Return the requests with the highest values of this field instead of the latest requests. The highest value "
        "comes first. Among equal values, the newest request comes first. Running requests and requests without a "
        f"value are omitted. The response has no cursors, and `limit` is {_TOP} by default. `sort` cannot be combined "
        "with `cursor` or `around`.",
        {"type": "string", "enum": list(SORT_FIELDS)},
    ),
    openapi.limit(50),
    openapi.parameter("cursor", "The `next_cursor` or `newer_cursor` of an earlier response."),
    openapi.parameter("around", "A Relaybook id. The page is centered on the request with this id."),
]


@routes.get("/api/requests", openapi.describe(RequestPage, [*openapi.filter_parameters(), *_PARAMETERS]))
async def list_requests(request: Request) -> Response:
    """Return a page of the log, newest first.

    If `sort` names a field, the page contains the requests with the highest values of this field instead. Without
    `sort`, the first page also contains running requests.

    A request must match all parameters. To send several values of a parameter (at most 100), repeat the parameter. A
    request must then match at least one of the values, or all values if the description of the parameter says so.

    Full-text search finds a request shortly after the request is recorded. `indexed_to` in `GET /api/status` is the
    `seq` of the newest record that full-text search can find.
    """
    paging, rest = arguments.take(arguments.pairs_of(request), *_PAGING)
    sort = _sort_of(paging)
    limit, filter_ = arguments.limit_of(paging, _TOP if sort else 50), arguments.filter_of(rest, *_PAGING)
    cursor, around = arguments.position_of(paging)
    async_reader = async_reader_of(request)
    deadline_ns = async_reader.deadline_ns()

    def query(reader: Reader) -> RequestPage:
        if sort is not None:
            return top_of(reader, filter_, sort, limit, deadline_ns)
        if around is not None:
            return _around(reader, around, filter_, limit, deadline_ns)
        return page_of(reader, filter_, limit, cursor, deadline_ns)

    return Response(msgspec.json.encode(await async_reader.run(query)), media_type="application/json")


def _sort_of(paging: dict[str, str]) -> SortField | None:
    if "sort" not in paging:
        return None
    position = next((name for name in ("cursor", "around") if name in paging), None)
    if position is not None:
        raise BadFilter(
            "sort",
            f"sort cannot be combined with {position}, because sort returns a single page. Remove one of the two "
            "parameters.",
        )
    return parse_sort(paging["sort"])


def top_of(reader: Reader, filter_: Filter, field: SortField, limit: int, deadline_ns: int) -> RequestPage:
    """Return the finished requests with the highest values of a field, highest first."""
    return _request_page(reader.top(filter_, field, limit, deadline_ns))


def page_of(reader: Reader, filter_: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> RequestPage:
    """Return a page of the log, newest first.

    Without a cursor, the result is the newest page and includes the running requests.
    """
    # Read the running requests first. A request that ends between the two queries is then in both results, so that it
    # is never missed.
    running = [to_json(record) for record in reader.running(filter_)] if cursor is None else None
    page = _request_page(reader.page(filter_, limit, cursor, deadline_ns))
    if running is not None:
        finished = {row["id"] for row in page.data}
        page.running = [row for row in running if row["id"] not in finished]
        if page.complete and not page.data and not page.running:
            page.likely_values = _likely_values(reader, filter_, deadline_ns)
    return page


def _likely_values(reader: Reader, filter_: Filter, deadline_ns: int) -> list[LikelyValue] | UnsetType:
    """Return likely corrections of filter values that no request has. UNSET if there are no corrections."""
    try:
        return likely_values_of(reader, filter_, count_deadline_ns(deadline_ns)) or UNSET
    except DeadlinePassed:
        return UNSET


def _around(reader: Reader, record_id: str, filter_: Filter, limit: int, deadline_ns: int) -> RequestPage:
    page = reader.around(record_id, filter_, limit, deadline_ns)
    if page is not None:
        return _request_page(page)
    if reader.running(Filter((Term("id", (record_id,)),))):
        # Running requests are at the top of the log, which is the first page.
        return page_of(reader, filter_, limit, None, deadline_ns)
    raise arguments.around_not_found(record_id)


def _request_page(page: Page) -> RequestPage:
    rows: list[Row] = [to_json(record) for record in page.records]
    return RequestPage(
        data=rows,
        running=UNSET,
        next_cursor=str(page.next_cursor) if page.next_cursor else None,
        newer_cursor=str(page.newer_cursor) if page.newer_cursor else None,
        complete=page.complete,
    )
