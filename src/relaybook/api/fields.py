"""What each field of a record means, in one sentence: the text of docs/reference/api.md and of the OpenAPI document."""

from typing import Annotated, Any, Final, TypeAlias, get_type_hints

from msgspec import Meta

from relaybook.records import FIELDS, MOMENTS, Record

#: RFC 3339, UTC.
MomentText: TypeAlias = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]

MEANINGS: Final[dict[str, str]] = {
    "id": "Our identifier of the request (UUIDv7); `Service-Request-Id` told it to the caller.",
    "seq": "The order of recording, from 1; null while the request runs.",
    "started_at": "When the request's head had arrived.",
    "ended_at": "When the last byte had gone to the caller, or the request ended otherwise; null while it runs.",
    "outcome": "How it ended: `open` still running; `complete` the provider's response was relayed to its end (how a "
    "stream ended: `stream_ended`); `upstream_failed` the provider could not be reached or broke off; `client_closed` "
    "the caller left before the end; `interrupted` the relay stopped; `refused` the relay answered by itself.",
    "failed": "Whether the caller did not get a good answer. A caller who left is not a failure, unless the provider's "
    "answer was one by then.",
    "namespace": "The namespace it was logged under. A label, not a security boundary.",
    "properties": "Custom properties by name, from headers and from the body's `metadata`.",
    "warnings": "What was adjusted in the request's tags.",
    "route": "The route (base URL) it came in by.",
    "upstream": "The provider's base URL.",
    "method": "The HTTP method.",
    "path": "The path asked for, the route included.",
    "query": "The query string, with the values of credentials replaced.",
    "kind": "What was asked for, by the path.",
    "client_address": "The caller's address.",
    "user_agent": "The caller's User-Agent.",
    "key": "A fingerprint of the caller's API key: 12 hex digits of an HMAC; the key itself is not stored.",
    "model": "The model asked for.",
    "response_model": "The model that answered.",
    "stream": "Whether the answer was a stream.",
    "stream_requested": "Whether a stream was asked for.",
    "stream_ended": "How the stream ended: with its end mark, without it, or cut off; null if it was no stream.",
    "status": "The HTTP status the caller got; null while there is none.",
    "error_code": "The error's code: ours, or the provider's.",
    "error_message": "The error's message: ours, or the provider's.",
    "duration_ms": "Milliseconds from the head's arrival to the end.",
    "first_token_ms": "Milliseconds to the first piece with text, reasoning, a refusal or a tool call; null if it was "
    "no stream.",
    "relay_ms": "The relay's own share of the duration, in milliseconds.",
    "chunks": "In how many pieces the answer arrived.",
    "request_bytes": "Bytes of the request's body, as they crossed.",
    "response_bytes": "Bytes of the answer's body, as they crossed.",
    "input_tokens": "Tokens of the request; null is unknown.",
    "output_tokens": "Tokens of the answer; null is unknown.",
    "cached_tokens": "Those of the input tokens that the provider had cached.",
    "reasoning_tokens": "Those of the output tokens that are reasoning.",
    "tokens_estimated": "Whether a token count is our estimate, because the provider told none.",
    "cost_usd": "Cost in US dollars; null is unknown, never 0.",
    "prices_version": "Which price list the cost was computed with.",
    "finish_reason": "Why the model stopped.",
    "user": "The body's `user`.",
    "safety_identifier": "The body's `safety_identifier`.",
    "prompt_cache_key": "The body's `prompt_cache_key`.",
    "provider_request_id": "The provider's `x-request-id`.",
    "completion_id": "The answer's own id (`chatcmpl-…`).",
    "client_request_id": "The caller's `x-client-request-id`.",
    "retry_count": "The SDK's count of retries before this request.",
    "trace_id": "The trace id of the caller's `traceparent`.",
    "input_preview": "The first 200 characters of what was asked; null when bodies are not kept.",
    "output_preview": "The first 200 characters of the answer; null when bodies are not kept.",
    "body_state": "Whether the bodies are stored, were never stored, or have expired.",
    "advice": "Remarks on the request's parameters; never a reason to refuse.",
}


def row_fields() -> list[tuple[str, Any]]:
    """A record's fields as the API writes them: names and types with their meanings."""
    hints = get_type_hints(Record)
    moments = {name: MomentText | None if hints[name] == int | None else MomentText for name in MOMENTS}
    return [(name, Annotated[moments.get(name, hints[name]), Meta(description=MEANINGS[name])]) for name in FIELDS]
