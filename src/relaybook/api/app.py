"""Puts the dashboard together: routes of the API and of the page, the guard around them, and what they share."""

from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relaybook.api import (
    count,
    detail,
    document,
    downloads,
    errors,
    home,
    live,
    metrics,
    namespaces,
    pages,
    pinning,
    requests,
    session,
    stats,
    status,
    thread,
    values,
)
from relaybook.api.auth import Guard
from relaybook.api.broadcaster import Broadcaster
from relaybook.api.live_search import Followers
from relaybook.api.options import ApiOptions
from relaybook.api.reading import Reading
from relaybook.api.routes import ApiRoute
from relaybook.log.namespaces import Labels
from relaybook.log.store.port import Reader

#: A response that brings its own (the page's, with scripts) keeps it.
DEFAULTS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


class SafeHeaders:
    """The wrapper; outside of all others, so that refusals have the headers too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in DEFAULTS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_safely)


#: In the order they are tried: downloads before the detail, whose id may hold slashes.
_SECTIONS: Final = (
    requests,
    downloads,
    detail,
    count,
    stats,
    thread,
    namespaces,
    pinning,
    values,
    live,
    status,
    session,
    metrics,
    home,
    pages,
)


class DashboardApi(Starlette):
    """The Starlette application, with the OpenAPI document of its routes."""

    def __init__(self, options: ApiOptions) -> None:
        declared = [route for section in _SECTIONS for route in section.routes.declared]
        super().__init__(
            routes=[*declared, ApiRoute("/openapi.json", self._get_document, ("GET", "HEAD"))],
            exception_handlers=dict.fromkeys(errors.EXPECTED, errors.answer_error),
            middleware=[Middleware(SafeHeaders), Middleware(Guard, options=options), Middleware(errors.Failures)],
        )
        # A path with a slash at its end is another path, not a redirect to the one without it.
        self.router.redirect_slashes = False
        self.router.default = pages.elsewhere
        self._declared = declared
        self._version = options.version
        self._document: dict[str, Any] | None = None

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document. It is built at the first call."""
        if self._document is None:
            self._document = document.build(self._declared, self._version)
        return self._document

    async def _get_document(self, request: Request) -> Response:
        return Response(msgspec.json.encode(self.openapi()), media_type="application/json")


def create_app(reader: Reader, options: ApiOptions, labels: Labels | None = None) -> DashboardApi:
    """The ASGI application. The reader stays the caller's to close, after the last request.

    Without ``labels`` nobody can change a label.

    ``app.state.broadcaster.close()`` ends the live connections; a server that waits for its clients must call it first.
    """
    app = DashboardApi(options)
    app.state.options = options
    app.state.reading = Reading(reader, options.query_seconds)
    app.state.labels = labels
    app.state.followers = Followers()
    app.state.broadcaster = Broadcaster(reader, options.poll_seconds)
    return app
