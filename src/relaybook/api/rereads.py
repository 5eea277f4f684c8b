"""Accept and list rereads. The recorder carries them out."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.errors import ApiError
from relaybook.api.options import address_of
from relaybook.api.routes import Routes
from relaybook.log.ask.rereads import RereadList, RereadRow

routes = Routes("rereads")

_REREAD_ID = openapi.parameter("id", "The id of the reread.", place="path")


@routes.post("/api/rereads", openapi.describe(RereadRow, openapi.filter_parameters(), status=202))
async def request_reread(request: Request) -> Response:
    """Read the stored bodies of all finished requests that match the filter again.

    The formats and prices of the running version replace the fields, previews and links of each request. The search and
    all counts and charts then have the new results, too. Bodies, headers, tags and feedback do not change. A request
    whose bodies are not stored any more does not change. Without a filter, all requests are read again.

    The body must be empty, but `Content-Type: application/json` is required, as for every `POST`. Example:
    `curl -X POST -H 'Content-Type: application/json' 'http://127.0.0.1:4101/api/rereads?namespace=ios'`

    `GET /api/count?exact=true` returns how many requests match. The reread is carried out in the background, and
    continues after a restart. See `GET /api/rereads/{id}`.
    """
    if await request.body():
        raise ApiError("bad_body", "The body must be empty. Write filters in the URL: /api/rereads?namespace=ios")
    filter_ = arguments.filter_of(arguments.pairs_of(request))
    by = address_of(request)
    found = await async_asker_of(request).run(lambda asker: asker.reread(filter_, by))
    return Response(msgspec.json.encode(found), 202, media_type="application/json")


@routes.get("/api/rereads", openapi.describe(RereadList))
async def list_rereads(request: Request) -> Response:
    """Return the latest 100 rereads, newest first."""
    arguments.only(arguments.pairs_of(request))
    return _json(await async_asker_of(request).run(lambda asker: asker.rereads()))


@routes.get("/api/rereads/{id}", openapi.describe(RereadRow, [_REREAD_ID]))
async def get_reread(request: Request) -> Response:
    """Return one reread."""
    arguments.only(arguments.pairs_of(request))
    reread_id: str = request.path_params["id"]
    found = await async_asker_of(request).run(lambda asker: asker.find_reread(reread_id))
    if found is None:
        raise ApiError("not_found", f"No reread has the id {reread_id[:80]!r}. See GET /api/rereads.", "id")
    return _json(found)


def _json(body: RereadRow | RereadList) -> Response:
    return Response(msgspec.json.encode(body), media_type="application/json")
