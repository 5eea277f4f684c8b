"""Convert a record to a row of the API, with its result in a few words for people.

The page and the command line show the same words. Pure.
"""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from relaybook.clock import format_timestamp
from relaybook.log.finish_reasons import finish_of
from relaybook.log.record import TIMESTAMPS, Record

Tone = Literal["running", "good", "bad", "neutral"]


class Result(msgspec.Struct, frozen=True):
    """How a request ended, for people."""

    code: Annotated[
        Literal[
            "running",
            "complete",
            "tool_calls",
            "truncated",
            "filtered",
            "error",
            "error_in_stream",
            "upstream_unreachable",
            "upstream_timeout",
            "upstream_disconnected",
            "client_disconnected",
            "relay_stopped",
            "log_failed",
            "refused",
        ],
        Meta(description="The result, for programs. More codes may be added."),
    ]
    text: Annotated[str, Meta(description="The result in one to three words, such as `200` or `429 error`.")]
    tone: Annotated[Tone, Meta(description="How the result is shown. `neutral`: the client disconnected first.")]


_RUNNING: Final = Result("running", "running", "running")
_CLIENT_DISCONNECTED: Final = Result("client_disconnected", "client disconnected", "neutral")
_RELAY_STOPPED: Final = Result("relay_stopped", "relay stopped", "bad")
_LOG_FAILED: Final = Result("log_failed", "log failed", "bad")
#: The journal could not be written: the response was cut, or continued without a log.
_LOG_ERRORS: Final = ("log_unavailable", "log_incomplete")
_UPSTREAM_DISCONNECTED: Final = Result("upstream_disconnected", "upstream disconnected", "bad")
#: By error code.
_UPSTREAM_FAILED: Final = {
    "upstream_unreachable": Result("upstream_unreachable", "upstream unreachable", "bad"),
    "upstream_timeout": Result("upstream_timeout", "upstream timeout", "bad"),
}


def result_of(record: Record) -> Result:
    """Return the result of a finished or running request."""
    match record.outcome:
        case "open":
            return _RUNNING
        case "client_closed" if not record.failed:
            return _CLIENT_DISCONNECTED
        case "interrupted":
            return _LOG_FAILED if record.error_code in _LOG_ERRORS else _RELAY_STOPPED
        case "refused":
            return Result("refused", f"{record.status} refused" if record.status else "refused", "bad")
        case "upstream_failed":
            return _UPSTREAM_FAILED.get(record.error_code or "", _UPSTREAM_DISCONNECTED)
    status = record.status
    if record.failed and (status or 0) >= 400:
        return Result("error", f"{status} error", "bad")
    if record.failed:
        return Result("error_in_stream", f"{status} error in stream", "bad")
    match finish_of(record.finish_reason):
        case "tool_calls":
            return Result("tool_calls", f"{status} tool calls", "good")
        case "token_limit" | "context_window":
            return Result("truncated", f"{status} truncated", "good")
        case "filtered":
            return Result("filtered", f"{status} filtered", "good")
    return Result("complete", str(status), "good")


def to_json(record: Record) -> dict[str, Any]:
    """Return a record as the API shows it: every field by name, timestamps as RFC 3339 text, and its result."""
    row: dict[str, Any] = msgspec.to_builtins(record)
    for name in TIMESTAMPS:
        if row[name] is not None:
            row[name] = format_timestamp(row[name])
    row["result"] = msgspec.to_builtins(result_of(record))
    return row
