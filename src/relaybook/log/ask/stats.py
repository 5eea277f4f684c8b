"""Return aggregates over time of the requests that match a filter, for charts."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field
from msgspec.structs import replace

from relaybook import clock
from relaybook.clock import format_timestamp
from relaybook.log.aggregate.aggregates import Aggregates, Distribution, PackedAggregates, percentiles
from relaybook.log.aggregate.stats import Group, Stats, StatsQuery, TimeRange
from relaybook.log.ask.fields import TimestampText
from relaybook.log.query.filters import Filter, Term
from relaybook.log.query.term_values import FIRST_US, LAST_US
from relaybook.log.retention import DAY_US
from relaybook.log.store.errors import DeadlinePassed
from relaybook.log.store.port import Reader


class Percentiles(Struct, kw_only=True):
    """The 50th, 95th and 99th percentiles. `null` if nothing was measured. Durations are in milliseconds.

    A percentile is accurate to 5 %. It is never below the minimum or above the maximum of the measured values.
    """

    p50: float | None
    p95: float | None
    p99: float | None


class Aggregate(Struct, kw_only=True):
    """Aggregates of a set of requests."""

    requests: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: Annotated[
        float | None,
        Meta(description="Total cost of the requests whose cost is known. `null` if no cost is known."),
    ]
    cached_tokens: Annotated[int, Meta(description="Input tokens that were read from the provider's cache.")]
    cached_share: Annotated[
        float | None,
        Meta(
            description="`cached_tokens` as a fraction of the input tokens, from 0 to 1, of the requests whose number "
            "of cached tokens is known. `null` if there are none."
        ),
    ]
    duration_ms: Percentiles
    first_token_ms: Percentiles
    tokens_per_second: Annotated[
        Percentiles,
        Meta(description="Percentiles of `tokens_per_second`, of the requests for which it is known. The unit is 1/s."),
    ]


class StatsPoint(Aggregate, kw_only=True):
    """The aggregates of one bucket, which is a time range of `bucket_seconds`. Empty buckets are omitted."""

    at: Annotated[TimestampText, Meta(description="Start of the bucket.")]


class StatsRest(Struct, kw_only=True):
    """The aggregates of all requests that are in none of the groups."""

    points: list[StatsPoint]
    total: Aggregate


class StatsGroup(Struct, kw_only=True):
    """The aggregates of one group of requests."""

    by: Annotated[
        dict[str, str | None],
        Meta(
            description="An object with one entry. The key is the field in the parameter `by`. The value is the value "
            "of this field in the requests of the group, or `null` if they have no value. Without the parameter `by`, "
            "the object is `{}`."
        ),
    ]
    points: list[StatsPoint]
    total: Aggregate
    previous: Annotated[
        Aggregate | None,
        Meta(
            description="The aggregates of this group in the same span before. `null` if they are unknown, because the "
            "group was not among the 20 groups with the most requests then, or without `previous=true`."
        ),
    ] = None


class StatsPrevious(Struct, kw_only=True):
    """The aggregates of the span before the time range, which is as long, up to half a bucket."""

    from_: Annotated[TimestampText, Meta(description="Start of the span.")] = field(name="from")
    to: Annotated[TimestampText, Meta(description="End of the span, and start of the time range.")]
    total: Aggregate


class StatsResponse(Struct, kw_only=True):
    """Aggregates over time. The time range is extended to whole buckets."""

    bucket_seconds: int
    from_: Annotated[TimestampText, Meta(description="Start of the first bucket.")] = field(name="from")
    to: Annotated[TimestampText, Meta(description="End of the last bucket.")]
    groups: Annotated[
        list[StatsGroup],
        Meta(description="The 20 groups with the most requests, in descending order of the number of requests."),
    ]
    other: StatsRest | None
    total: Aggregate
    previous: Annotated[
        StatsPrevious | None,
        Meta(
            description="The same span before. `null` without `previous=true` or without `from`, if the log has no "
            "request from before that span, or if the aggregates could not be computed in time."
        ),
    ] = None
    source: Annotated[
        Literal["rollups", "log"],
        Meta(
            description="`rollups`: precomputed aggregates were used. `log`: the aggregates were computed from the "
            "records."
        ),
    ]


def stats(reader: Reader, query: StatsQuery, deadline_ns: int, *, with_previous: bool = False) -> StatsResponse:
    """Return aggregates over time, and with ``with_previous`` also those of the same span before.

    Raises DeadlinePassed.
    """
    found = reader.stats(query, deadline_ns)
    response = _stats_response(found, query.by)
    previous = _previous(reader, query, found.span, deadline_ns) if with_previous else None
    if previous is not None:
        response.previous = StatsPrevious(
            from_=format_timestamp(max(previous.span.from_us, FIRST_US)),
            to=format_timestamp(previous.span.to_us),
            total=aggregate_of(previous.total),
        )
        totals = {group.value: group.total for group in previous.groups}
        for group, now in zip(response.groups, found.groups, strict=True):
            # A group that is missing had no requests, unless it is one of the groups that were merged.
            total = totals.get(now.value) or (Aggregates() if previous.other is None else None)
            group.previous = None if total is None else aggregate_of(total)
    return response


def _previous(reader: Reader, query: StatsQuery, span: TimeRange, deadline_ns: int) -> Stats | None:
    """Return the aggregates of the span before ``span``, in buckets of the same length.

    ``span`` ends with a whole bucket, which can be later than now. So the previous span has as many buckets as the time
    until now, rounded.
    """
    if query.from_us is None:
        return None
    length_us = min(query.to_us, clock.wall_us()) - span.from_us
    from_us = span.from_us - max(1, round(length_us / span.bucket_us)) * span.bucket_us
    try:
        if not reader.count(Filter((Term("to", (str(from_us + 1),)),)), deadline_ns).requests:
            return None
        earlier = replace(query, from_us=from_us, to_us=span.from_us, bucket_s=span.bucket_us // 1_000_000)
        return reader.stats(earlier, deadline_ns)
    except DeadlinePassed:
        return None


def oldest_day(reader: Reader, deadline_ns: int) -> int | None:
    """Return the start of the oldest day that has aggregates, in microseconds.

    `None` if there are no aggregates, or if they cannot be read in time.
    """
    query = StatsQuery(filter_=Filter(), from_us=None, to_us=clock.wall_us(), bucket_s=DAY_US // 1_000_000)
    try:
        return min((at for group in reader.stats(query, deadline_ns).groups for at in group.points), default=None)
    except DeadlinePassed:
        return None


def _stats_response(stats: Stats, by: str | None) -> StatsResponse:
    timestamps = _Timestamps()
    return StatsResponse(
        bucket_seconds=stats.span.bucket_us // 1_000_000,
        # The first bucket can begin before FIRST_US, and the last bucket can end after LAST_US. RFC 3339 cannot express
        # these times.
        from_=format_timestamp(max(stats.span.from_us, FIRST_US)),
        to=format_timestamp(min(stats.span.to_us, LAST_US)),
        groups=[
            StatsGroup(
                by={} if by is None else {by: group.value},
                points=_points(group, timestamps),
                total=aggregate_of(group.total),
            )
            for group in stats.groups
        ],
        other=None
        if stats.other is None
        else StatsRest(points=_points(stats.other, timestamps), total=aggregate_of(stats.other.total)),
        total=aggregate_of(stats.total),
        source=stats.source,
    )


class _Timestamps(dict[int, str]):
    """A cache of formatted timestamps, because all groups have the same timestamps."""

    def __missing__(self, at: int) -> str:
        text = self[at] = format_timestamp(at)
        return text


def _points(group: Group, timestamps: _Timestamps) -> list[StatsPoint]:
    return [
        StatsPoint(at=timestamps[at], **_aggregate_fields(aggregates))
        for at, aggregates in sorted(group.points.items())
    ]


def aggregate_of(aggregates: Aggregates) -> Aggregate:
    """Convert aggregates to the model that API responses contain."""
    return Aggregate(**_aggregate_fields(aggregates))


def _aggregate_fields(aggregates: Aggregates | PackedAggregates) -> dict[str, Any]:
    cached, cacheable = aggregates.cached_tokens, aggregates.cacheable_tokens
    return {
        "requests": aggregates.requests,
        "failed": aggregates.failed,
        "input_tokens": aggregates.input_tokens,
        "output_tokens": aggregates.output_tokens,
        "cost_usd": round(aggregates.cost_usd, 10) if aggregates.costed else None,
        "cached_tokens": cached,
        "cached_share": round(min(1.0, cached / cacheable), 6) if cacheable else None,
        "duration_ms": _percentiles(aggregates.duration),
        "first_token_ms": _percentiles(aggregates.first_token),
        "tokens_per_second": _percentiles(aggregates.tokens_per_second),
    }


def _percentiles(distribution: Distribution | msgspec.Raw) -> Percentiles:
    p50, p95, p99 = percentiles(distribution, 0.5, 0.95, 0.99)
    return Percentiles(p50=p50, p95=p95, p99=p99)
