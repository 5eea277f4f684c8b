"""Return aggregates over time of the requests that match a filter, for charts.

Buckets last from a minute to a day. Requests can be grouped by a field.
"""

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook import clock
from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.routes import Routes
from relaybook.log.aggregate.stats import BUCKETS, FIELDS, parse_stats_query
from relaybook.log.ask.stats import StatsResponse
from relaybook.log.query.parameters import parse_flag

routes = Routes("log")

_GROUPING: Final = ("bucket", "by", "previous")
_PARAMETERS = [
    openapi.parameter(
        "bucket",
        "Size of a bucket in seconds. Default: a size that gives about 120 buckets.",
        {"type": "integer", "enum": list(BUCKETS)},
    ),
    openapi.parameter("by", f"Group by {', '.join(f'`{name}`' for name in FIELDS)} or `property.<name>`."),
    openapi.parameter(
        "previous",
        "`true`: also return the aggregates of the same span before the time range, to compare with it. Requires "
        "`from`.",
        {"type": "boolean"},
    ),
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
    previous = parse_flag("previous", grouping.get("previous"), default=False)
    response = await async_asker_of(request).run(lambda asker: asker.stats(query, with_previous=previous))
    return Response(msgspec.json.encode(response), media_type="application/json")
