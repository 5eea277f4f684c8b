"""The models of the response of /api/stats. See ``answers`` for the rules of all models."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from relaybook.api.fields import MomentText


class Percentiles(Struct, kw_only=True):
    """The 50th, 95th and 99th percentile in milliseconds, accurate to 5 %. `null` without measurements."""

    p50: float | None
    p95: float | None
    p99: float | None


class Sum(Struct, kw_only=True):
    """Aggregates of a set of requests."""

    requests: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: Annotated[
        float | None, Meta(description="Cost of the requests whose cost is known. `null` if unknown for all of them.")
    ]
    duration_ms: Percentiles
    first_token_ms: Percentiles


class StatsPoint(Sum, kw_only=True):
    """The aggregates of one bucket. Empty buckets are omitted."""

    at: Annotated[MomentText, Meta(description="Start of the bucket.")]


class StatsRest(Struct, kw_only=True):
    """The requests that are in none of the groups."""

    points: list[StatsPoint]
    total: Sum


class StatsGroup(Struct, kw_only=True):
    """The requests that have the same value of the field `by`."""

    by: Annotated[
        dict[str, str | None],
        Meta(description="The field and its value. The value is `null` for requests without one. Empty without `by`."),
    ]
    points: list[StatsPoint]
    total: Sum


class StatsAnswer(Struct, kw_only=True):
    """Aggregates over time. The time range is extended to whole buckets."""

    bucket_seconds: int
    from_: Annotated[MomentText, Meta(description="Start of the first bucket.")] = field(name="from")
    to: Annotated[MomentText, Meta(description="End of the last bucket.")]
    groups: Annotated[list[StatsGroup], Meta(description="The 20 largest groups, largest first.")]
    other: StatsRest | None
    total: Sum
    source: Annotated[
        Literal["rollups", "log"],
        Meta(description="`rollups`: precomputed aggregates were used. `log`: they were computed from the records."),
    ]
