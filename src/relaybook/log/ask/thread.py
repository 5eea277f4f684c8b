"""Return a thread: the requests of one namespace, session or property value, grouped into conversations."""

from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta, Struct, field

from relaybook import clock
from relaybook.clock import format_timestamp
from relaybook.log.aggregate.aggregates import Aggregates, contribution_of
from relaybook.log.aggregate.stats import StatsQuery
from relaybook.log.ask.fields import TimestampText, row_fields
from relaybook.log.ask.requests import around_not_found
from relaybook.log.ask.retries import Retries
from relaybook.log.ask.stats import Aggregate, aggregate_of
from relaybook.log.conversations import Position, positions_of
from relaybook.log.query.filters import BadFilter, Cursor, Filter, Term, matches
from relaybook.log.record import Record
from relaybook.log.row import to_json
from relaybook.log.store.errors import DeadlinePassed
from relaybook.log.store.port import Link, Page, Reader

#: Number of requests before a page that are compared with the requests of the page, because a request of the page may
#: continue an earlier request.
LOOKBACK: Final = 2000
#: Time limit for aggregating the whole thread.
_TOTAL_NS: Final = 100 * 1_000_000


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
            description="Id of an earlier request with the same messages. `null` if there is none in the 15 minutes "
            "before."
        ),
    ]
    is_retry: Annotated[
        bool,
        Meta(
            description="`true` if `repeats` is set, and the SDK says that this request is a retry (`retry_count`), or "
            "the earlier request failed, had the same `model`, and started at most a minute before."
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


def thread(
    reader: Reader, filter_: Filter, limit: int, page_position: tuple[Cursor | None, str | None], deadline_ns: int
) -> Thread:
    """Return a page of the thread that the filter selects.

    ``page_position`` has the parameters ``cursor`` and ``around``. Raises AskError and BadFilter.
    """
    page, links = page_of(reader, filter_, limit, page_position, deadline_ns)
    positions = positions_of(reversed(links))
    retries = Retries(positions, links)
    records = page.records[::-1]
    # Show each record without a position as a conversation of its own.
    unlinked = [record.id for record in records if record.id not in positions]
    positions |= {record_id: Position(record_id, 1, None, None, 0, 0) for record_id in unlinked}
    continuing = sum(positions[record.id].follows is not None for record in records)
    return Thread(
        data=[_row(record, positions[record.id], is_retry=retries.is_retry(record)) for record in records],
        conversations=_conversations(records, positions),
        total=_total(reader, filter_, deadline_ns),
        is_thread=bool(records) and continuing * 5 >= len(records),
        next_cursor=str(page.next_cursor) if page.next_cursor else None,
        complete=page.complete and not unlinked,
    )


def page_of(
    reader: Reader, filter_: Filter, limit: int, page_position: tuple[Cursor | None, str | None], deadline_ns: int
) -> tuple[Page, list[Link]]:
    """Return a page of the thread, and the links of its requests and of those before. Both are newest first.

    If the search was stopped at its deadline, some links are missing.
    """
    page, cursor = _page(reader, filter_, limit, page_position, deadline_ns)
    return page, reader.links(filter_, limit + LOOKBACK, cursor, deadline_ns)


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
        raise around_not_found(around)
    return reader.page(filter_, limit, cursor, deadline_ns), cursor


def _row(record: Record, position: Position, *, is_retry: bool) -> ThreadRow:
    new = NewMessages(from_=position.new_from, count=position.messages - position.new_from)
    return to_json(record) | {
        "conversation": position.conversation,
        "turn": position.turn,
        "follows": position.follows,
        "repeats": position.repeats,
        "is_retry": is_retry,
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
