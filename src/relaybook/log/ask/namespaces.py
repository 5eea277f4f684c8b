"""List namespaces with their counters, and change their labels.

The store keeps the counters, so no records are read. The counters cover all time. For pinned namespaces, the requests
in a time range can be counted instead, because there are few pinned namespaces.
"""

from typing import Annotated, Final

from msgspec import Meta, Struct

from relaybook import clock
from relaybook.clock import format_timestamp
from relaybook.log.ask.count import count_deadline_ns
from relaybook.log.ask.errors import AskError
from relaybook.log.ask.fields import TimestampText
from relaybook.log.namespaces import LabelChange, Labels, NamespaceQuery, NamespaceRow, NotPinned
from relaybook.log.query.filters import Filter, Term
from relaybook.log.store.errors import StoreUnavailable
from relaybook.log.store.port import Count, Reader

_OF_ALL_TIME: Final = "`null` if only the requests of a time range are counted."


class Namespace(Struct, kw_only=True):
    """A namespace with its counters, color, group and position. Pinned namespaces are shown above the log."""

    namespace: str
    requests: int
    failed: int
    failed_share: Annotated[
        float | None,
        Meta(description="Share of failed requests, from 0 to 1. `null` if there are no requests."),
    ]
    input_tokens: Annotated[int | None, Meta(description=_OF_ALL_TIME)]
    output_tokens: Annotated[int | None, Meta(description=_OF_ALL_TIME)]
    cost_usd: Annotated[float | None, Meta(description=_OF_ALL_TIME)]
    first_at: Annotated[
        TimestampText | None,
        Meta(
            description="Start of the first request. `null` if there is none, or if only the requests of a time range "
            "are counted."
        ),
    ]
    last_at: Annotated[
        TimestampText | None, Meta(description="Start of the latest request. `null` if there are no requests.")
    ]
    pinned: bool
    color: Annotated[
        int | None, Meta(description="Number of the color, from 1 to 8. `null` if the namespace is not pinned.")
    ]
    group: Annotated[
        str | None,
        Meta(description="Name of the group. `null` if the namespace has no group or is not pinned."),
    ]
    position: Annotated[
        int | None, Meta(description="Position among the pinned namespaces. `null` if the namespace is not pinned.")
    ]


class NamespacePage(Struct, kw_only=True):
    """A page of namespaces, in descending order of `sort`."""

    data: list[Namespace]
    next_cursor: str | None
    complete: Annotated[
        bool,
        Meta(description="`false` if counting was stopped at its time limit. The true counts may be higher."),
    ]


def namespaces(
    reader: Reader, query: NamespaceQuery, limit: int, cursor: str | None, time_range: Filter, deadline_ns: int
) -> NamespacePage:
    """Return a page of namespaces.

    If ``time_range`` has terms, the requests in the time range are counted for each namespace. This count stops after
    300 ms.
    """
    rows, cursor = reader.namespaces(query, limit, cursor, deadline_ns)
    counts: list[Count | None] = [None] * len(rows)
    if time_range.terms:
        counts = _counts(reader, rows, time_range, count_deadline_ns(deadline_ns))
    return NamespacePage(
        data=[namespace_of(row, count) for row, count in zip(rows, counts, strict=True)],
        next_cursor=cursor,
        complete=all(count is None or count.complete for count in counts),
    )


def change_label(labels: Labels, change: LabelChange) -> Namespace:
    """Change the label of a namespace. Raises AskError."""
    try:
        return namespace_of(labels.change(change))
    except NotPinned as error:
        raise AskError("bad_body", str(error), "pinned") from None
    except StoreUnavailable as error:
        raise AskError("store_unavailable", f"Nothing was changed: {error} Try again.") from error


def _counts(reader: Reader, rows: list[NamespaceRow], time_range: Filter, deadline_ns: int) -> list[Count | None]:
    """Count each namespace's requests in the time range.

    Each namespace gets an equal share of the time that is left until ``deadline_ns``.
    """
    counts: list[Count | None] = []
    for counted, row in enumerate(rows):
        now_ns = clock.monotonic_ns()
        filter_ = Filter((Term("namespace", (row.namespace,)), *time_range.terms))
        counts.append(reader.count(filter_, now_ns + (deadline_ns - now_ns) // (len(rows) - counted)))
    return counts


def namespace_of(row: NamespaceRow, count: Count | None = None) -> Namespace:
    """Convert a namespace of the store to the namespace of an answer.

    ``count`` counts the namespace's requests in a time range. If ``count`` is given, it replaces the counters of
    ``row``.
    """
    last_at = count.last_at if count else row.last_at
    requests, failed = (count.requests, count.failed) if count else (row.requests, row.failed)
    return Namespace(
        namespace=row.namespace,
        requests=requests,
        failed=failed,
        failed_share=failed / requests if requests else None,
        input_tokens=None if count else row.input_tokens,
        output_tokens=None if count else row.output_tokens,
        cost_usd=None if count or row.cost_usd is None else round(row.cost_usd, 10),
        first_at=format_timestamp(row.first_at) if row.first_at and not count else None,
        last_at=format_timestamp(last_at) if last_at else None,
        pinned=row.pinned,
        color=row.color,
        group=row.group,
        position=row.position,
    )
