"""Build the dashboard application: the routes of the API and the page, the middleware, and the shared state."""

from collections.abc import Callable
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relaybook.api import (
    cache,
    compare,
    count,
    deletions,
    detail,
    downloads,
    errors,
    export,
    feedback,
    home,
    lanes,
    live,
    media,
    namespaces,
    openapi,
    progress,
    query,
    replay,
    requests,
    rereads,
    saved_filters,
    serve_page,
    session,
    stats,
    status,
    thread,
    values,
)
from relaybook.api.asking import AsyncAsker
from relaybook.api.auth import Guard
from relaybook.api.broadcaster import Broadcaster
from relaybook.api.live_search import SearchStreams
from relaybook.api.options import ApiOptions
from relaybook.api.routes import ApiRoute
from relaybook.log.ask.asker import Asker

#: Default headers of all responses. A header that the response already has is not replaced. For example, the page has
#: its own ``Content-Security-Policy``.
DEFAULT_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


class SecurityHeaders:
    """Outermost middleware that adds DEFAULT_HEADERS to all responses, including error responses."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in DEFAULT_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)


#: The modules that declare routes. A request is handled by the first module with a matching route. ``compare``,
#: ``media``, ``downloads`` and ``progress`` must precede ``detail``, because the route of ``detail`` also matches their
#: paths. The reason is that an id may contain slashes.
_MODULES: Final = (
    requests,
    compare,
    media,
    downloads,
    progress,
    detail,
    cache,
    feedback,
    deletions,
    replay,
    rereads,
    count,
    stats,
    thread,
    lanes,
    export,
    namespaces,
    saved_filters,
    values,
    query,
    live,
    status,
    session,
    home,
    serve_page,
)


class DashboardApi(Starlette):
    """The Starlette application and the OpenAPI document of its routes."""

    def __init__(self, options: ApiOptions) -> None:
        declared = [route for module in _MODULES for route in module.routes.declared]
        super().__init__(
            routes=[*declared, ApiRoute("/openapi.json", self._get_document, ("GET", "HEAD"))],
            exception_handlers=dict.fromkeys(errors.EXPECTED, errors.handle_error),
            middleware=[
                Middleware(SecurityHeaders),
                Middleware(Guard, options=options),
                Middleware(errors.ErrorMiddleware),
            ],
        )
        # Do not redirect a path with a trailing slash, because the path without the slash is a different path.
        self.router.redirect_slashes = False
        self.router.default = serve_page.fallback
        self._declared = declared
        self._version = options.version
        self._document: dict[str, Any] | None = None

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, which is built on the first call."""
        if self._document is None:
            self._document = openapi.build(self._declared, self._version)
        return self._document

    async def _get_document(self, request: Request) -> Response:
        return Response(msgspec.json.encode(self.openapi()), media_type="application/json")


def create_app(open_asker: Callable[[int], Asker], options: ApiOptions) -> DashboardApi:
    """Return the ASGI application.

    ``open_asker`` returns an asker for a deadline (monotonic clock). Its reader must be closed after the last request.

    On shutdown, call ``app.state.broadcaster.close()`` first. This call ends all live connections, so that the server
    does not wait for them.
    """
    app = DashboardApi(options)
    app.state.options = options
    app.state.async_asker = AsyncAsker(open_asker, options.query_seconds)
    app.state.search_streams = SearchStreams()
    app.state.broadcaster = Broadcaster(open_asker, options.poll_seconds)
    return app
