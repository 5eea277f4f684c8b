"""Lists requests: a page of the log by a filter, with what is still running."""

from typing import Final

import msgspec
from msgspec import UNSET
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, document
from relaybook.api.reading import reading_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import RequestPage, Row
from relaybook.log.query.filters import Cursor, Filter, Term
from relaybook.log.record import to_json
from relaybook.log.store.port import Page, Reader

routes = Routes("log")

_PLACE: Final = ("limit", "cursor", "around")
_PARAMETERS = [
    document.limit(50),
    document.parameter("cursor", "`next_cursor` or `newer_cursor` of another page."),
    document.parameter("around", "A Relaybook id. The page has this request in the middle."),
]


@routes.get("/api/requests", document.reads(RequestPage, [*document.filter_parameters(), *_PARAMETERS]))
async def list_requests(request: Request) -> Response:
    """Return a page of the log, newest first.

    Different parameters must all match. If a parameter is repeated, any of its values may match (at most 100). The
    first page also contains running requests. Full-text search finds a request shortly after it is recorded: see
    `indexed_to` in `/api/status`.
    """
    place, rest = arguments.take(arguments.pairs_of(request), *_PLACE)
    limit, wanted = arguments.limit_of(place), arguments.wanted_of(rest, *_PLACE)
    cursor, around = arguments.place_of(place)
    reading = reading_of(request)
    deadline_ns = reading.deadline_ns()

    def question(reader: Reader) -> RequestPage:
        if around is not None:
            return _around(reader, around, wanted, limit, deadline_ns)
        return _page(reader, wanted, limit, cursor, deadline_ns)

    return Response(msgspec.json.encode(await reading.ask(question)), media_type="application/json")


def _page(reader: Reader, wanted: Filter, limit: int, cursor: Cursor | None, deadline_ns: int) -> RequestPage:
    # Running ones first: a request that ends between the two looks is then seen twice rather than not at all.
    running = [to_json(record) for record in reader.running(wanted)] if cursor is None else None
    page = _answer(reader.page(wanted, limit, cursor, deadline_ns))
    if running is not None:
        finished = {row["id"] for row in page.data}
        page.running = [row for row in running if row["id"] not in finished]
    return page


def _around(reader: Reader, record_id: str, wanted: Filter, limit: int, deadline_ns: int) -> RequestPage:
    page = reader.around(record_id, wanted, limit, deadline_ns)
    if page is not None:
        return _answer(page)
    if reader.running(Filter((Term("id", (record_id,)),))):
        # What still runs has its place at the top of the log.
        return _page(reader, wanted, limit, None, deadline_ns)
    raise arguments.nothing_around(record_id)


def _answer(page: Page) -> RequestPage:
    rows: list[Row] = [to_json(record) for record in page.records]
    return RequestPage(
        data=rows,
        running=UNSET,
        next_cursor=str(page.next_cursor) if page.next_cursor else None,
        newer_cursor=str(page.newer_cursor) if page.newer_cursor else None,
        complete=page.complete,
    )
