"""Serve images and audio of stored bodies to the page.

Clients and upstreams choose these bytes, so the response makes sure that no browser runs them: the type is one of a few
types of raster images and audio, browsers must not guess another one, and as a page the response is downloaded, or
sandboxed.
"""

import re
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from relaybook.api import arguments, openapi
from relaybook.api.asking import async_asker_of
from relaybook.api.errors import ApiError
from relaybook.api.routes import Routes
from relaybook.log.record import Side

routes = Routes("log")

_SIDES: Final[dict[str, Side]] = {"request": "request", "response": "response"}
_INDEX: Final = re.compile(r"[0-9]{1,6}")
_RANGE: Final = re.compile(r"bytes=([0-9]{1,12})-([0-9]{0,12})")
_HEADERS: Final = {
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, max-age=3600",
    "Content-Disposition": "attachment",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
_PARAMETERS = [
    openapi.ANY_ID,
    openapi.parameter("side", "`request` or `response`.", {"enum": list(_SIDES)}, "path"),
    openapi.parameter("at", "Index of the message or output, from 0.", {"type": "integer"}, "path"),
    openapi.parameter("place", "Index of the part, from 0.", {"type": "integer"}, "path"),
]


@routes.get("/api/requests/{id:path}/media/{side}/{at}/{place}", openapi.describe(None, _PARAMETERS, "audio/*"))
async def get_media(request: Request) -> Response:
    """Return the bytes of an image or of audio in a message or an output. `content` of the part has this path.

    Only PNG, JPEG, GIF and WebP images, and audio that browsers can play are returned. Samples without a header are
    returned as a WAV file. A `Range` of bytes is supported, so that a player can seek.
    """
    arguments.only(arguments.pairs_of(request))
    path = request.path_params
    side = _SIDES.get(path["side"])
    if side is None or not (_INDEX.fullmatch(path["at"]) and _INDEX.fullmatch(path["place"])):
        raise ApiError("not_found", "The path must end with request or response, and two indexes, such as request/0/1.")
    at, place = int(path["at"]), int(path["place"])
    file = await async_asker_of(request).run(lambda asker: asker.media(path["id"], side, at, place))
    size = len(file.data)
    wanted = _RANGE.fullmatch(request.headers.get("range", ""))
    if wanted is None:
        return Response(file.data, media_type=file.type, headers=_HEADERS)
    start, end = int(wanted[1]), min(int(wanted[2] or size), size - 1)
    if start > end:
        return Response(status_code=416, headers=_HEADERS | {"Content-Range": f"bytes */{size}"})
    headers = _HEADERS | {"Content-Range": f"bytes {start}-{end}/{size}"}
    return Response(file.data[start : end + 1], 206, media_type=file.type, headers=headers)
