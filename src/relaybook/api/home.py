"""Answers the two addresses people try first or by mistake: ``/``, and the relay's ``/v1`` on this port."""

from html import escape
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from relaybook.api.options import options_of
from relaybook.api.routes import Routes

routes = Routes()

_METHODS: Final = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_PLAIN: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Relaybook</title>
<h1>Relaybook {version}</h1>
<p>This listener reads the request log. The relay listens on <code>{relay_base_url}</code>: set your client's base URL
to that.</p>
<p>The page that shows the log was not built here. In the checkout: <code>make page</code>, and start again. Until then,
the log as JSON:</p>
<ul>
<li><a href="{prefix}/api/requests">The latest requests</a></li>
<li><a href="{prefix}/api/namespaces">Namespaces</a></li>
<li><a href="{prefix}/api/status">Status</a></li>
<li><a href="{prefix}/openapi.json">The API, described</a></li>
</ul>
</html>
"""


@routes.undocumented("/", ["GET", "HEAD"])
async def home(request: Request) -> Response:
    """Leads to the log. Not for ever: another page may come first one day."""
    if options_of(request).page is None:
        return plain(request)
    query = request.scope["query_string"].decode("latin-1")
    return RedirectResponse(f"{request.state.prefix}/requests{'?' if query else ''}{query}", 307)


@routes.undocumented("/v1", _METHODS)
@routes.undocumented("/v1/{path:path}", _METHODS)
async def wrong_listener(request: Request) -> Response:
    """Tells a client that was pointed at the wrong port where the relay is, in the shape its SDK reads."""
    url = options_of(request).relay_base_url
    message = f"This is the dashboard; the relay listens on {url}. Set your base URL to that."
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": "not_found"}
    return Response(msgspec.json.encode({"error": error}), 404, media_type="application/json")


def plain(request: Request) -> Response:
    """What is shown instead of a page that was not built: no script, no style, links that work below a sub-path."""
    options = options_of(request)
    told = {"version": options.version, "relay_base_url": options.relay_base_url, "prefix": request.state.prefix}
    return Response(_PLAIN.format_map({name: escape(text) for name, text in told.items()}), media_type="text/html")
