"""Tells a thread: the requests of one namespace, or of one value of a property, cut into conversations."""

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook import clock
from relaybook.api import arguments, document
from relaybook.api.reading import reading_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import Aggregate, Conversation, NewMessages, Thread, ThreadRow
from relaybook.api.stats import sum_of
from relaybook.clock import format_timestamp
from relaybook.log.aggregate.aggregates import Aggregates, share
from relaybook.log.aggregate.stats import Question
from relaybook.log.conversations import Place, places
from relaybook.log.query.filters import BadFilter, Cursor, Filter, Term, matches
from relaybook.log.record import Record, to_json
from relaybook.log.store.errors import DeadlinePassed
from relaybook.log.store.port import Page, Reader

routes = Routes("log")

#: So many requests before the page's are looked at, for those that the page's go on from.
_LOOK_BACK: Final = 2000
#: Adding up all of a thread may take no longer.
_TOTAL_NS: Final = 100 * 1_000_000
_PLACE: Final = ("limit", "cursor", "around")
_PARAMETERS = [
    document.parameter("namespace", "The namespace to show as a thread."),
    document.parameter("property.<name>", "Instead of `namespace`: the value of one property."),
    document.limit(500),
    document.parameter("cursor", "`next_cursor` of another page."),
    document.parameter(
        "around",
        "A Relaybook id. The page has this request in the middle. For newer requests, pass the id of the last row.",
    ),
]


@routes.get("/api/thread", document.reads(Thread, _PARAMETERS))
async def tell_thread(request: Request) -> Response:
    """Return the requests of a thread, grouped into conversations. The last page is returned first.

    Within a page, requests are in the order of recording. A request continues the latest earlier one whose messages
    and response its own messages begin with, even if the system message changed or the oldest messages were trimmed.
    Only the requests of the page and the 2,000 before it are compared.
    """
    place, rest = arguments.take(arguments.pairs_of(request), *_PLACE)
    limit, wanted = arguments.limit_of(place, 500), _thread(arguments.wanted_of(rest, *_PLACE))
    cursor, around = arguments.place_of(place, only_older=True)
    reading = reading_of(request)
    deadline_ns = reading.deadline_ns()
    found = await reading.ask(lambda reader: _tell(reader, wanted, limit, (cursor, around), deadline_ns))
    return Response(msgspec.json.encode(found), media_type="application/json")


def _thread(wanted: Filter) -> Filter:
    others = [term.name for term in wanted.terms if not _may_be_thread(term)]
    rule = "A thread is one namespace= or one property.<name>=, and nothing else"
    if others and len(others) < len(wanted.terms):
        raise BadFilter(others[0], f"{rule}: leave out {others[0]}.")
    if others or len(wanted.terms) != 1:
        raise BadFilter("namespace", f"{rule}.")
    return wanted


def _may_be_thread(term: Term) -> bool:
    is_one = len(term.values) == 1 and not term.negated and not term.prefixes
    return is_one and (term.name == "namespace" or term.name.startswith("property."))


def _tell(
    reader: Reader, wanted: Filter, limit: int, place: tuple[Cursor | None, str | None], deadline_ns: int
) -> Thread:
    page, cursor = _page(reader, wanted, limit, place, deadline_ns)
    steps = reader.steps(wanted, limit + _LOOK_BACK, cursor, deadline_ns)
    known = places(reversed(steps))
    records = [record for record in reversed(page.records) if record.id in known]
    following = sum(known[record.id].follows is not None for record in records)
    return Thread(
        data=[_row(record, known[record.id]) for record in records],
        conversations=_conversations(records, known),
        total=_total(reader, wanted, deadline_ns),
        is_thread=following * 5 >= len(records),
        next_cursor=str(page.next_cursor) if page.next_cursor else None,
        complete=page.complete,
    )


def _page(
    reader: Reader, wanted: Filter, limit: int, place: tuple[Cursor | None, str | None], deadline_ns: int
) -> tuple[Page, Cursor | None]:
    """The page, and the cursor that all of it is behind; a request that still runs has its place at the end."""
    cursor, around = place
    page = None if around is None else reader.around(around, wanted, limit, deadline_ns)
    if page is not None:
        if not any(matches(wanted, record) for record in page.records if record.id == around):
            raise BadFilter("around", f"around is {around!r}: that request is in another thread than this one.")
        return page, Cursor("older", (page.records[0].seq or 0) + 1)
    if around is not None and not reader.running(Filter((Term("id", (around,)),))):
        raise arguments.nothing_around(around)
    return reader.page(wanted, limit, cursor, deadline_ns), cursor


def _row(record: Record, place: Place) -> ThreadRow:
    new = NewMessages(from_=place.new_from, count=place.messages - place.new_from)
    return to_json(record) | {
        "conversation": place.conversation,
        "turn": place.turn,
        "follows": place.follows,
        "repeats": place.repeats,
        "new_messages": new,
    }


def _conversations(records: list[Record], known: dict[str, Place]) -> list[Conversation]:
    parts: dict[str, list[Record]] = {}
    for record in records:
        parts.setdefault(known[record.id].conversation, []).append(record)
    return [_conversation(name, part, max(known[record.id].turn for record in part)) for name, part in parts.items()]


def _conversation(name: str, records: list[Record], turns: int) -> Conversation:
    sums = Aggregates.of([share(record) for record in records])
    return Conversation(
        conversation=name,
        requests=sums.requests,
        turns=turns,
        failed=sums.failed,
        input_tokens=sums.input_tokens,
        output_tokens=sums.output_tokens,
        cost_usd=round(sums.cost_usd, 10) if sums.costed else None,
        first_at=format_timestamp(min(record.started_at for record in records)),
        last_at=format_timestamp(max(record.started_at for record in records)),
    )


def _total(reader: Reader, wanted: Filter, deadline_ns: int) -> Aggregate | None:
    now_ns = clock.monotonic_ns()
    question = Question(wanted=wanted, from_us=None, to_us=clock.wall_us(), bucket_s=86_400)
    try:
        return sum_of(reader.stats(question, min(deadline_ns, now_ns + _TOTAL_NS)).total)
    except DeadlinePassed:
        return None
