"""Every refusal of the API: its code, its status, and the one shape they are all written in."""

import logging
from typing import Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relaybook.log.query.filters import BadFilter
from relaybook.log.store.errors import DeadlinePassed, StoreTooNew, StoreUnavailable

_log = logging.getLogger("relaybook.api")

#: Code → (HTTP status, what it means).
CODES: Final[dict[str, tuple[int, str]]] = {
    "bad_parameter": (400, "A query parameter, path segment or header is unknown or malformed. `param` names it."),
    "bad_body": (400, "The request body is not the JSON object this endpoint expects."),
    "not_signed_in": (401, "The dashboard has a token, and the request has neither the token nor a valid cookie."),
    "wrong_token": (401, "The token sent to `POST /api/session` is wrong."),
    "cross_site": (403, "A page of another origin tried to change data."),
    "not_found": (404, "No endpoint has this path, or no request has this id."),
    "no_bodies": (404, "The request was logged without bodies."),
    "expired": (404, "The body is no longer stored."),
    "still_running": (404, "The request is still running. Its bodies are available when it has ended."),
    "method_not_allowed": (405, "The path does not support this method."),
    "body_timeout": (408, "The request body did not arrive in time."),
    "body_too_large": (413, "The request body is larger than 64 KiB."),
    "not_json": (415, "The `Content-Type` is not `application/json`."),
    "wrong_host": (421, "`Host` is neither a loopback name nor the host of `--dashboard-url`."),
    "not_decodable": (422, "The body's content encoding cannot be decoded. `?as=sent` returns the encoded bytes."),
    "internal": (500, "A defect in Relaybook. The server's log on standard error has the details."),
    "deadline": (503, "The query exceeded its deadline. Use a shorter time range or a narrower filter."),
    "store_unavailable": (503, "The store could not be read or written."),
    "too_many_streams": (503, "Too many live connections are open."),
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
