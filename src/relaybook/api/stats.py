"""Adds requests up over time, for charts: the log's filters, buckets from a minute to a day, parted by a field."""

from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook import clock
from relaybook.api import arguments, document
from relaybook.api.reading import reading_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import Aggregate, Percentiles, StatsGroup, StatsPoint, StatsResponse, StatsRest
from relaybook.clock import format_timestamp
from relaybook.log.aggregate.aggregates import Aggregates, Distribution, PackedAggregates, percentiles
from relaybook.log.aggregate.stats import BUCKETS, FIELDS, Group, Stats, parse_question

routes = Routes("log")

_PARTS: Final = ("bucket", "by")
#: The last moment that can be written; the bucket it is in ends behind it.
_LAST_US: Final = 253_402_300_799_999_999
_PARAMETERS = [
    document.parameter(
        "bucket",
        "Size of a bucket in seconds. Default: a size that gives about 120 buckets.",
        {"type": "integer", "enum": list(BUCKETS)},
    ),
    document.parameter("by", f"Group by {', '.join(f'`{name}`' for name in FIELDS)} or `property.<name>`."),
]


@routes.get("/api/stats", document.reads(StatsResponse, [*document.filter_parameters(), *_PARAMETERS]))
async def add_up_requests(request: Request) -> Response:
    """Return aggregates of finished requests over time, by start time. Without `from`, since the beginning of the log.

    Aggregates are precomputed for all requests, and per outcome, model, namespace (at most 256, none that looks like
    an id) and property (with at most 64 values). A query that uses two fields, or another one, in filters or `by` is
    computed from the records within 2 seconds; use a shorter time range if it takes longer. With `by=namespace`, all
    namespaces without precomputed aggregates are in `other`.
    """
    taken, rest = arguments.take(arguments.pairs_of(request), *_PARTS)
    question = parse_question(arguments.wanted_of(rest, *_PARTS), taken.get("bucket"), taken.get("by"), clock.wall_us())
    reading = reading_of(request)
    deadline_ns = reading.deadline_ns()
    found = await reading.ask(lambda reader: _answer(reader.stats(question, deadline_ns), question.by))
    return Response(msgspec.json.encode(found), media_type="application/json")


def _answer(found: Stats, by: str | None) -> StatsResponse:
    timestamps = _Timestamps()
    return StatsResponse(
        bucket_seconds=found.span.bucket_us // 1_000_000,
        from_=format_timestamp(found.span.from_us),
        to=format_timestamp(min(found.span.to_us, _LAST_US)),
        groups=[
            StatsGroup(
                by={} if by is None else {by: group.value}, points=_points(group, timestamps), total=sum_of(group.total)
            )
            for group in found.groups
        ],
        other=None
        if found.other is None
        else StatsRest(points=_points(found.other, timestamps), total=sum_of(found.other.total)),
        total=sum_of(found.total),
        source=found.source,
    )


class _Timestamps(dict[int, str]):
    """Texts of moments: every group has the same ones."""

    def __missing__(self, at: int) -> str:
        text = self[at] = format_timestamp(at)
        return text


def _points(group: Group, timestamps: _Timestamps) -> list[StatsPoint]:
    return [StatsPoint(at=timestamps[at], **_figures(sums)) for at, sums in sorted(group.points.items())]


def sum_of(sums: Aggregates) -> Aggregate:
    """The sums as the API writes them."""
    return Aggregate(**_figures(sums))


def _figures(sums: Aggregates | PackedAggregates) -> dict[str, Any]:
    return {
        "requests": sums.requests,
        "failed": sums.failed,
        "input_tokens": sums.input_tokens,
        "output_tokens": sums.output_tokens,
        "cost_usd": round(sums.cost_usd, 10) if sums.costed else None,
        "duration_ms": _percentiles(sums.duration),
        "first_token_ms": _percentiles(sums.first_token),
    }


def _percentiles(found: Distribution | msgspec.Raw) -> Percentiles:
    p50, p95, p99 = percentiles(found, 0.5, 0.95, 0.99)
    return Percentiles(p50=p50, p95=p95, p99=p99)
