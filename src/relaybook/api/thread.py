"""Return a thread: the requests of one namespace, session or property value, grouped into conversations."""

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.routes import Routes
from relaybook.log.ask.thread import Thread
from relaybook.log.query.filters import BadFilter, Cursor, Filter, Term

routes = Routes("log")

_PAGING: Final = ("limit", "cursor", "around")
#: The parameters that select a thread.
THREAD_PARAMETERS: Final = [
    openapi.parameter("namespace", "The namespace to show as a thread."),
    openapi.parameter("session", "Instead of `namespace`: the session to show as a thread."),
    openapi.parameter("property.<name>", "Instead of `namespace`: the value of one property to show as a thread."),
]
PARAMETERS: Final = [
    *THREAD_PARAMETERS,
    openapi.limit(500),
    openapi.parameter("cursor", "The `next_cursor` of an earlier response."),
    openapi.parameter(
        "around",
        "A Relaybook id. The page is centered on the request with this id. To get newer requests than those on a page, "
        "send the id of the page's last row.",
    ),
]


@routes.get("/api/thread", openapi.describe(Thread, PARAMETERS))
async def get_thread(request: Request) -> Response:
    """Return the requests of a thread, grouped into conversations.

    The first page has the latest requests of the thread. Within a page, requests are in the order in which they were
    recorded.

    Request B continues request A if B's messages begin with A's messages and A's response. The system message may be
    different, and the oldest messages may be missing in B. If B contains the responses of several requests, B continues
    the request whose response is last in B. If several requests have this response, B continues the one that was
    recorded last. Requests of different sessions never belong to one conversation. Only the requests of the page and
    the 2,000 requests before the page are compared.
    """
    page = arguments_of(request)
    result = await async_asker_of(request).run(lambda asker: asker.thread(*page))
    return Response(msgspec.json.encode(result), media_type="application/json")


def arguments_of(request: Request) -> tuple[Filter, int, Cursor | None, str | None]:
    """Return the filter of the thread, the limit, and the position of the page."""
    paging, rest = arguments.take(arguments.pairs_of(request), *_PAGING)
    limit, filter_ = arguments.limit_of(paging, 500), thread_of(arguments.filter_of(rest, *_PAGING))
    return filter_, limit, *arguments.position_of(paging, only_older=True)


def thread_of(filter_: Filter) -> Filter:
    """Return the filter, which must select a thread. Raises BadFilter."""
    other_names = [term.name for term in filter_.terms if not _selects_thread(term)]
    rule = "A thread is selected by exactly one namespace=, session= or property.<name>= parameter"
    if other_names and len(other_names) < len(filter_.terms):
        raise BadFilter(other_names[0], f"{rule}. Remove {other_names[0]}.")
    if other_names or len(filter_.terms) != 1:
        raise BadFilter("namespace", f"{rule}.")
    return filter_


def _selects_thread(term: Term) -> bool:
    is_single = len(term.values) == 1 and not term.negated and not term.prefixes
    return is_single and (term.name in ("namespace", "session") or term.name.startswith("property."))
