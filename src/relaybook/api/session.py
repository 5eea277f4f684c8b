"""Signs a browser in and out: the token for a cookie."""

import msgspec
from fastapi import Request, Response

from relaybook import clock
from relaybook.api import credentials, document, query
from relaybook.api.answers import Session, SignIn
from relaybook.api.errors import ApiError
from relaybook.api.options import options_of

router = document.section("session")

_SIGN_IN = document.reads(Session)
_SIGN_IN["openapi_extra"] |= document.takes(SignIn)


@router.post("/api/session", **_SIGN_IN)
async def sign_in(request: Request) -> Response:
    """Sets a cookie that stands for the token for 30 days. Without a token on this dashboard: nothing to do."""
    query.only(query.pairs_of(request))
    try:
        sent = msgspec.json.decode(await request.body(), type=SignIn)
    except msgspec.DecodeError as error:
        raise ApiError("bad_body", f'Send {{"token": "<the dashboard\'s token>"}}: {error}', "token") from None
    options, now_us = options_of(request), clock.wall_us()
    if options.token is None:
        return _answer(Session(expires_at=None))
    if not credentials.is_token(sent.token.encode("utf-8", "surrogatepass"), options.token):
        raise ApiError("wrong_token", "This is not the dashboard's token.", "token")
    value = credentials.make_session(options.token, now_us // 1_000_000)
    expires_at = clock.format_moment(now_us + credentials.LIFETIME_SECONDS * 1_000_000)
    return _answer(Session(expires_at=expires_at), _cookie(request, value, credentials.LIFETIME_SECONDS))


@router.delete("/api/session", **document.reads(Session))
async def sign_out(request: Request) -> Response:
    """Removes the cookie."""
    query.only(query.pairs_of(request))
    return _answer(Session(expires_at=None), _cookie(request, "", 0))


def _cookie(request: Request, value: str, age_seconds: int) -> dict[str, str]:
    is_secure = options_of(request).is_outside_https
    return {"Set-Cookie": credentials.set_cookie(value, age_seconds, request.state.prefix, is_secure)}


def _answer(session: Session, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(session), headers=headers, media_type="application/json")
