"""Lets a request in or refuses it: one wrapper around the whole application, deny by default.

Checked in this order: Host, Origin, token, body. The health paths skip all of it (cluster probes come by address and
without a token); ``/v1``, signing in and the page's own files need no token. Every other path does, also paths that do
not exist, so that a route added later cannot be forgotten. A browser without it is shown the form that asks for it.
"""

import asyncio
import hashlib
import hmac
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relaybook import clock
from relaybook.api import pages
from relaybook.api.errors import ApiError, error_response
from relaybook.api.options import LOOPBACK_NAMES, ApiOptions
from relaybook.api.pages import is_navigation

COOKIE: Final = "relaybook_session"
LIFETIME_SECONDS: Final = 30 * 86400
_VALUE = re.compile(r"(\d{1,12})\.([0-9a-f]{64})", re.ASCII)


def is_token(sent: bytes, token: str) -> bool:
    """Whether the bytes are the token; takes the same time for every wrong one."""
    return hmac.compare_digest(hashlib.sha256(sent).digest(), hashlib.sha256(token.encode()).digest())


def make_session(token: str, now_seconds: int) -> str:
    """A cookie's value that is good for LIFETIME_SECONDS."""
    expiry = now_seconds + LIFETIME_SECONDS
    return f"{expiry}.{_proof(token, expiry)}"


def is_session(value: str, token: str, now_seconds: int) -> bool:
    """Whether the cookie was made with this token and has not expired."""
    found = _VALUE.fullmatch(value)
    if found is None:
        return False
    is_ours = hmac.compare_digest(found[2], _proof(token, int(found[1])))
    return is_ours and int(found[1]) > now_seconds


def cookie_values(cookie_headers: Iterable[str]) -> list[str]:
    """The values of our cookie in ``Cookie`` headers; browsers send several when their paths differ."""
    pairs = (part.strip().partition("=") for header in cookie_headers for part in header.split(";"))
    return [value for name, _, value in pairs if name == COOKIE]


def set_cookie(value: str, max_age_seconds: int, prefix: str, is_secure: bool) -> str:
    """The ``Set-Cookie`` header; an age of 0 signs out."""
    flags = f"{COOKIE}={value}; Path={prefix or '/'}; Max-Age={max_age_seconds}; HttpOnly; SameSite=Strict"
    return flags + ("; Secure" if is_secure else "")


def _proof(token: str, expiry: int) -> str:
    return hmac.new(token.encode(), f"relaybook session:{expiry}".encode(), hashlib.sha256).hexdigest()


_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?", re.ASCII)


def host_name(host: str) -> str | None:
    """The name in a Host header, lower case, without its port; None for anything that is not a host."""
    found = _HOST.fullmatch(host)
    return found[1].lower() if found else None


def is_host_allowed(host: str, options: ApiOptions) -> bool:
    """Whether the Host is a loopback name or the outside address's, with any port."""
    name = host_name(host)
    return name is not None and (name in LOOPBACK_NAMES or name == options.outside_host)


def is_origin_allowed(origin: str | None, fetch_site: str | None, host: str, options: ApiOptions) -> bool:
    """Whether a request that changes something comes from our own page or from no web page at all.

    Browsers send ``Sec-Fetch-Site`` or at least ``Origin``; programs send neither. A page on another port of the same
    host is another origin. A proxy may have replaced the Host, so the outside address's origin counts as ours too.
    """
    if fetch_site is not None and fetch_site not in ("same-origin", "none"):
        return False
    if origin is None:
        return True
    if options.dashboard_url is not None and origin.lower() == _origin(options.dashboard_url):
        return True
    return origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")


def _origin(url: str) -> str:
    parts = urlsplit(url.lower())
    port = "" if parts.port in (None, {"http": 80, "https": 443}[parts.scheme]) else f":{parts.port}"
    host = parts.hostname or ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}"


HEALTH_PATHS: Final = frozenset({"/healthz", "/readyz"})
SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
BODY_METHODS: Final = frozenset({"POST", "PUT", "PATCH"})
MAX_BODY_BYTES: Final = 64 * 1024
BODY_SECONDS: Final = 10.0


class Guard:
    """The wrapper. Leaves in ``scope["state"]["prefix"]`` the sub-path the reader's browser sees before our paths."""

    def __init__(self, app: ASGIApp, options: ApiOptions) -> None:
        self._app = app
        self._options = options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http":
            await self._answer(self._without_prefix(scope), receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            receive = await self._admit(scope, receive)
        except ApiError as refusal:
            await self._refused(refusal, scope)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refused(self, refusal: ApiError, scope: Scope) -> Response:
        page = self._options.page
        if page and refusal.code == "not_signed_in" and is_navigation(scope):
            return pages.sign_in(page, scope["state"]["prefix"])
        return error_response(refusal)

    async def _admit(self, scope: Scope, receive: Receive) -> Receive:
        """Raises ApiError or gives the ``receive`` to go on with: a body is read whole, within its limits."""
        path, method, headers = scope["path"], scope["method"], Headers(scope=scope)
        if path in HEALTH_PATHS:
            return receive
        host = self._checked_host(headers)
        if method not in SAFE_METHODS:
            self._check_origin(headers, host)
        if path == "/v1" or path.startswith("/v1/"):
            return receive
        is_signing_in = path == "/api/session" and method == "POST"
        is_file_of_page = path.startswith("/assets/") and method in SAFE_METHODS
        if not (is_signing_in or is_file_of_page):
            self._check_token(headers)
        return await _whole_body(headers, receive) if method in BODY_METHODS else receive

    def _without_prefix(self, scope: Scope) -> Scope:
        """The request as if there were no sub-path: a proxy may pass it on or cut it off."""
        prefix, path = self._options.prefix, scope["path"]
        has_prefix = bool(prefix) and (path == prefix or path.startswith(prefix + "/"))
        hosts = Headers(scope=scope).getlist("host")
        is_loopback = bool(hosts) and host_name(hosts[0]) in LOOPBACK_NAMES
        state = {**scope.get("state", {}), "prefix": prefix if has_prefix or not is_loopback else ""}
        return {**scope, "state": state, "path": (path[len(prefix) :] or "/") if has_prefix else path}

    def _checked_host(self, headers: Headers) -> str:
        hosts = headers.getlist("host")
        host = hosts[0] if len(hosts) == 1 else ""
        if not is_host_allowed(host, self._options):
            raise ApiError(
                "wrong_host",
                f"The Host {host[:80]!r} is not one this dashboard answers to. If people are to reach it by that name,"
                f" add --dashboard-url http://{host[:80] or 'name'} (or https://…) and start again.",
                "Host",
            )
        return host

    def _check_origin(self, headers: Headers, host: str) -> None:
        if not is_origin_allowed(headers.get("origin"), headers.get("sec-fetch-site"), host, self._options):
            raise ApiError(
                "cross_site",
                "This request comes from a web page of another origin. If the dashboard is reached by another address,"
                " add --dashboard-url with that address.",
                "Origin",
            )

    def _check_token(self, headers: Headers) -> None:
        token = self._options.token
        if token is None:
            return
        sent = headers.getlist("authorization")
        scheme, _, sent_token = (sent[0] if len(sent) == 1 else "").partition(" ")
        if scheme.lower() == "bearer" and is_token(sent_token.strip().encode("latin-1"), token):
            return
        now_seconds = clock.wall_us() // 1_000_000
        cookies = cookie_values(headers.getlist("cookie"))
        if any(is_session(value, token, now_seconds) for value in cookies[:10]):
            return
        raise ApiError(
            "not_signed_in",
            "This dashboard wants its token: send Authorization: Bearer <token>, or sign in with"
            ' POST /api/session {"token": "<token>"}.',
        )


async def _whole_body(headers: Headers, receive: Receive) -> Receive:
    """Reads a JSON body of at most MAX_BODY_BYTES and gives a ``receive`` that tells it again."""
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise ApiError("not_json", "Send the body with Content-Type: application/json.", "Content-Type")
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while (message := await receive())["type"] == "http.request":
                body += message.get("body", b"")
                if len(body) > MAX_BODY_BYTES:
                    raise ApiError("body_too_large", f"The body is over {MAX_BODY_BYTES} bytes.")
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        raise ApiError("body_timeout", f"The body did not arrive within {BODY_SECONDS:.0f} seconds.") from None
    told = False

    async def tell_again() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": bytes(body), "more_body": False}

    return tell_again
