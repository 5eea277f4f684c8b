"""List namespaces with their counters. The store keeps the counters, so no records are read.

The counters cover all time. For pinned namespaces, the requests in a time range can be counted instead, because there
are few pinned namespaces.
"""

from typing import Final, cast, get_args

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook import clock
from relaybook.api import arguments, openapi
from relaybook.api.count import count_deadline_ns
from relaybook.api.reading import async_reader_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import Namespace, NamespacePage
from relaybook.clock import format_timestamp
from relaybook.log.namespaces import NamespaceRow, NamespaceSort
from relaybook.log.query.filters import BadFilter, Filter, Term
from relaybook.log.store.port import Count, Reader

routes = Routes("log")

_SORTS = get_args(NamespaceSort)
_TIME_RANGE: Final = ("from", "to")
_PARAMETERS = [
    openapi.parameter("prefix", "Prefix of the name."),
    openapi.parameter(
        "pinned", "`true`: only pinned namespaces. `false`: only namespaces that are not pinned.", {"type": "boolean"}
    ),
    openapi.parameter(
        "sort",
        "Sort by this field, descending. An unknown cost comes last.",
        {"enum": list(_SORTS), "default": "last_at"},
    ),
    openapi.limit(50),
    openapi.parameter("cursor", "The `next_cursor` of an earlier response."),
    openapi.parameter("from", "Count requests that started at or after this time. Requires `pinned=true`."),
    openapi.parameter("to", "Count requests that started before this time. Requires `pinned=true`."),
]


@routes.get("/api/namespaces", openapi.describe(NamespacePage, _PARAMETERS))
async def list_namespaces(request: Request) -> Response:
    """Return namespaces with their counters, such as the number of requests.

    A namespace without requests is listed only while it is pinned. With `pinned=true` and a time range, `requests`,
    `failed` and `last_at` cover only the requests in the time range. If counting these requests takes longer than
    300 ms, it is stopped, and `complete` in the response is `false`. The time range does not change the order of the
    namespaces.
    """
    params = arguments.only(arguments.pairs_of(request), "prefix", "pinned", "sort", "limit", "cursor", *_TIME_RANGE)
    limit, prefix = arguments.limit_of(params), params.get("prefix", "")
    pinned = (
        {"true": True, "false": False}[_one_of(params, "pinned", ("true", "false"))] if "pinned" in params else None
    )
    sort = cast(NamespaceSort, _one_of(params, "sort", _SORTS) if "sort" in params else "last_at")
    time_range = _parse_time_range(params, pinned)
    async_reader = async_reader_of(request)
    deadline_ns = async_reader.deadline_ns()

    def query(reader: Reader) -> NamespacePage:
        rows, cursor = reader.namespaces(prefix, sort, limit, params.get("cursor"), pinned, deadline_ns)
        counts = (
            _counts(reader, rows, time_range, count_deadline_ns(deadline_ns))
            if time_range.terms
            else [None] * len(rows)
        )
        return NamespacePage(
            data=[namespace_of(row, count) for row, count in zip(rows, counts, strict=True)],
            next_cursor=cursor,
            complete=all(count is None or count.complete for count in counts),
        )

    return Response(msgspec.json.encode(await async_reader.run(query)), media_type="application/json")


def _parse_time_range(params: dict[str, str], pinned: bool | None) -> Filter:
    names = [name for name in _TIME_RANGE if name in params]
    if names and not pinned:
        raise BadFilter(
            names[0],
            f"{names[0]} requires pinned=true, because requests in a time range are counted only for pinned "
            "namespaces.",
        )
    return arguments.filter_of((name, params[name]) for name in names)


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


def _one_of(params: dict[str, str], name: str, choices: tuple[str, ...]) -> str:
    if params[name] not in choices:
        raise BadFilter(name, f"{name} is {params[name][:80]!r}: expected one of {', '.join(choices)}.")
    return params[name]


def namespace_of(row: NamespaceRow, count: Count | None = None) -> Namespace:
    """Convert a namespace of the store to the model that API responses contain.

    ``count`` counts the namespace's requests in a time range. If ``count`` is given, it replaces the counters of
    ``row``.
    """
    last_at = count.last_at if count else row.last_at
    return Namespace(
        namespace=row.namespace,
        requests=count.requests if count else row.requests,
        failed=count.failed if count else row.failed,
        input_tokens=None if count else row.input_tokens,
        output_tokens=None if count else row.output_tokens,
        cost_usd=None if count else row.cost_usd,
        first_at=format_timestamp(row.first_at) if row.first_at and not count else None,
        last_at=format_timestamp(last_at) if last_at else None,
        pinned=row.pinned,
        color=row.color,
        group=row.group,
        position=row.position,
    )
