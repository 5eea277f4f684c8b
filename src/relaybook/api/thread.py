"""Return a thread: the requests of one namespace or property value, grouped into conversations."""

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook import clock
from relaybook.api import arguments, openapi
from relaybook.api.reading import async_reader_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import Aggregate, Conversation, NewMessages, Thread, ThreadRow
from relaybook.api.stats import aggregate_of
from relaybook.clock import format_timestamp
from relaybook.log.aggregate.aggregates import Aggregates, contribution_of
from relaybook.log.aggregate.stats import StatsQuery
from relaybook.log.conversations import Position, positions_of
from relaybook.log.query.filters import BadFilter, Cursor, Filter, Term, matches
from relaybook.log.record import Record
from relaybook.log.row import to_json
from relaybook.log.store.errors import DeadlinePassed
from relaybook.log.store.port import Page, Reader

routes = Routes("log")

#: Number of requests before a page that are compared with the requests of the page, because a request of the page may
#: continue an earlier request.
_LOOKBACK: Final = 2000
#: Time limit for aggregating the whole thread.
_TOTAL_NS: Final = 100 * 1_000_000
_PAGING: Final = ("limit", "cursor", "around")
_PARAMETERS = [
    openapi.parameter("namespace", "The namespace to show as a thread."),
    openapi.parameter("property.<name>", "Instead of `namespace`: the value of one property to show as a thread."),
    openapi.limit(500),
    openapi.parameter("cursor", "The `next_cursor` of an earlier response."),
    openapi.parameter(
        "around",
        "A Relaybook id. The page is centered on the request with this id. To get newer requests than those on a page, "
        "send the id of the page's last row.",
    ),
]


@routes.get("/api/thread", openapi.describe(Thread, _PARAMETERS))
async def get_thread(request: Request) -> Response:
    """Return the requests of a thread, grouped into conversations.

    The first page has the latest requests of the thread. Within a page, requests are in the order in which they were
    recorded.

    Request B continues request A if B's messages begin with A's messages and A's response. The system message may be
    different, and the oldest messages may be missing in B. If B contains the responses of several requests, B continues
    the request whose response is last in B. If several requests have this response, B continues the one that was
    recorded last. Only the requests of the page and the 2,000 requests before the page are compared.
    """
    paging, rest = arguments.take(arguments.pairs_of(request), *_PAGING)
    limit, filter_ = arguments.limit_of(paging, 500), _thread(arguments.filter_of(rest, *_PAGING))
    cursor, around = arguments.position_of(paging, only_older=True)
    async_reader = async_reader_of(request)
    deadline_ns = async_reader.deadline_ns()
    result = await async_reader.run(lambda reader: _read_thread(reader, filter_, limit, (cursor, around), deadline_ns))
    return Response(msgspec.json.encode(result), media_type="application/json")


def _thread(filter_: Filter) -> Filter:
    other_names = [term.name for term in filter_.terms if not _selects_thread(term)]
    rule = "A thread is selected by exactly one namespace= or property.<name>= parameter"
    if other_names and len(other_names) < len(filter_.terms):
        raise BadFilter(other_names[0], f"{rule}. Remove {other_names[0]}.")
    if other_names or len(filter_.terms) != 1:
        raise BadFilter("namespace", f"{rule}.")
    return filter_


def _selects_thread(term: Term) -> bool:
    is_single = len(term.values) == 1 and not term.negated and not term.prefixes
    return is_single and (term.name == "namespace" or term.name.startswith("property."))


def _read_thread(
    reader: Reader, filter_: Filter, limit: int, page_position: tuple[Cursor | None, str | None], deadline_ns: int
) -> Thread:
    page, cursor = _page(reader, filter_, limit, page_position, deadline_ns)
    links = reader.links(filter_, limit + _LOOKBACK, cursor, deadline_ns)
    positions = positions_of(reversed(links))
    records = page.records[::-1]
    # If ``reader.links`` was stopped at its deadline, some records have no position. Show each of these records as a
    # conversation of its own.
    unlinked = [record.id for record in records if record.id not in positions]
    positions |= {record_id: Position(record_id, 1, None, None, 0, 0) for record_id in unlinked}
    continuing = sum(positions[record.id].follows is not None for record in records)
    return Thread(
        data=[_row(record, positions[record.id]) for record in records],
        conversations=_conversations(records, positions),
        total=_total(reader, filter_, deadline_ns),
        is_thread=bool(records) and continuing * 5 >= len(records),
        next_cursor=str(page.next_cursor) if page.next_cursor else None,
        complete=page.complete and not unlinked,
    )


def _page(
    reader: Reader, filter_: Filter, limit: int, page_position: tuple[Cursor | None, str | None], deadline_ns: int
) -> tuple[Page, Cursor | None]:
    """Return the page, and a cursor that starts at the page's newest request.

    For the latest page, the cursor is `None`.

    ``page_position`` has the parameters ``cursor`` and ``around``. If ``around`` is a running request, the page is the
    latest page, because running requests are at the end of a thread.
    """
    cursor, around = page_position
    page = None if around is None else reader.around(around, filter_, limit, deadline_ns)
    if page is not None:
        if not any(matches(filter_, record) for record in page.records if record.id == around):
            raise BadFilter("around", f"around is {around!r}, but this request is in another thread.")
        return page, Cursor("older", (page.records[0].seq or 0) + 1)
    if around is not None and not reader.running(Filter((Term("id", (around,)),))):
        raise arguments.around_not_found(around)
    return reader.page(filter_, limit, cursor, deadline_ns), cursor


def _row(record: Record, position: Position) -> ThreadRow:
    new = NewMessages(from_=position.new_from, count=position.messages - position.new_from)
    return to_json(record) | {
        "conversation": position.conversation,
        "turn": position.turn,
        "follows": position.follows,
        "repeats": position.repeats,
        "new_messages": new,
    }


def _conversations(records: list[Record], positions: dict[str, Position]) -> list[Conversation]:
    by_conversation: dict[str, list[Record]] = {}
    for record in records:
        by_conversation.setdefault(positions[record.id].conversation, []).append(record)
    return [
        _conversation(name, group, max(positions[record.id].turn for record in group))
        for name, group in by_conversation.items()
    ]


def _conversation(name: str, records: list[Record], turns: int) -> Conversation:
    aggregates = Aggregates.of([contribution_of(record) for record in records])
    return Conversation(
        conversation=name,
        requests=aggregates.requests,
        turns=turns,
        failed=aggregates.failed,
        input_tokens=aggregates.input_tokens,
        output_tokens=aggregates.output_tokens,
        cost_usd=round(aggregates.cost_usd, 10) if aggregates.costed else None,
        first_at=format_timestamp(min(record.started_at for record in records)),
        last_at=format_timestamp(max(record.started_at for record in records)),
    )


def _total(reader: Reader, filter_: Filter, deadline_ns: int) -> Aggregate | None:
    now_ns = clock.monotonic_ns()
    query = StatsQuery(filter_=filter_, from_us=None, to_us=clock.wall_us(), bucket_s=86_400)
    try:
        return aggregate_of(reader.stats(query, min(deadline_ns, now_ns + _TOTAL_NS)).total)
    except DeadlinePassed:
        return None
