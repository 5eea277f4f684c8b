"""Lists the log's namespaces with their counters, at a cost that does not grow with the log.

The counters are those of all time. Labels, which are few, can be counted for a span of time instead.
"""

from typing import Final, cast, get_args

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook import clock
from relaybook.api import arguments, document
from relaybook.api.count import budget_ns
from relaybook.api.reading import reading_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import Namespace, NamespacePage
from relaybook.clock import format_timestamp
from relaybook.log.query.filters import BadFilter, Filter, Term
from relaybook.log.store.port import Count, NamespaceRow, NamespaceSort, Reader

routes = Routes("log")

_SORTS = get_args(NamespaceSort)
_SPAN: Final = ("from", "to")
_PARAMETERS = [
    document.parameter("prefix", "Prefix of the name."),
    document.parameter("pinned", "`true`: only labels. `false`: only other namespaces.", {"type": "boolean"}),
    document.parameter("sort", "Sort by this field, descending.", {"enum": list(_SORTS), "default": "last_at"}),
    document.limit(50),
    document.parameter("cursor", "`next_cursor` of another page."),
    document.parameter("from", "Count requests that started at or after this time. Requires `pinned=true`."),
    document.parameter("to", "Count requests that started before this time. Requires `pinned=true`."),
]


@routes.get("/api/namespaces", document.reads(NamespacePage, _PARAMETERS))
async def list_namespaces(request: Request) -> Response:
    """Return namespaces with their counters. A namespace without requests is listed while it is pinned.

    With `pinned=true` and a time range, `requests`, `failed` and `last_at` are those of the time range. Counting stops
    after 300 ms. The order does not depend on the time range.
    """
    asked = arguments.only(arguments.pairs_of(request), "prefix", "pinned", "sort", "limit", "cursor", *_SPAN)
    limit, prefix = arguments.limit_of(asked), asked.get("prefix", "")
    pinned = {"true": True, "false": False}[_one_of(asked, "pinned", ("true", "false"))] if "pinned" in asked else None
    sort = cast(NamespaceSort, _one_of(asked, "sort", _SORTS) if "sort" in asked else "last_at")
    span = _span(asked, pinned)
    reading = reading_of(request)
    deadline_ns = reading.deadline_ns()

    def question(reader: Reader) -> NamespacePage:
        rows, cursor = reader.namespaces(prefix, sort, limit, asked.get("cursor"), pinned, deadline_ns)
        counts = _counts(reader, rows, span, budget_ns(deadline_ns)) if span.terms else [None] * len(rows)
        return NamespacePage(
            data=[namespace_of(row, count) for row, count in zip(rows, counts, strict=True)],
            next_cursor=cursor,
            complete=all(count is None or count.complete for count in counts),
        )

    return Response(msgspec.json.encode(await reading.ask(question)), media_type="application/json")


def _span(asked: dict[str, str], pinned: bool | None) -> Filter:
    given = [name for name in _SPAN if name in asked]
    if given and not pinned:
        raise BadFilter(
            given[0],
            f"{given[0]} goes only with pinned=true: there may be too many other namespaces to count each for a span.",
        )
    return arguments.wanted_of((name, asked[name]) for name in given)


def _counts(reader: Reader, rows: list[NamespaceRow], span: Filter, until_ns: int) -> list[Count | None]:
    """Each namespace's requests in the span. Each may take its share of what time is left."""
    counts: list[Count | None] = []
    for done, row in enumerate(rows):
        now_ns = clock.monotonic_ns()
        wanted = Filter((Term("namespace", (row.namespace,)), *span.terms))
        counts.append(reader.count(wanted, now_ns + (until_ns - now_ns) // (len(rows) - done)))
    return counts


def _one_of(asked: dict[str, str], name: str, choices: tuple[str, ...]) -> str:
    if asked[name] not in choices:
        raise BadFilter(name, f"{name} is {asked[name][:80]!r}: it takes one of {', '.join(choices)}.")
    return asked[name]


def namespace_of(row: NamespaceRow, count: Count | None = None) -> Namespace:
    """The namespace as the API writes it; where it was counted for a span of time, with that span's figures alone."""
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
