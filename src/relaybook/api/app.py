"""Puts the dashboard together: routes of the API and of the page, the guard around them, and what they share."""

from typing import Any

from fastapi import FastAPI
from starlette.middleware import Middleware

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
from relaybook.api.headers import SafeHeaders
from relaybook.api.hub import Hub
from relaybook.api.live_words import Followers
from relaybook.api.options import ApiOptions
from relaybook.api.reading import Reading
from relaybook.stores.base import Reader
from relaybook.stores.labels import Labels

#: In the order they are tried: downloads before the detail, whose id may hold slashes.
_SECTIONS = (
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


class DashboardApi(FastAPI):
    """FastAPI with our own document; its interactive pages are off because they load scripts from elsewhere."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document, see ``document.build``."""
        return document.build(self)


def create_app(reader: Reader, options: ApiOptions, labels: Labels | None = None) -> DashboardApi:
    """The ASGI application. The reader stays the caller's to close, after the last request.

    Without ``labels`` nobody can change a label.

    ``app.state.hub.close()`` ends the live connections; a server that waits for its clients must call it first.
    """
    app = DashboardApi(
        title="Relaybook",
        version=options.version,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        routes=[route for section in _SECTIONS for route in section.router.routes],
        exception_handlers=dict.fromkeys(errors.EXPECTED, errors.answer_error),
        middleware=[Middleware(SafeHeaders), Middleware(Guard, options=options), Middleware(errors.Failures)],
    )
    app.router.default = pages.elsewhere
    app.state.options = options
    app.state.reading = Reading(reader, options.query_seconds)
    app.state.labels = labels
    app.state.followers = Followers()
    app.state.hub = Hub(reader, options.poll_seconds)
    return app
