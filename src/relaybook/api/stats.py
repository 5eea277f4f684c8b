"""Return aggregates over time of the requests that match a filter, for charts.

Buckets last from a minute to a day. Requests can be grouped by a field.
"""

from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook import clock
from relaybook.api import arguments, openapi
from relaybook.api.reading import async_reader_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import Aggregate, Percentiles, StatsGroup, StatsPoint, StatsResponse, StatsRest
from relaybook.clock import format_timestamp
from relaybook.log.aggregate.aggregates import Aggregates, Distribution, PackedAggregates, percentiles
from relaybook.log.aggregate.stats import BUCKETS, FIELDS, Group, Stats, parse_stats_query
from relaybook.log.query.term_values import FIRST_US, LAST_US

routes = Routes("log")

_GROUPING: Final = ("bucket", "by")
_PARAMETERS = [
    openapi.parameter(
        "bucket",
        "Size of a bucket in seconds. Default: a size that gives about 120 buckets.",
        {"type": "integer", "enum": list(BUCKETS)},
    ),
    openapi.parameter("by", f"Group by {', '.join(f'`{name}`' for name in FIELDS)} or `property.<name>`."),
]


@routes.get("/api/stats", openapi.describe(StatsResponse, [*openapi.filter_parameters(), *_PARAMETERS]))
async def get_stats(request: Request) -> Response:
    """Return aggregates of finished requests over time. A request is counted at the time at which it started.

    The time range consists of whole buckets. If `from` or `to` lies within a bucket, all requests of this bucket are
    counted, also those before `from` or after `to`. `from` and `to` in the response are the bounds of the counted
    range. Without `from`, the time range starts at the bucket of the first request in the log. To count the requests
    of an exact time range, use `GET /api/count`.

    If the log is in the data directory, aggregates are precomputed for all requests together, and for each
    value of these fields:

    - the outcome
    - the model, but only for the first 256 models that were recorded
    - the namespace, but only for the first 256 recorded namespaces whose names do not look like ids
    - each of the first 64 properties that were recorded, if the property has at most 64 values

    The precomputed aggregates are used if `by` and the filters together use no field, or only one field of this list.
    They are not used with filters that exclude requests (`not.`) or match a prefix (`begins.`).

    In all other cases, the aggregates are computed from the records. If this computation takes longer than 2 seconds,
    the call fails with `deadline`. In that case, use a shorter time range.

    If `by=namespace` or `by=model` uses precomputed aggregates, `other` includes the requests whose namespace or model
    has no precomputed aggregates.

    `by=label` groups requests by the label in their feedback. If a request has several labels, the latest one counts.
    """
    grouping, rest = arguments.take(arguments.pairs_of(request), *_GROUPING)
    query = parse_stats_query(
        arguments.filter_of(rest, *_GROUPING), grouping.get("bucket"), grouping.get("by"), clock.wall_us()
    )
    async_reader = async_reader_of(request)
    deadline_ns = async_reader.deadline_ns()
    response = await async_reader.run(lambda reader: _stats_response(reader.stats(query, deadline_ns), query.by))
    return Response(msgspec.json.encode(response), media_type="application/json")


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
    return {
        "requests": aggregates.requests,
        "failed": aggregates.failed,
        "input_tokens": aggregates.input_tokens,
        "output_tokens": aggregates.output_tokens,
        "cost_usd": round(aggregates.cost_usd, 10) if aggregates.costed else None,
        "duration_ms": _percentiles(aggregates.duration),
        "first_token_ms": _percentiles(aggregates.first_token),
    }


def _percentiles(distribution: Distribution | msgspec.Raw) -> Percentiles:
    p50, p95, p99 = percentiles(distribution, 0.5, 0.95, 0.99)
    return Percentiles(p50=p50, p95=p95, p99=p99)
