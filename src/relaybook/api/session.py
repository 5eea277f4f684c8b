"""Sign browsers in and out by exchanging the token for a cookie.

The cookie contains its expiry, signed with the token. The dashboard stores no sessions.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook import clock
from relaybook.api import arguments, openapi
from relaybook.api.errors import ApiError
from relaybook.api.options import options_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import Session, SignIn

routes = Routes("session")

COOKIE: Final = "relaybook_session"
SESSION_SECONDS: Final = 30 * 86400
_SESSION_VALUE = re.compile(r"(\d{1,12})\.([0-9a-f]{64})", re.ASCII)


@routes.post("/api/session", openapi.describe(Session, body=SignIn))
async def sign_in(request: Request) -> Response:
    """Sign in. The response sets a cookie that replaces the token for 30 days.

    If the dashboard has no token, this call does nothing.
    """
    arguments.only(arguments.pairs_of(request))
    try:
        sign_in_body = msgspec.json.decode(await request.body(), type=SignIn)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ApiError("bad_body", f'Send {{"token": "<the dashboard\'s token>"}}: {error}', "token") from None
    options, now_us = options_of(request), clock.wall_us()
    if options.token is None:
        return _response(Session(expires_at=None))
    if not is_token(sign_in_body.token.encode("utf-8", "surrogatepass"), options.token):
        raise ApiError("wrong_token", "The token is wrong. Send the dashboard's token.", "token")
    value = make_session(options.token, now_us // 1_000_000)
    expires_at = clock.format_timestamp(now_us + SESSION_SECONDS * 1_000_000)
    return _response(Session(expires_at=expires_at), _cookie(request, value, SESSION_SECONDS))


@routes.delete("/api/session", openapi.describe(Session))
async def sign_out(request: Request) -> Response:
    """Sign out. The response removes the cookie."""
    arguments.only(arguments.pairs_of(request))
    return _response(Session(expires_at=None), _cookie(request, "", 0))


def is_token(candidate: bytes, token: str) -> bool:
    """Whether the bytes are the token. The comparison takes constant time."""
    return hmac.compare_digest(hashlib.sha256(candidate).digest(), hashlib.sha256(token.encode()).digest())


def make_session(token: str, now_seconds: int) -> str:
    """Return the value of a session cookie, signed with ``token``. The value is valid for SESSION_SECONDS from now."""
    expiry = now_seconds + SESSION_SECONDS
    return f"{expiry}.{_signature(token, expiry)}"


def is_session(value: str, token: str, now_seconds: int) -> bool:
    """Whether the cookie value was made with this token and has not expired."""
    match = _SESSION_VALUE.fullmatch(value)
    if match is None:
        return False
    is_authentic = hmac.compare_digest(match[2], _signature(token, int(match[1])))
    return is_authentic and int(match[1]) > now_seconds


def cookie_values(cookie_headers: Iterable[str]) -> list[str]:
    """Return the values of all session cookies. A browser may have several, each for a different path."""
    pairs = (part.strip().partition("=") for header in cookie_headers for part in header.split(";"))
    return [value for name, _, value in pairs if name == COOKIE]


def set_cookie(value: str, max_age_seconds: int, prefix: str, is_secure: bool) -> str:
    """Return the value of a ``Set-Cookie`` header. A ``max_age_seconds`` of 0 removes the cookie."""
    flags = f"{COOKIE}={value}; Path={prefix or '/'}; Max-Age={max_age_seconds}; HttpOnly; SameSite=Strict"
    return flags + ("; Secure" if is_secure else "")


def _signature(token: str, expiry: int) -> str:
    return hmac.new(token.encode(), f"relaybook session:{expiry}".encode(), hashlib.sha256).hexdigest()


def _cookie(request: Request, value: str, age_seconds: int) -> dict[str, str]:
    is_secure = options_of(request).is_public_https
    return {"Set-Cookie": set_cookie(value, age_seconds, request.state.prefix, is_secure)}


def _response(session: Session, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(session), headers=headers, media_type="application/json")
