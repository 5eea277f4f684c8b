"""Describe fields, their values, gaps and error codes in words.

The tables in this module are the source of the suggestions in the query input and of the file
``dashboard/src/generated/vocabulary.ts``.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from relaybook.apis import APIS
from relaybook.log.numbers import UNKNOWN

#: Texts that say why the cost of a request is unknown, and what to do. The first sentence of each text is suggested in
#: the query input.
COST_REASONS: Final[dict[str, str]] = {
    "no_response": "The upstream sent no response. See the error of the request.",
    "error_response": "The response is an error. Most providers charge nothing for errors.",
    "api_not_read": "Relaybook does not read the token counts of this API.",
    "body_not_read": "The response body could not be read. See the notes of the request.",
    "no_usage": "The response lacks token counts that the cost depends on. Check whether the upstream can send usage.",
    "inconsistent_usage": "The token counts in the response contradict each other. Report this to the provider.",
    "implausible": "The computed cost is too high to be true. Check the token counts in the response.",
    "no_model": "Neither the request nor the response names a model. Name the model in the request.",
    "unknown_model": "The prices of the upstream and of this model are unknown. Set the price in [prices], or set "
    "price_as.",
    "ambiguous_model": "Several providers have this model at different prices. Set the price in [prices], or set "
    "price_as.",
    "no_price": "The provider has no known price per token for this model. Set the price in [prices].",
    "no_rate_for_audio": "The price of audio is unknown for this model. Set the price in [prices].",
    "no_rate_for_cache_writes": "The price of cache writes is unknown for this model. Set the price in [prices].",
    "no_rate_for_web_searches": "The price of web searches is unknown for this model. Set the price in [prices].",
}


class Field(NamedTuple):
    """A field as shown to people.

    ``hint`` describes the field. ``bounds`` are suggested comparisons. ``choices`` maps suggested values to their
    meanings. These values do not depend on the log's contents.
    """

    label: str
    hint: str
    bounds: tuple[str, ...] = ()
    choices: Mapping[str, str] = MappingProxyType({})


#: Fields by name, in the order in which they are suggested. The most common fields are first.
FIELDS: Final[dict[str, Field]] = {
    "namespace": Field("namespace", "name under which the request is logged"),
    "model": Field("model", "model in the request"),
    "status": Field(
        "status",
        "HTTP status: 429, 4xx, or error (all failures)",
        choices={
            "error": "all failed requests",
            "4xx": "client errors",
            "5xx": "errors from the upstream or Relaybook",
            "200": "success",
            "400": "invalid request",
            "401": "invalid API key",
            "404": "unknown model or path",
            "429": "rate limited",
        },
    ),
    "duration": Field("duration", "how long it took: >2s", (">500ms", ">2s", ">10s", ">1m", "<300ms", UNKNOWN)),
    "cost": Field("cost", "US dollars: >0.01", (">0.01", ">0.1", ">1", "<0.001", UNKNOWN)),
    "user": Field("user", "user in the request"),
    "session": Field("session", "session of the client, such as a coding agent"),
    "outcome": Field(
        "outcome",
        "how the request ended",
        choices={
            "complete": "the whole response was relayed",
            "client_closed": "the client disconnected before the end",
            "upstream_failed": "the upstream was unreachable, disconnected or timed out",
            "interrupted": "the relay stopped, or the log could not be written",
            "refused": "the relay rejected the request body",
            "open": "still running",
        },
    ),
    "result": Field(
        "result",
        "result, as shown in the log",
        choices={
            "complete": "200",
            "rate_limited": "429 rate limited",
            "truncated": "200 · cut at token limit",
            "tool_calls": "200 · tool calls",
            "filtered": "200 · content filter",
            "client_disconnected": "Client disconnected",
            "server_error": "500 server error",
            "error_in_response": "200 · error in response",
            "incomplete": "Stream ended early",
            "unexpected_body": "200 · not JSON",
            "upstream_unreachable": "502 upstream unreachable",
            "upstream_timeout": "504 upstream timeout",
            "upstream_reset": "Connection closed by upstream",
            "upstream_stream_interrupted": "Stream interrupted by upstream",
            "refused": "refused by Relaybook",
            "relay_stopped": "Relay stopped",
        },
    ),
    "finish_reason": Field("finish reason", "why the model stopped"),
    "stream_ended": Field(
        "end of stream",
        "how the stream ended",
        choices={
            "done": "complete",
            "no_done": "without its end marker",
            "cut": "interrupted",
        },
    ),
    "first_token": Field("first token", "time to the first token: >500ms", (">300ms", ">1s", ">5s", "<200ms", UNKNOWN)),
    "tokens_per_second": Field("tokens/s", "output tokens per second: <20", ("<20", "<50", ">100", UNKNOWN)),
    "input_tokens": Field("input tokens", "tokens in the request: >1000", (">1000", ">10000", "<100", UNKNOWN)),
    "output_tokens": Field("output tokens", "tokens in the response: >1000", (">1000", ">100", "<10", UNKNOWN)),
    "cached_tokens": Field("cached tokens", "input tokens from the cache: >1000", (">1000", "0", UNKNOWN)),
    "cached_share": Field("cached input share", "share of the input from the cache: >50%", (">50%", "<10%", UNKNOWN)),
    "reasoning_tokens": Field("reasoning tokens", "tokens used for reasoning: >1000", (">1000", ">0", UNKNOWN)),
    "request_bytes": Field("request size", "size of the request body: >100kB", (">100kB", ">1MB", "<1kB")),
    "response_bytes": Field("response size", "size of the response body: >100kB", (">100kB", ">1MB", "0")),
    "score": Field("score", "feedback score: >0", (">0", "<0", ">=0.5", "<0.5")),
    "label": Field("label", "feedback label"),
    "feedback": Field(
        "feedback",
        "any or none",
        choices={"any": "requests with feedback", "none": "requests without feedback"},
    ),
    "contains": Field("text", "substring; requires a start time (from)"),
    "words": Field("text", "words in prompt or response"),
    "response": Field("response", "words in the response"),
    "prompt": Field("prompt", "words in the prompt"),
    "said_here": Field("new text", "words in the response or in a new message"),
    "from": Field(
        "started since",
        "earliest start: -1h",
        choices={
            "-15m": "last 15 minutes",
            "-1h": "last hour",
            "-24h": "last 24 hours",
            "-7d": "last 7 days",
            "-30d": "last 30 days",
        },
    ),
    "to": Field("started before", "latest start: -15m"),
    "key": Field("key", "fingerprint of the API key"),
    "kind": Field(
        "kind",
        "kind of request",
        choices={api.kind: api.name for api in APIS},
    ),
    "failed": Field("failed", "true or false", choices={"true": "failed requests", "false": "all other requests"}),
    "relay": Field("relay", "time in the relay: >5ms", (">5ms", ">50ms", UNKNOWN)),
    "chunks": Field("chunks", "chunks of the response: >100", (">100", ">1000", "<10")),
    "retry_count": Field("retry count", "retries by the SDK: >=1", (">=1", ">=2")),
    "namespace_prefix": Field("namespace", "prefix of the namespace"),
    "path": Field("path", "path of the request"),
    "route": Field("route", "name of the route (base URL)"),
    "warning": Field("warning", "warning about tags"),
    "note": Field(
        "note",
        "why something could not be read",
        choices={
            "too_large_to_read": "body too large to read",
            "unknown_encoding": "unknown content encoding",
            "wrong_encoding": "wrong content encoding",
            "not_json": "body is not JSON",
            "too_many_odd_events": "too many unreadable events",
            "not_understood": "body not understood",
            "arguments_not_json": "arguments of a tool call are not JSON",
            "closed_early": "connection broke after the end",
            "any": "any note",
        },
    ),
    "cost_reason": Field(
        "unknown cost",
        "why the cost is unknown",
        choices={code: text.partition(".")[0] for code, text in COST_REASONS.items()} | {"any": "Any of these reasons"},
    ),
    "advice": Field("advice", "advice about the request"),
    "id": Field("id", "Relaybook id of the request"),
}

#: Copies of deleted requests that no deletion reaches.
NOT_ERASED: Final = (
    "Backups that were made before the requests were removed still contain them. Relaybook does not know where backups "
    "are kept. Delete them, and make new ones if you need them.",
    "Exported files, snapshots of the disk, and data that was sent to other systems can still contain the requests. "
    "Relaybook does not know them.",
    "The upstream received the requests. A deletion in the log does not change what the upstream keeps.",
)

#: Texts that say why there is a gap in the log. Each text follows a number of requests or journal frames, as in "137
#: requests …".
GAP_REASONS: Final[dict[str, str]] = {
    "log_unavailable": "refused, because the log could not be written",
    "forwarded_unlogged": "relayed but not logged, because the log could not be written",
    "damaged": "damaged and unreadable, so their content is missing from the log",
    "store_set_aside": "missing from the log, because their store was unusable and was set aside in the data "
    "directory; relaybook check --salvage recovers the readable requests",
}

#: Texts that say why requests were not admitted, by error code.
REFUSALS: Final[dict[str, str]] = {
    "bad_request": "The request is malformed or ambiguous HTTP, or its Host header is not allowed.",
    "origin_not_allowed": "The request comes from a web page of another site. See the setting cors_origins.",
    "not_found": "The path does not start with the path of a base URL. Usually /v1 is missing from the base URL.",
    "method_not_allowed": "CONNECT and TRACE are not supported.",
    "request_timeout": "The headers did not arrive within header_timeout.",
    "uri_too_long": "The request line is longer than 8 KiB.",
    "expectation_failed": "The Expect header is not 100-continue.",
    "upgrade_required": "WebSocket is not supported. The client must use HTTP.",
    "headers_too_large": "The headers are larger than 64 KiB, one header is larger than 32 KiB, or there are more than "
    "100 headers.",
    "version_not_supported": "The HTTP version is neither 1.0 nor 1.1.",
    "overloaded": "The limit max_in_flight or max_connections is reached.",
    "log_unavailable": "The log cannot be written. See the gaps.",
    "shutting_down": "The relay is stopping.",
}
