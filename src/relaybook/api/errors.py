"""Define the API's errors: their codes and statuses, and the one JSON form of all error responses."""

import logging
from typing import Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from relaybook.log.ask.errors import AskError
from relaybook.log.query.filters import BadFilter
from relaybook.log.store.errors import DeadlinePassed, StoreUnavailable, UnsupportedSchema

_log = logging.getLogger("relaybook.api")

#: Code → (HTTP status, meaning).
CODES: Final[dict[str, tuple[int, str]]] = {
    "bad_parameter": (400, "A query parameter, path segment or header is unknown or malformed. `param` is its name."),
    "bad_body": (400, "The request body is not the JSON object that this endpoint expects."),
    "not_signed_in": (401, "The dashboard requires a token, and the request has neither the token nor a valid cookie."),
    "wrong_token": (401, "The token sent to `POST /api/session` is wrong."),
    "feedback_only": (403, "The request has the `feedback_token`, which only allows giving feedback."),
    "cross_site": (403, "A page of another origin tried to read or change data."),
    "not_found": (404, "No endpoint has this path, or the id or name does not exist."),
    "no_bodies": (404, "The request was logged without bodies."),
    "expired": (404, "The body is no longer stored."),
    "still_running": (404, "The request is still running. Its bodies are available when the request has ended."),
    "method_not_allowed": (405, "The path does not support this method. The header `Allow` lists its methods."),
    "request_running": (409, "The request is still running, so it cannot be deleted."),
    "wrong_count": (
        409,
        "The parameter `confirm` is wrong. It must be the number of finished requests that match the filters. "
        "`requests` in the error is the correct number.",
    ),
    "body_timeout": (408, "The request body did not arrive in time."),
    "too_many_saved_filters": (
        409,
        "The log has 100 saved filters, which is the maximum. Delete a filter that you no longer use.",
    ),
    "body_too_large": (413, "The request body is larger than 64 KiB."),
    "not_json": (415, "The `Content-Type` is not `application/json`."),
    "wrong_host": (421, "The header `Host` is neither a loopback name nor the host of `--dashboard-url`."),
    "not_decodable": (422, "The body's content encoding cannot be decoded. `?as=sent` returns the encoded bytes."),
    "too_much_feedback": (
        422,
        "The request already has feedback from 100 other sources, or 10,000 feedback entries for unknown ids are "
        "already pending.",
    ),
    "internal": (
        500,
        "An internal error occurred in Relaybook. The operator's log (standard error of the server) has the details.",
    ),
    "deadline": (503, "The query exceeded its deadline. Use a shorter time range or a narrower filter."),
    "store_unavailable": (503, "The store could not be read or written."),
    "too_many_streams": (503, "Too many connections to `GET /api/live` are open."),
}

#: A 401 response must have this header (RFC 9110 §15.5.2).
AUTHENTICATE: Final = {"WWW-Authenticate": 'Bearer realm="relaybook"'}


class ApiError(Exception):
    """An error with one of CODES. The message says what is wrong and how to fix it.

    ``param`` is the name of the offending parameter, field or header, or ``None``. For an error in the parameter ``q``,
    ``term`` is the invalid part of the query, and ``at`` is its offset in UTF-16 code units. Only ``wrong_count`` has
    ``requests``, the number of finished requests that match the filter of the deletion.
    """

    def __init__(
        self,
        code: str,
        message: str,
        param: str | None = None,
        *,
        term: str | None = None,
        at: int | None = None,
        requests: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.param = param
        self.term = term
        self.at = at
        self.requests = requests

    @property
    def status(self) -> int:
        """The HTTP status of the code."""
        return CODES[self.code][0]


def error_response(error: ApiError) -> Response:
    """Return the JSON response for an error, with the status of its code."""
    kind = "api_error" if error.status >= 500 else "invalid_request_error"
    body = {"message": str(error), "type": kind, "param": error.param, "code": error.code}
    more: dict[str, str | int | None] = {} if error.term is None else {"term": error.term, "at": error.at}
    if error.requests is not None:
        more["requests"] = error.requests
    headers = AUTHENTICATE if error.status == 401 else None
    return Response(msgspec.json.encode({"error": body | more}), error.status, headers, "application/json")


async def handle_error(request: Request, error: Exception) -> Response:
    """Convert an exception of a class in EXPECTED into an error response without internal details."""
    response = error_response(_as_api_error(error, request))
    if response.status_code == 405:  # must list the supported methods (RFC 9110 §15.5.6)
        response.headers["Allow"] = ", ".join(sorted(_methods_of_path(request)))
    return response


def _methods_of_path(request: Request) -> set[str]:
    """Return the methods of all routes that match the path. Starlette's own list has only those of one route."""
    routes: list[Route] = request.app.routes
    return {
        method for route in routes if route.matches(request.scope)[0] != Match.NONE for method in route.methods or ()
    }


#: Exceptions that handlers raise deliberately. ``ErrorMiddleware`` treats all other exceptions as bugs.
EXPECTED: Final = (ApiError, AskError, BadFilter, DeadlinePassed, StoreUnavailable, UnsupportedSchema, HTTPException)


def _as_api_error(error: Exception, request: Request) -> ApiError:
    match error:
        case ApiError():
            return error
        case AskError(code=code, field=field, requests=requests):
            return ApiError(code, str(error), field, requests=requests)
        case BadFilter(parameter=name, term=""):
            return ApiError("bad_parameter", error.advice(), name[:80])
        case BadFilter(parameter=name):
            return ApiError("bad_parameter", error.advice(), name[:80], term=error.term, at=error.at)
        case DeadlinePassed():
            return ApiError(
                "deadline",
                "The query exceeded its deadline. Use a shorter time range (from=, to=) or a narrower filter.",
            )
        case StoreUnavailable() | UnsupportedSchema():
            return ApiError(
                "store_unavailable",
                f"The log could not be read: {str(error).rstrip('.')}. Requests are still being logged.",
            )
        case HTTPException(status_code=405):
            return ApiError("method_not_allowed", f"{request.method} is not supported by this path. See /openapi.json.")
        case _:
            return ApiError("not_found", "No endpoint has this path. API paths begin with /api. See /openapi.json.")


class ErrorMiddleware:
    """Middleware that logs unexpected exceptions and responds with 500 in the API's error form.

    If the response has already started, the exception is raised again and the connection is closed.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_started = False

        async def send_and_track(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self._app(scope, receive, send_and_track)
        except Exception as failure:
            method, path, cause = scope.get("method"), scope.get("path"), failure.__cause__
            if has_started and isinstance(cause, EXPECTED):  # Starlette's error for a late exception
                _log.warning("response_cut", extra={"method": method, "path": path, "reason": str(cause)})
                raise cause from None
            _log.exception("api_failed", extra={"method": method, "path": path})
            if has_started:
                raise
            error = ApiError(
                "internal",
                "An internal error occurred. Please report it. The operator's log (standard error) has the details.",
            )
            await error_response(error)(scope, receive, send)
