"""Serve ``/``, and return the relay's address to clients that request ``/v1`` on the dashboard's port by mistake."""

from html import escape
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from relaybook.api.options import options_of
from relaybook.api.routes import Routes

routes = Routes()

_METHODS: Final = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_NOT_BUILT: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Relaybook</title>
<h1>Relaybook {version}</h1>
<p>This is the dashboard. Use <code>{relay_base_url}</code> as the base URL in your client.</p>
<p>The dashboard page is not built. Run <code>make page</code> in the repository, then restart Relaybook. The log is
also available as JSON:</p>
<ul>
<li><a href="{prefix}/api/requests">Latest requests</a></li>
<li><a href="{prefix}/api/namespaces">Namespaces</a></li>
<li><a href="{prefix}/api/status">Status</a></li>
<li><a href="{prefix}/openapi.json">OpenAPI document</a></li>
</ul>
</html>
"""


@routes.undocumented("/", ["GET", "HEAD"])
async def home(request: Request) -> Response:
    """Redirect to the log. The redirect is temporary, because the start page may change."""
    if options_of(request).page is None:
        return page_not_built(request)
    query = request.scope["query_string"].decode("latin-1")
    return RedirectResponse(f"{request.state.prefix}/requests{'?' if query else ''}{query}", 307)


@routes.undocumented("/v1", _METHODS)
@routes.undocumented("/v1/{path:path}", _METHODS)
async def wrong_listener(request: Request) -> Response:
    """Return an error with the relay's address, in the form that OpenAI's SDKs parse."""
    url = options_of(request).relay_base_url
    message = f"This is the dashboard, not the relay. Set your base URL to {url}."
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": "not_found"}
    return Response(msgspec.json.encode({"error": error}), 404, media_type="application/json")


def page_not_built(request: Request) -> Response:
    """Return the HTML that is shown if the page is not built.

    The HTML has no scripts and no styles. If the browser needs the sub-path of ``dashboard_url``, the links include it.
    """
    options = options_of(request)
    values = {"version": options.version, "relay_base_url": options.relay_base_url, "prefix": request.state.prefix}
    return Response(
        _NOT_BUILT.format_map({name: escape(text) for name, text in values.items()}), media_type="text/html"
    )
