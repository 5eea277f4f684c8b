// Generated from relaybook/log/descriptions.py by `make docs`; a test compares the two.

import type { LogGap } from "./api-types";

/** Labels of fields, if they differ from the name. */
export const FIELD_LABELS: Readonly<Record<string, string>> = {
  finish_reason: "finish reason",
  first_token: "first token",
  input_tokens: "input tokens",
  output_tokens: "output tokens",
  contains: "text",
  words: "text",
  from: "started since",
  to: "started before",
  retry_count: "retry count",
  namespace_prefix: "namespace",
};

/** Fields that are compared with a number. */
export const NUMBER_FIELDS: readonly string[] = ["duration", "cost", "first_token", "input_tokens", "output_tokens", "score", "retry_count"];

/** What happened to the requests of a gap. Follows their number. */
export const GAP_REASONS: Readonly<Record<LogGap["reason"], string>> = {
  log_unavailable: "refused, because the log could not be written",
  forwarded_unlogged: "relayed but not logged, because the log could not be written",
  damaged: "damaged and unreadable, so their content is missing from the log",
  store_set_aside: "missing from the log, because their store was unusable and was set aside in the data directory; relaybook check --salvage recovers the readable requests",
};

/** Labels of relative start times. */
export const START_TIMES: Readonly<Record<string, string>> = {
  "-15m": "last 15 minutes",
  "-1h": "last hour",
  "-24h": "last 24 hours",
  "-7d": "last 7 days",
  "-30d": "last 30 days",
};

/** Why requests were not admitted, by error code. */
export const REFUSALS: Readonly<Record<string, string>> = {
  bad_request: "The request is malformed or ambiguous HTTP, or its Host header is not allowed.",
  not_found: "The path does not start with the path of a base URL. Usually /v1 is missing from the base URL.",
  method_not_allowed: "CONNECT and TRACE are not supported.",
  request_timeout: "The headers did not arrive within header_timeout.",
  uri_too_long: "The request line is longer than 8 KiB.",
  expectation_failed: "The Expect header is not 100-continue.",
  upgrade_required: "WebSocket is not supported. The client must use HTTP.",
  headers_too_large: "The headers are larger than 64 KiB, one header is larger than 32 KiB, or there are more than 100 headers.",
  version_not_supported: "The HTTP version is neither 1.0 nor 1.1.",
  overloaded: "The limit max_in_flight or max_connections is reached.",
  log_unavailable: "The log cannot be written. See the gaps.",
  shutting_down: "The relay is stopping.",
};
