"""Authorize requests in one middleware around the whole application. Access is denied by default.

Checks run in this order: Host, Origin, token, body. The health paths skip all checks, because cluster probes connect by
IP address and have no token. No token is required for ``POST /api/session``, the page's assets, and ``/v1``, which only
returns the relay's address. All other paths require a token, even paths without a route, so a new route is protected
without further code. A browser that is not signed in gets the sign-in form when it opens a page. A request with the
feedback token may only give feedback, even if the dashboard has no token.
"""

import asyncio
import re
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relaybook import clock
from relaybook.api import serve_page
from relaybook.api.errors import ApiError, error_response
from relaybook.api.options import LOOPBACK_NAMES, ApiOptions
from relaybook.api.serve_page import is_navigation
from relaybook.api.session import cookie_values, is_session, is_token

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?", re.ASCII)


def host_name(host: str) -> str | None:
    """Return the host name of a Host header in lower case, without the port. `None` if the header is malformed."""
    match = _HOST.fullmatch(host)
    return match[1].lower() if match else None


def is_host_allowed(host: str, options: ApiOptions) -> bool:
    """Whether the Host is a loopback name or the host of ``dashboard_url``, with any port."""
    name = host_name(host)
    return name is not None and (name in LOOPBACK_NAMES or name == options.public_host)


def is_origin_allowed(origin: str | None, fetch_site: str | None, host: str, options: ApiOptions) -> bool:
    """Whether a state-changing request comes from the dashboard's page or from a program.

    Requests from any other web page are not allowed.

    Browsers send at least one of ``Sec-Fetch-Site`` and ``Origin``. Programs send neither header. The host and port of
    ``Origin`` must equal the Host header, so requests of a page on another port of the same host are not allowed. The
    origin of ``dashboard_url`` is also accepted, because a proxy may replace the Host header.
    """
    if fetch_site is not None and fetch_site not in ("same-origin", "none"):
        return False
    if origin is None:
        return True
    if options.dashboard_url is not None and origin.lower() == _origin(options.dashboard_url):
        return True
    return origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")


def is_reading_allowed(fetch_site: str | None, destination: str | None) -> bool:
    """Whether a request that changes nothing comes from the dashboard's page, a program, or a link on another page.

    Other web pages cannot see the responses, but could run searches and measure how long they take. Only a link has
    the destination ``document``. A frame has the destination ``iframe``.
    """
    return fetch_site in (None, "same-origin", "none") or destination == "document"


def _origin(url: str) -> str:
    parts = urlsplit(url.lower())
    port = "" if parts.port in (None, {"http": 80, "https": 443}[parts.scheme]) else f":{parts.port}"
    host = parts.hostname or ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}"


_FEEDBACK_PATH: Final = re.compile(r"/api/requests/.+/feedback", re.DOTALL)
HEALTH_PATHS: Final = frozenset({"/healthz", "/readyz"})
SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
BODY_METHODS: Final = frozenset({"POST", "PUT", "PATCH"})
MAX_BODY_BYTES: Final = 64 * 1024
BODY_SECONDS: Final = 10.0


class Guard:
    """The middleware that authorizes requests.

    The middleware also removes the sub-path of ``dashboard_url`` from the request path. ``scope["state"]["prefix"]`` is
    the sub-path that the browser needs in front of the dashboard's paths. ``scope["state"]["signed_in"]`` is true if
    the session cookie gave access.
    """

    def __init__(self, app: ASGIApp, options: ApiOptions) -> None:
        self._app = app
        self._options = options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http":
            await self._handle(self._without_prefix(scope), receive, send)

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            receive = await self._authorize(scope, receive)
        except ApiError as error:
            await self._error_response(error, scope)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _error_response(self, error: ApiError, scope: Scope) -> Response:
        page = self._options.page
        if page and error.code == "not_signed_in" and is_navigation(scope):
            return serve_page.sign_in(page, scope["state"]["prefix"])
        return error_response(error)

    async def _authorize(self, scope: Scope, receive: Receive) -> Receive:
        """Check the request and read its body.

        Returns the ``receive`` function for the application. Raises ApiError if access is denied.
        """
        path, method, headers = scope["path"], scope["method"], Headers(scope=scope)
        if path in HEALTH_PATHS:
            return receive
        host = self._checked_host(headers)
        self._check_origin(headers, host, changes_data=method not in SAFE_METHODS)
        if path == "/v1" or path.startswith("/v1/"):
            return receive
        is_signing_in = path == "/api/session" and method == "POST"
        is_asset = path.startswith("/assets/") and method in SAFE_METHODS
        if not (is_signing_in or is_asset):
            gives_feedback = method == "POST" and _FEEDBACK_PATH.fullmatch(path) is not None
            scope["state"]["signed_in"] = self._check_token(headers, gives_feedback=gives_feedback)
        return await _read_body(headers, receive) if method in BODY_METHODS else receive

    def _without_prefix(self, scope: Scope) -> Scope:
        """Return a scope in which the sub-path of ``dashboard_url`` is removed from the request path.

        If a proxy has already removed the sub-path, the path is unchanged. The new scope also has the ``state`` that
        the class docstring describes. ``signed_in`` is false until the token has been checked.
        """
        prefix, path = self._options.prefix, scope["path"]
        has_prefix = bool(prefix) and (path == prefix or path.startswith(prefix + "/"))
        hosts = Headers(scope=scope).getlist("host")
        is_loopback = bool(hosts) and host_name(hosts[0]) in LOOPBACK_NAMES
        state = {
            **scope.get("state", {}),
            "prefix": prefix if has_prefix or not is_loopback else "",
            "signed_in": False,
        }
        return {**scope, "state": state, "path": (path[len(prefix) :] or "/") if has_prefix else path}

    def _checked_host(self, headers: Headers) -> str:
        hosts = headers.getlist("host")
        host = hosts[0] if len(hosts) == 1 else ""
        if not is_host_allowed(host, self._options):
            raise ApiError(
                "wrong_host",
                f"The Host {host[:80]!r} is not allowed. To allow this name, restart Relaybook with --dashboard-url "
                f"http://{host[:80] or 'name'} (or https://…).",
                "Host",
            )
        return host

    def _check_origin(self, headers: Headers, host: str, *, changes_data: bool) -> None:
        fetch_site = headers.get("sec-fetch-site")
        is_allowed = (
            is_origin_allowed(headers.get("origin"), fetch_site, host, self._options)
            if changes_data
            else is_reading_allowed(fetch_site, headers.get("sec-fetch-dest"))
        )
        if not is_allowed:
            raise ApiError(
                "cross_site",
                "The request comes from a web page of another origin. If that page is the dashboard, set "
                "--dashboard-url to the page's address and restart Relaybook.",
                "Origin",
            )

    def _check_token(self, headers: Headers, *, gives_feedback: bool) -> bool:
        """Check the token or the session cookie. Return whether the session cookie gave access.

        The result is False if a token gave access, or if the dashboard has no token. Raises ApiError if access is
        denied. With ``gives_feedback``, the feedback token also gives access.
        """
        token, feedback_token = self._options.token, self._options.feedback_token
        authorization = headers.getlist("authorization")
        scheme, _, text = (authorization[0] if len(authorization) == 1 else "").partition(" ")
        bearer_token = text.strip().encode("latin-1") if scheme.lower() == "bearer" else None
        if feedback_token is not None and bearer_token is not None and is_token(bearer_token, feedback_token):
            if gives_feedback:
                return False
            raise ApiError(
                "feedback_only",
                "The token that was sent is the feedback token, which only allows POST /api/requests/{id}/feedback. "
                "For other calls, send the dashboard's token.",
            )
        if token is None or (bearer_token is not None and is_token(bearer_token, token)):
            return False
        now_seconds = clock.wall_us() // 1_000_000
        cookies = cookie_values(headers.getlist("cookie"))
        if any(is_session(value, token, now_seconds) for value in cookies[:10]):
            return True
        problem = "The dashboard requires a token." if bearer_token is None else "The token is wrong."
        raise ApiError(
            "not_signed_in",
            f'{problem} Send Authorization: Bearer <token>, or sign in with POST /api/session {{"token": "<token>"}}.',
        )


async def _read_body(headers: Headers, receive: Receive) -> Receive:
    """Read a JSON body of at most MAX_BODY_BYTES. Returns a ``receive`` function that delivers the body again."""
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise ApiError("not_json", "Send the body with Content-Type: application/json.", "Content-Type")
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while (message := await receive())["type"] == "http.request":
                body += message.get("body", b"")
                if len(body) > MAX_BODY_BYTES:
                    raise ApiError("body_too_large", f"The body is larger than {MAX_BODY_BYTES} bytes.")
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        raise ApiError("body_timeout", f"The body did not arrive within {BODY_SECONDS:.0f} seconds.") from None
    is_delivered = False

    async def replay() -> Message:
        nonlocal is_delivered
        if is_delivered:
            return await receive()
        is_delivered = True
        return {"type": "http.request", "body": bytes(body), "more_body": False}

    return replay
