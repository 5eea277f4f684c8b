"""Sign browsers in and out by exchanging the token for a cookie."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from relaybook import clock
from relaybook.api import arguments, auth, openapi
from relaybook.api.errors import ApiError
from relaybook.api.options import options_of
from relaybook.api.routes import Routes
from relaybook.api.schemas import Session, SignIn

routes = Routes("session")


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
    if not auth.is_token(sign_in_body.token.encode("utf-8", "surrogatepass"), options.token):
        raise ApiError("wrong_token", "The token is wrong. Send the dashboard's token.", "token")
    value = auth.make_session(options.token, now_us // 1_000_000)
    expires_at = clock.format_timestamp(now_us + auth.SESSION_SECONDS * 1_000_000)
    return _response(Session(expires_at=expires_at), _cookie(request, value, auth.SESSION_SECONDS))


@routes.delete("/api/session", openapi.describe(Session))
async def sign_out(request: Request) -> Response:
    """Sign out. The response removes the cookie."""
    arguments.only(arguments.pairs_of(request))
    return _response(Session(expires_at=None), _cookie(request, "", 0))


def _cookie(request: Request, value: str, age_seconds: int) -> dict[str, str]:
    is_secure = options_of(request).is_public_https
    return {"Set-Cookie": auth.set_cookie(value, age_seconds, request.state.prefix, is_secure)}


def _response(session: Session, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(session), headers=headers, media_type="application/json")
