"""Count the requests that match a filter.

The page shows counts that stop after 300 ms, for example in the menu of a namespace. A deletion needs the exact count.
"""

from typing import Annotated, Final

from msgspec import Meta, Struct

from relaybook import clock
from relaybook.clock import format_timestamp
from relaybook.log.ask.fields import TimestampText
from relaybook.log.query.filters import Filter
from relaybook.log.store.port import Reader

#: Time limit for counting. A quick lower bound is more useful than an exact count that takes longer.
COUNT_NS: Final = 300_000_000
#: Time limit for an exact count.
EXACT_COUNT_SECONDS: Final = 10


class RequestCount(Struct, kw_only=True):
    """The number of finished requests that match a filter."""

    requests: int
    failed: int
    last_at: Annotated[
        TimestampText | None, Meta(description="Start of the latest request. `null` if no request matches.")
    ]
    complete: Annotated[
        bool, Meta(description="`false` if counting was stopped at its time limit. The true count may be higher.")
    ]


def count(reader: Reader, filter_: Filter, deadline_ns: int) -> RequestCount:
    """Return the number of finished requests that match the filter, and how many of them failed."""
    found = reader.count(filter_, deadline_ns)
    return RequestCount(
        requests=found.requests,
        failed=found.failed,
        last_at=None if found.last_at is None else format_timestamp(found.last_at),
        complete=found.complete,
    )


def exact_deadline_ns() -> int:
    """Return the deadline (monotonic clock) of an exact count that starts now."""
    return clock.monotonic_ns() + EXACT_COUNT_SECONDS * clock.NANOSECONDS


def count_deadline_ns(deadline_ns: int) -> int:
    """Return the deadline (monotonic clock) of a count that starts now.

    The deadline is COUNT_NS from now, but not after ``deadline_ns``.
    """
    return min(deadline_ns, clock.monotonic_ns() + COUNT_NS)
