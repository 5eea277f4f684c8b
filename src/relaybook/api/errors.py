"""Every refusal of the API: its code, its status, and the one shape they are all written in."""

import logging
from typing import Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relaybook.filters import BadFilter
from relaybook.stores.errors import DeadlinePassed, StoreTooNew, StoreUnavailable

_log = logging.getLogger("relaybook.api")

#: Code → (HTTP status, what it means).
CODES: Final[dict[str, tuple[int, str]]] = {
    "bad_parameter": (400, "a query parameter, path part or header is unknown or malformed; `param` names it"),
    "bad_body": (400, "the request's body is not the JSON object this call takes"),
    "not_signed_in": (401, "the dashboard has a token, and the request neither sent it nor a valid cookie"),
    "wrong_token": (401, "`POST /api/session` was sent another token"),
    "cross_site": (403, "a web page of another origin tried to change something"),
    "not_found": (404, "nothing is served at this path, or no request has this id"),
    "no_bodies": (404, "the body was not stored: the request was logged without bodies"),
    "expired": (404, "the body is no longer stored"),
    "still_running": (404, "the request is still running; its bodies are served once it has ended"),
    "method_not_allowed": (405, "the path exists, but not with this method"),
    "body_timeout": (408, "the request's body did not arrive in time"),
    "body_too_large": (413, "the request's body is over 64 KiB"),
    "not_json": (415, "the request's body is not declared as application/json"),
    "wrong_host": (421, "the `Host` header is neither a loopback name nor that of `--dashboard-url`"),
    "not_decodable": (422, "the body's content coding cannot be undone here; `?as=sent` gives it as it crossed"),
    "internal": (500, "a defect of Relaybook; the operator's log has the details"),
    "deadline": (503, "the question took longer than its deadline"),
    "store_unavailable": (503, "the store could not be read, or not be changed"),
    "too_many_streams": (503, "too many live connections are open"),
}

#: What RFC 9110 §15.5.2 wants beside a 401.
AUTHENTICATE: Final = {"WWW-Authenticate": 'Bearer realm="relaybook"'}


class ApiError(Exception):
    """A refusal with one of CODES; the message says what was wrong and how to mend it."""

    def __init__(self, code: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.param = param

    @property
    def status(self) -> int:
        """The HTTP status that goes with the code."""
        return CODES[self.code][0]


def error_response(error: ApiError) -> Response:
    """The refusal as every caller of the API sees it."""
    kind = "api_error" if error.status >= 500 else "invalid_request_error"
    shape = {"message": str(error), "type": kind, "param": error.param, "code": error.code}
    headers = AUTHENTICATE if error.status == 401 else None
    return Response(msgspec.json.encode({"error": shape}), error.status, headers, "application/json")


async def answer_error(request: Request, error: Exception) -> Response:
    """Turns what a handler raised into a refusal. Internals never reach the caller."""
    return error_response(_as_api_error(error, request))


#: Exceptions a handler may raise on purpose; all others are defects and end in ``Failures``.
EXPECTED: Final = (ApiError, BadFilter, DeadlinePassed, StoreUnavailable, StoreTooNew, HTTPException)


def _as_api_error(error: Exception, request: Request) -> ApiError:
    match error:
        case ApiError():
            return error
        case BadFilter(parameter=name):
            return ApiError("bad_parameter", str(error), name[:80])
        case DeadlinePassed():
            return ApiError(
                "deadline", "The log took too long to answer: narrow the question by from=, to= or a filter."
            )
        case StoreUnavailable() | StoreTooNew():
            return ApiError(
                "store_unavailable",
                f"The log could not be read: {str(error).rstrip('.')}. Requests are still being logged.",
            )
        case HTTPException(status_code=405):
            return ApiError(
                "method_not_allowed", f"{request.method} is not served at this path; /openapi.json lists all."
            )
        case _:
            return ApiError("not_found", "Nothing is served at this path; /openapi.json lists what is.")


class Failures:
    """Answers a defect with 500 in our shape and tells the operator's log; a response already begun is broken off."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception:
            _log.exception("api_failed", extra={"method": scope.get("method"), "path": scope.get("path")})
            if begun:
                raise
            refusal = ApiError("internal", "Relaybook failed to answer; its own log has the details.")
            await error_response(refusal)(scope, receive, send)
