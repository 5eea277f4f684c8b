"""Counts the requests that a filter selects, within a moment: for readers who point at a value."""

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook import clock
from relaybook.api import arguments, document
from relaybook.api.reading import reading_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import RequestCount
from relaybook.clock import format_timestamp
from relaybook.log.store.port import Reader

routes = Routes("log")

#: How long counting may take. A longer wait for an exact figure is worth less than the figure at once.
COUNT_NS: Final = 300_000_000


@routes.get("/api/count", document.reads(RequestCount, document.filter_parameters()))
async def count_requests(request: Request) -> Response:
    """Return the number of finished requests that match the filter, and how many of them failed.

    Counting goes from the newest to the oldest and stops after 300 ms with `complete: false`.
    """
    wanted = arguments.wanted_of(arguments.pairs_of(request))
    reading = reading_of(request)
    deadline_ns = reading.deadline_ns()

    def question(reader: Reader) -> RequestCount:
        found = reader.count(wanted, budget_ns(deadline_ns))
        return RequestCount(
            requests=found.requests,
            failed=found.failed,
            last_at=None if found.last_at is None else format_timestamp(found.last_at),
            complete=found.complete,
        )

    return Response(msgspec.json.encode(await reading.ask(question)), media_type="application/json")


def budget_ns(deadline_ns: int) -> int:
    """The moment at which counting that begins now must end: in its own time, and before the question's deadline."""
    return min(deadline_ns, clock.monotonic_ns() + COUNT_NS)
