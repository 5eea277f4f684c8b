"""Convert a record to an API row, and describe the result of the request in a short text.

The dashboard and the command line show the same text.
"""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from relaybook.clock import format_timestamp
from relaybook.log.finish_reasons import Finish, finish_of
from relaybook.log.numbers import DERIVED
from relaybook.log.record import TIMESTAMPS, Record

Tone = Literal["running", "good", "bad", "neutral"]
Code = Literal[
    "running",
    "complete",
    "tool_calls",
    "truncated",
    "filtered",
    "bad_request",
    "unauthorized",
    "payment_required",
    "forbidden",
    "not_found",
    "request_timeout",
    "conflict",
    "too_large",
    "unprocessable",
    "rate_limited",
    "server_error",
    "bad_gateway",
    "unavailable",
    "gateway_timeout",
    "overloaded",
    "error",
    "incomplete",
    "unexpected_body",
    "error_in_response",
    "upstream_unreachable",
    "upstream_timeout",
    "upstream_reset",
    "upstream_protocol_error",
    "upstream_stream_interrupted",
    "upstream_failed",
    "client_disconnected",
    "relay_stopped",
    "log_failed",
    "refused",
]


class Result(msgspec.Struct, frozen=True):
    """The result of a request, for people and for programs."""

    code: Annotated[Code, Meta(description="Code of the result, for programs. More codes may be added.")]
    text: Annotated[str, Meta(description="The result in a few words, such as `200` or `429 rate limited`.")]
    tone: Annotated[
        Tone,
        Meta(
            description="How the dashboard shows the result. `neutral` means that the client disconnected early, or "
            "that the upstream answered a `HEAD` request with 404 or 405."
        ),
    ]


#: Codes and texts of the ``Result`` for error responses from the upstream, by status. Any status that is not listed has
#: the code ``error``.
ERROR_STATUSES: Final[dict[int, tuple[Code, str]]] = {
    400: ("bad_request", "bad request"),
    401: ("unauthorized", "unauthorized"),
    402: ("payment_required", "payment required"),
    403: ("forbidden", "forbidden"),
    404: ("not_found", "not found"),
    405: ("error", "method not allowed"),
    408: ("request_timeout", "request timeout"),
    409: ("conflict", "conflict"),
    413: ("too_large", "too large"),
    422: ("unprocessable", "unprocessable"),
    429: ("rate_limited", "rate limited"),
    500: ("server_error", "server error"),
    502: ("bad_gateway", "bad gateway"),
    503: ("unavailable", "unavailable"),
    504: ("gateway_timeout", "gateway timeout"),
    529: ("overloaded", "overloaded"),
}
#: A HEAD request with one of these statuses has not failed. Claude Code sends HEAD to the base URL at its start, to
#: open a connection, and any answer does.
PROBE_STATUSES: Final = (404, 405)
#: Texts of the ``Result`` for upstream failures, by error code. The code of the ``Result`` is the error code.
UPSTREAM_FAILURES: Final[dict[Code, str]] = {
    "upstream_unreachable": "upstream unreachable",
    "upstream_timeout": "upstream timeout",
    "upstream_reset": "connection closed by upstream",
    "upstream_protocol_error": "invalid upstream response",
    "upstream_stream_interrupted": "stream interrupted by upstream",
}
#: Codes and texts of the ``Result`` for complete responses, by the meaning of their finish reason.
FINISHES: Final[dict[Finish, tuple[Code, str]]] = {
    "tool_calls": ("tool_calls", "tool calls"),
    "token_limit": ("truncated", "cut at token limit"),
    "context_window": ("truncated", "cut at token limit"),
    "filtered": ("filtered", "content filter"),
}
#: Codes of the ``Result`` for responses that ended without an error but cannot be used, by error code.
UNUSABLE_RESPONSES: Final[dict[str, Code]] = {
    "stream_incomplete": "incomplete",
    "not_json": "unexpected_body",
    "not_understood": "unexpected_body",
}
#: Error codes of requests for which the journal could not be written. The response was cut off, or continued without
#: being logged.
LOG_ERRORS: Final = ("log_unavailable", "log_incomplete")
_RUNNING: Final = Result("running", "Running", "running")
_CLIENT_DISCONNECTED: Final = Result("client_disconnected", "Client disconnected", "neutral")
_RELAY_STOPPED: Final = Result("relay_stopped", "Relay stopped", "bad")
_LOG_FAILED: Final = Result("log_failed", "Log failed", "bad")


def result_of(record: Record) -> Result:
    """Return the result of a finished or running request.

    The filter ``result`` selects requests by the code of the result.
    """
    status = record.status
    match record.outcome:
        case "open":
            return _RUNNING
        case "client_closed" if not record.failed:
            return _CLIENT_DISCONNECTED
        case "interrupted":
            return _LOG_FAILED if record.error_code in LOG_ERRORS else _RELAY_STOPPED
        case "refused":
            return Result("refused", f"{status} refused" if status else "Refused", "bad")
        case "upstream_failed":
            return _upstream_failure(record.error_code, status)
    if status is not None and status >= 400:
        code, text = ERROR_STATUSES.get(status, ("error", "error"))
        return Result(code, f"{status} {text}", "bad" if record.failed else "neutral")
    if record.failed:
        return _failed_response(record)
    finish = finish_of(record.finish_reason)
    if finish is None:
        return Result("complete", str(status), "good")
    code, text = FINISHES[finish]
    return Result(code, f"{status} · {text}", "good")


def _failed_response(record: Record) -> Result:
    """Return the result of a failed request whose status is not an error."""
    code = UNUSABLE_RESPONSES.get(record.error_code or "", "error_in_response")
    if code == "incomplete":
        is_empty = record.response_bytes == 0 and not record.stream
        name = "Stream" if record.stream else "Response"
        return Result(code, "Empty response" if is_empty else f"{name} ended early", "bad")
    texts = {"not_json": "not JSON", "not_understood": "unexpected response"}
    text = texts.get(record.error_code or "", "error in response")
    return Result(code, f"{record.status} · {text}" if record.status else text[0].upper() + text[1:], "bad")


def _upstream_failure(error_code: str | None, status: int | None) -> Result:
    """Return the result of a failed upstream request.

    If Relaybook sent an error response because the upstream was unreachable or timed out, the text begins with the
    status of this response.
    """
    code, text = next(
        (failure for failure in UPSTREAM_FAILURES.items() if failure[0] == error_code),
        ("upstream_failed", "upstream failed"),
    )
    is_ours = status is not None and status >= 500 and code in ("upstream_unreachable", "upstream_timeout")
    return Result(code, f"{status} {text}" if is_ours else text[0].upper() + text[1:], "bad")


def to_json(record: Record) -> dict[str, Any]:
    """Return a record as the API shows it.

    The row has every field by name, timestamps as RFC 3339 text, the derived numbers, and the result.
    """
    row: dict[str, Any] = msgspec.to_builtins(record)
    for name in TIMESTAMPS:
        if row[name] is not None:
            row[name] = format_timestamp(row[name])
    for feedback in row["feedback"]:
        feedback["at"] = format_timestamp(feedback["at"])
    for name, derive in DERIVED.items():
        number = derive(record)
        row[name] = None if number is None else round(number, 4)
    row["result"] = msgspec.to_builtins(result_of(record))
    return row
