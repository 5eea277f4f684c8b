"""List which requests ``relaybook replay`` can replay."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.routes import Routes
from relaybook.log.ask.replay import ReplayablePage, ignored_paths
from relaybook.log.query.filters import BadFilter

routes = Routes("log")

_PARAMETERS = [
    openapi.parameter("after", "Position after which the page begins.", {"type": "integer", "minimum": 0}),
    openapi.parameter(
        "ignore",
        "Field of the JSON body that the hash of its value does not cover, such as `metadata.run_id`. Can be repeated.",
        {"type": "string"},
    ),
]


@routes.get("/api/replay", openapi.describe(ReplayablePage, [*openapi.filter_parameters(), *_PARAMETERS]))
async def list_replayable(request: Request) -> Response:
    """List the finished requests that match the filter and can be replayed, with hashes of their bodies.

    `relaybook replay` finds the logged response for a request by these hashes.
    """
    values, rest = arguments.take(arguments.pairs_of(request), "after")
    ignored = ignored_paths([value for name, value in rest if name == "ignore"])
    filter_ = arguments.filter_of([pair for pair in rest if pair[0] != "ignore"], "after", "ignore")
    after = values.get("after", "0")
    if not (after.isascii() and after.isdigit() and len(after) < 19):
        raise BadFilter("after", f"after is {after[:80]!r}: expected the number from the previous page.")
    page = await async_asker_of(request).run(lambda asker: asker.replayable(filter_, int(after), ignored))
    return Response(msgspec.json.encode(page), media_type="application/json")
