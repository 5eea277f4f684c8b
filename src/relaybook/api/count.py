"""Count the requests that match a filter. Counting stops after 300 ms.

The page shows such counts, for example in the menu of a namespace.
"""

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook import clock
from relaybook.api import arguments, openapi
from relaybook.api.reading import async_reader_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import RequestCount
from relaybook.clock import format_timestamp
from relaybook.log.store.port import Reader

routes = Routes("log")

#: Time limit for counting. A quick lower bound is more useful than an exact count that takes longer.
COUNT_NS: Final = 300_000_000


@routes.get("/api/count", openapi.describe(RequestCount, openapi.filter_parameters()))
async def count_requests(request: Request) -> Response:
    """Return the number of finished requests that match the filter, and how many of them failed.

    The newest requests are counted first. If counting takes longer than 300 ms, it is stopped, and `complete` in the
    response is `false`.
    """
    filter_ = arguments.filter_of(arguments.pairs_of(request))
    async_reader = async_reader_of(request)
    deadline_ns = async_reader.deadline_ns()

    def query(reader: Reader) -> RequestCount:
        count = reader.count(filter_, count_deadline_ns(deadline_ns))
        return RequestCount(
            requests=count.requests,
            failed=count.failed,
            last_at=None if count.last_at is None else format_timestamp(count.last_at),
            complete=count.complete,
        )

    return Response(msgspec.json.encode(await async_reader.run(query)), media_type="application/json")


def count_deadline_ns(deadline_ns: int) -> int:
    """Return the deadline (monotonic clock) of a count that starts now.

    The deadline is COUNT_NS from now, but not after ``deadline_ns``.
    """
    return min(deadline_ns, clock.monotonic_ns() + COUNT_NS)
