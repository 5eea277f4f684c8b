"""The shapes of what /api/stats answers; see ``answers`` for what all shapes share."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from relaybook.api.fields import MomentText


class Percentiles(Struct, kw_only=True):
    """Milliseconds below which 50, 95 and 99 percent lie, right within 5 %; null: none was measured."""

    p50: float | None
    p95: float | None
    p99: float | None


class Sum(Struct, kw_only=True):
    """Requests added up."""

    requests: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost_usd: Annotated[float | None, Meta(description="Of the requests whose cost is known; null: of none it is.")]
    duration_ms: Percentiles
    first_token_ms: Percentiles


class StatsPoint(Sum, kw_only=True):
    """One bucket's requests; a bucket without any is left out."""

    at: Annotated[MomentText, Meta(description="When the bucket begins.")]


class StatsRest(Struct, kw_only=True):
    """The requests beyond the 20 largest groups, or that cannot be told apart."""

    points: list[StatsPoint]
    total: Sum


class StatsGroup(Struct, kw_only=True):
    """The requests with one value of the field asked for by `by`."""

    by: Annotated[
        dict[str, str | None],
        Meta(description="The field and its value; null: requests without one. Empty without `by`."),
    ]
    points: list[StatsPoint]
    total: Sum


class StatsAnswer(Struct, kw_only=True):
    """Requests added up over time; the span is widened to whole buckets."""

    bucket_seconds: int
    from_: Annotated[MomentText, Meta(description="When the first bucket begins.")] = field(name="from")
    to: Annotated[MomentText, Meta(description="When the last bucket ends.")]
    groups: Annotated[list[StatsGroup], Meta(description="The largest first, at most 20.")]
    other: StatsRest | None
    total: Sum
    source: Annotated[
        Literal["rollups", "log"], Meta(description="Whether sums were ready, or the log itself was added up.")
    ]
