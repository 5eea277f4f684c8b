"""Lists the log's namespaces with their counters, at a cost that does not grow with the log."""

from typing import cast, get_args

import msgspec
from fastapi import Request, Response

from relaybook.api import document, query
from relaybook.api.answers import Namespace, NamespacePage
from relaybook.api.reading import reading_of
from relaybook.clock import format_moment
from relaybook.filters import BadFilter
from relaybook.stores.base import NamespaceRow, NamespaceSort

router = document.section("log")

_SORTS = get_args(NamespaceSort)
_PARAMETERS = [
    document.parameter("prefix", "The beginning of the name."),
    document.parameter("pinned", "`true`: only pinned ones; `false`: only the others.", {"type": "boolean"}),
    document.parameter("sort", "Largest of what first.", {"enum": list(_SORTS), "default": "last_at"}),
    document.limit(50),
    document.parameter("cursor", "The next_cursor of an earlier page."),
]


@router.get("/api/namespaces", **document.reads(NamespacePage, _PARAMETERS))
async def list_namespaces(request: Request) -> Response:
    """Namespaces with their counters."""
    asked = query.only(query.pairs_of(request), "prefix", "pinned", "sort", "limit", "cursor")
    limit, prefix = query.limit_of(asked), asked.get("prefix", "")
    pinned = {"true": True, "false": False}[_one_of(asked, "pinned", ("true", "false"))] if "pinned" in asked else None
    sort = cast(NamespaceSort, _one_of(asked, "sort", _SORTS) if "sort" in asked else "last_at")
    reading = reading_of(request)
    deadline_ns = reading.deadline_ns()
    rows, cursor = await reading.ask(
        lambda reader: reader.namespaces(prefix, sort, limit, asked.get("cursor"), pinned, deadline_ns)
    )
    page = NamespacePage(data=[_namespace(row) for row in rows], next_cursor=cursor)
    return Response(msgspec.json.encode(page), media_type="application/json")


def _one_of(asked: dict[str, str], name: str, choices: tuple[str, ...]) -> str:
    if asked[name] not in choices:
        raise BadFilter(name, f"{name} is {asked[name][:80]!r}: it takes one of {', '.join(choices)}.")
    return asked[name]


def _namespace(row: NamespaceRow) -> Namespace:
    return Namespace(
        namespace=row.namespace,
        requests=row.requests,
        failed=row.failed,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        cost_usd=row.cost_usd,
        first_at=format_moment(row.first_at) if row.first_at else None,
        last_at=format_moment(row.last_at) if row.last_at else None,
        pinned=row.pinned,
        color=row.color,
        group=row.group,
    )
