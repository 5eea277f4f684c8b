"""Define the row of a request in answers: the types and meanings of its fields.

The OpenAPI document and the reference are generated from these definitions.
"""

from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, get_type_hints

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from relaybook.log.numbers import MIN_STREAMING_MS
from relaybook.log.record import FIELDS, TIMESTAMPS, Record
from relaybook.log.row import Result

#: RFC 3339, UTC.
TimestampText: TypeAlias = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]

MEANINGS: Final[dict[str, str]] = {
    "id": "Relaybook's id of the request (UUIDv7). The response header `Service-Request-Id` has the same id.",
    "seq": "Position in the log, from 1, in the order of recording. `null` while the request is running.",
    "started_at": "Time at which all headers of the request had arrived.",
    "ended_at": "Time at which the last byte was sent to the client, or at which the request ended early. `null` while "
    "the request is running.",
    "outcome": "How the request ended. `open`: still running. `complete`: the upstream's whole response was relayed "
    "(for streams, see `stream_ended`). `upstream_failed`: the upstream could not be reached, failed during its "
    "response or timed out. `client_closed`: the client disconnected before the end. `interrupted`: the relay stopped "
    "or crashed, or the log could not be written. `refused`: the relay rejected the request, because its body was "
    "malformed, too slow or too large.",
    "failed": "`true` if the status is 400 or above (except 404 and 405 for `HEAD`), if the outcome is "
    "`upstream_failed`, `interrupted` or `refused`, "
    "if the response contains an error, or if the response ended early, is not JSON, or is no response of its API. "
    "`false` if only the client disconnected.",
    "namespace": "Namespace of the request. A namespace is not a security boundary.",
    "properties": "Custom properties by name, from request headers and from `metadata` in the body.",
    "warnings": "Problems with the request's tags (headers such as `Service-Namespace`), such as an unknown tag or a "
    "truncated value.",
    "route": "Name of the route (base URL) that received the request.",
    "upstream": "Base URL of the upstream.",
    "method": "HTTP method.",
    "path": "Path of the request, including the path of the route.",
    "query": "Query string. The values of parameters such as `key` and `token` are replaced by fingerprints.",
    "kind": "Kind of request, determined by the path.",
    "client_address": "IP address of the client.",
    "user_agent": "`User-Agent` of the client.",
    "key": "Fingerprint of the API key: 12 hex digits of an HMAC. The key itself is not stored.",
    "model": "Model named in the request.",
    "response_model": "Model named in the response.",
    "stream": "Whether the response was a stream.",
    "stream_requested": "Whether the request asked for a stream.",
    "stream_ended": "How the stream ended. `done`: with an end marker, or with a finish reason in every choice. "
    "`no_done`: without an end. `cut`: the stream was interrupted. `null` if the response was not a stream.",
    "status": "HTTP status that was sent to the client. `null` if no status was sent.",
    "error_code": "Error code from the relay or the upstream, or the reason why the response cannot be used: "
    "`stream_incomplete`, `not_json` or `not_understood`.",
    "error_message": "Error message from the relay or the upstream.",
    "duration_ms": "Milliseconds from the arrival of the request's headers to the end of the exchange.",
    "first_token_ms": "Milliseconds from the arrival of the request's headers to the first chunk with text, reasoning, "
    "a refusal or a tool call. `null` if the response was not a stream.",
    "relay_ms": "Milliseconds between reading the last byte of the request and sending that byte to the upstream.",
    "chunks": "Number of socket reads in which the response body arrived.",
    "request_bytes": "Size of the request body in bytes, as transferred.",
    "response_bytes": "Size of the response body in bytes, as transferred.",
    "input_tokens": "Number of tokens in the request. `null` if unknown.",
    "output_tokens": "Number of tokens in the response. `null` if unknown.",
    "cached_tokens": "Number of input tokens read from the provider's cache.",
    "reasoning_tokens": "Number of output tokens used for reasoning.",
    "tokens_estimated": "`true` if a number of tokens is an estimate, because the response did not contain the number.",
    "cost_usd": "Cost in US dollars. An unknown cost is `null`, never 0, and `cost_reason` says why it is unknown.",
    "prices_version": "Version of the price list for the cost. `provider` if the response contained the cost. "
    "`settings` if the prices are those of the setting `prices`.",
    "cost_reason": "Reason why the cost is unknown. `null` if the cost is known, if the request is running, or if it "
    "cannot cost anything, such as a list of models.",
    "finish_reason": "Reason why the model stopped.",
    "user": "Value of `user` in the request body, or else the user that the client sends in a header.",
    "session": "Id of the client's session, from a header of the client or from the request body.",
    "safety_identifier": "Value of `safety_identifier` in the request body.",
    "prompt_cache_key": "Value of `prompt_cache_key` in the request body.",
    "provider_request_id": "Value of the header `x-request-id` or `request-id` in the upstream's response.",
    "completion_id": "Id in the response body (`chatcmpl-…`).",
    "client_request_id": "Value of the header `x-client-request-id` in the request.",
    "retry_count": "Number of retries before this request, as reported by the SDK.",
    "trace_id": "Trace id from the request header `traceparent`.",
    "input_preview": "First 200 characters of what is new in the request: the last user message, or the results of "
    "tools, such as `read_file: 212 lines`. If the request has no messages, of the prompt or input. `null` if bodies "
    "are not stored.",
    "output_preview": "First 200 characters of the response. If the response calls tools, their names and arguments "
    "come first. `null` if bodies are not stored.",
    "body_state": "`stored`: the bodies are stored. `no_bodies`: the bodies were not logged. `expired`: the bodies are "
    "no longer stored.",
    "notes": "What could not be read in the request or the response.",
    "advice": "Advice about the request, for example about a likely mistake. Relaybook never rejects a request because "
    "of advice.",
    "feedback": "The latest feedback on the request from each source, sorted by source.",
}
#: The meanings of the numbers that are derived from fields of the record.
_DERIVED: Final[dict[str, str]] = {
    "cached_share": "Share of the input tokens that were read from the provider's cache, from 0 to 1. `null` if "
    "unknown.",
    "tokens_per_second": "Output tokens per second between the first token and the end: `output_tokens` divided by "
    "`duration_ms` minus `first_token_ms`. `null` if the response was not a stream, if the number of tokens is unknown "
    f"or 0, or if all tokens arrived within {MIN_STREAMING_MS:.0f} ms.",
}


class RequestFeedback(Struct, kw_only=True):
    """Feedback on a request."""

    source: Annotated[
        str,
        Meta(
            description="The person or program that gave the feedback. A request keeps only the latest feedback from "
            "each source."
        ),
    ]
    score: float | None
    label: str | None
    comment: str | None
    at: Annotated[TimestampText, Meta(description="Time at which the feedback was given.")]


def row_fields() -> list[tuple[str, Any]]:
    """Return the fields of a record in answers: their names, types and meanings."""
    hints = get_type_hints(Record)
    shown: dict[str, Any] = {"feedback": list[RequestFeedback]}
    for name in TIMESTAMPS:
        shown[name] = TimestampText | None if hints[name] == int | None else TimestampText
    fields = [(name, Annotated[shown.get(name, hints[name]), Meta(description=MEANINGS[name])]) for name in FIELDS]
    fields += [(name, Annotated[float | None, Meta(description=meaning)]) for name, meaning in _DERIVED.items()]
    return [*fields, ("result", Annotated[Result, Meta(description="How the request ended, in a few words.")])]


_SAID_EARLIER: Final = (
    "said_earlier",
    Annotated[
        bool,
        Meta(
            description="`true` if a search for `words` found the words only in earlier messages of the conversation. "
            "Otherwise the field is missing."
        ),
    ]
    | UnsetType,
    UNSET,
)

if TYPE_CHECKING:
    #: A record as ``row.to_json`` returns it.
    Row: TypeAlias = dict[str, Any]
else:
    Row = msgspec.defstruct(
        "Row", [*row_fields(), _SAID_EARLIER], kw_only=True, namespace={"__doc__": "A logged request."}
    )
