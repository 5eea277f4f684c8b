// Generated from relaybook/apis.py and relaybook/log/descriptions.py by `make docs`; a test compares the two.

import type { LogGap, Row } from "./api-types";

/** Labels of fields, if they differ from the name. */
export const FIELD_LABELS: Readonly<Record<string, string>> = {
  finish_reason: "finish reason",
  stream_ended: "end of stream",
  first_token: "first token",
  tokens_per_second: "tokens/s",
  input_tokens: "input tokens",
  output_tokens: "output tokens",
  cached_tokens: "cached tokens",
  cached_share: "cached input share",
  reasoning_tokens: "reasoning tokens",
  request_bytes: "request size",
  response_bytes: "response size",
  contains: "text",
  words: "text",
  said_here: "new text",
  from: "started since",
  to: "started before",
  retry_count: "retry count",
  namespace_prefix: "namespace",
  cost_reason: "unknown cost",
};

/** Fields that are compared with a number. */
export const NUMBER_FIELDS: readonly string[] = ["duration", "cost", "first_token", "tokens_per_second", "input_tokens", "output_tokens", "cached_tokens", "cached_share", "reasoning_tokens", "request_bytes", "response_bytes", "score", "relay", "chunks", "retry_count"];

/** A number by which the log can be sorted. */
export type SortField = {
  /** The name of its filter, or `null` if it has no filter of its own. */
  term: string | null;
  /** The name of the number. */
  label: string;
  /** The orders: the highest values first, the lowest values first. */
  highest: string;
  lowest: string;
};

/** The numbers by which the log can be sorted, by the names of their fields. */
export const SORT_FIELDS: Readonly<Record<string, SortField>> = {
  cost_usd: {"term": "cost", "label": "cost", "highest": "Most expensive first", "lowest": "Cheapest first"},
  duration_ms: {"term": "duration", "label": "duration", "highest": "Slowest first", "lowest": "Fastest first"},
  first_token_ms: {"term": "first_token", "label": "time to first token", "highest": "Longest time to first token first", "lowest": "Fastest first token first"},
  tokens_per_second: {"term": "tokens_per_second", "label": "tokens/s", "highest": "Most tokens/s first", "lowest": "Fewest tokens/s first"},
  input_tokens: {"term": "input_tokens", "label": "input tokens", "highest": "Most input tokens first", "lowest": "Fewest input tokens first"},
  output_tokens: {"term": "output_tokens", "label": "output tokens", "highest": "Most output tokens first", "lowest": "Fewest output tokens first"},
  cached_tokens: {"term": "cached_tokens", "label": "cached tokens", "highest": "Most cached tokens first", "lowest": "Fewest cached tokens first"},
  cached_share: {"term": "cached_share", "label": "cached input share", "highest": "Highest cached input share first", "lowest": "Lowest cached input share first"},
  reasoning_tokens: {"term": "reasoning_tokens", "label": "reasoning tokens", "highest": "Most reasoning tokens first", "lowest": "Fewest reasoning tokens first"},
  request_bytes: {"term": "request_bytes", "label": "request size", "highest": "Largest request first", "lowest": "Smallest request first"},
  response_bytes: {"term": "response_bytes", "label": "response size", "highest": "Largest response first", "lowest": "Smallest response first"},
  relay_ms: {"term": "relay", "label": "time in the relay", "highest": "Longest in the relay first", "lowest": "Shortest in the relay first"},
  chunks: {"term": "chunks", "label": "chunks", "highest": "Most chunks first", "lowest": "Fewest chunks first"},
  started_at: {"term": null, "label": "time started", "highest": "Latest start first", "lowest": "Earliest start first"},
};

/** What happened to the requests of a gap. Follows their number. */
export const GAP_REASONS: Readonly<Record<LogGap["reason"], string>> = {
  log_unavailable: "refused, because the log could not be written",
  forwarded_unlogged: "relayed but not logged, because the log could not be written",
  damaged: "damaged and unreadable, so their content is missing from the log",
  store_set_aside: "missing from the log, because their store was unusable and was set aside in the data directory; relaybook check --salvage recovers the readable requests",
};

/** What could not be read, by the code of the note. */
export const NOTES: Readonly<Record<string, string>> = {
  too_large_to_read: "body too large to read",
  unknown_encoding: "unknown content encoding",
  wrong_encoding: "wrong content encoding",
  not_json: "body is not JSON",
  too_many_odd_events: "too many unreadable events",
  not_understood: "body not understood",
  arguments_not_json: "arguments of a tool call are not JSON",
  closed_early: "connection broke after the end",
};

/** Why the cost of a request is unknown. */
export const COST_REASONS: Readonly<Record<NonNullable<Row["cost_reason"]>, string>> = {
  no_response: "The upstream sent no response. See the error of the request.",
  error_response: "The response is an error. Most providers charge nothing for errors.",
  api_not_read: "Relaybook does not read the token counts of this API.",
  body_not_read: "The response body could not be read. See the notes of the request.",
  no_usage: "The response lacks token counts that the cost depends on. Check whether the upstream can send usage.",
  inconsistent_usage: "The token counts in the response contradict each other. Report this to the provider.",
  implausible: "The computed cost is too high to be true. Check the token counts in the response.",
  no_model: "Neither the request nor the response names a model. Name the model in the request.",
  unknown_model: "The prices of the upstream and of this model are unknown. Set the price in [prices], or set price_as.",
  ambiguous_model: "Several providers have this model at different prices. Set the price in [prices], or set price_as.",
  no_price: "The provider has no known price per token for this model. Set the price in [prices].",
  no_rate_for_audio: "The price of audio is unknown for this model. Set the price in [prices].",
  no_rate_for_cache_writes: "The price of cache writes is unknown for this model. Set the price in [prices].",
  no_rate_for_web_searches: "The price of web searches is unknown for this model. Set the price in [prices].",
};

/** How a stream ended. */
export const STREAM_ENDS: Readonly<Record<NonNullable<Row["stream_ended"]>, string>> = {
  done: "complete",
  no_done: "without its end marker",
  cut: "interrupted",
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
  origin_not_allowed: "The request comes from a web page of another site. See the setting cors_origins.",
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

/** Larger bodies are not read. */
export const MAX_BODY_BYTES = 67_108_864;

/** The call of an official SDK that sends a request of an API. The SDK appends `path` to its base URL. */
export type SdkCall = {
  python_package: string;
  node_package: string;
  /** The name of the client class in Python and in JavaScript. */
  client: string;
  /** The method, without `.create`. */
  method: string;
  path: string;
  /** The fields of the body that the Python SDK accepts by name. Other fields must be in `extra_body`. */
  parameters: readonly string[];
};

/** What is known about an API. */
export type Api = {
  /** Whether bodies are read. */
  is_read: boolean;
  /** Whether a request has the messages of a conversation, which later requests continue. */
  is_conversation: boolean;
  /** The request header with the API key, up to the key. */
  key_header: string;
  /** The environment variable from which SDKs read the API key. */
  key_variable: string;
  /** `null` if the SDKs have no such call. */
  sdk_call: SdkCall | null;
};

/** The APIs, by kind of request. */
export const APIS: Readonly<Record<Row["kind"], Api>> = {
  chat: {"is_read": true, "is_conversation": true, "key_header": "Authorization: Bearer ", "key_variable": "OPENAI_API_KEY", "sdk_call": {"python_package": "openai", "node_package": "openai", "client": "OpenAI", "method": "chat.completions", "path": "/chat/completions", "parameters": ["frequency_penalty", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens", "messages", "metadata", "model", "n", "parallel_tool_calls", "presence_penalty", "response_format", "seed", "stop", "store", "stream", "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user"]}},
  completion: {"is_read": true, "is_conversation": false, "key_header": "Authorization: Bearer ", "key_variable": "OPENAI_API_KEY", "sdk_call": {"python_package": "openai", "node_package": "openai", "client": "OpenAI", "method": "completions", "path": "/completions", "parameters": ["best_of", "echo", "frequency_penalty", "logit_bias", "logprobs", "max_tokens", "model", "n", "presence_penalty", "prompt", "seed", "stop", "stream", "stream_options", "suffix", "temperature", "top_p", "user"]}},
  response: {"is_read": true, "is_conversation": true, "key_header": "Authorization: Bearer ", "key_variable": "OPENAI_API_KEY", "sdk_call": {"python_package": "openai", "node_package": "openai", "client": "OpenAI", "method": "responses", "path": "/responses", "parameters": ["include", "input", "instructions", "max_output_tokens", "metadata", "model", "parallel_tool_calls", "previous_response_id", "reasoning", "store", "stream", "temperature", "text", "tool_choice", "tools", "top_p", "truncation", "user"]}},
  message: {"is_read": true, "is_conversation": true, "key_header": "x-api-key: ", "key_variable": "ANTHROPIC_API_KEY", "sdk_call": {"python_package": "anthropic", "node_package": "@anthropic-ai/sdk", "client": "Anthropic", "method": "messages", "path": "/v1/messages", "parameters": ["max_tokens", "messages", "metadata", "model", "stop_sequences", "stream", "system", "thinking", "tool_choice", "tools"]}},
  generate: {"is_read": true, "is_conversation": true, "key_header": "x-goog-api-key: ", "key_variable": "GEMINI_API_KEY", "sdk_call": null},
  interaction: {"is_read": true, "is_conversation": true, "key_header": "x-goog-api-key: ", "key_variable": "GEMINI_API_KEY", "sdk_call": null},
  cohere: {"is_read": true, "is_conversation": true, "key_header": "Authorization: Bearer ", "key_variable": "CO_API_KEY", "sdk_call": null},
  ollama: {"is_read": true, "is_conversation": true, "key_header": "Authorization: Bearer ", "key_variable": "OPENAI_API_KEY", "sdk_call": null},
  embedding: {"is_read": true, "is_conversation": false, "key_header": "Authorization: Bearer ", "key_variable": "OPENAI_API_KEY", "sdk_call": {"python_package": "openai", "node_package": "openai", "client": "OpenAI", "method": "embeddings", "path": "/embeddings", "parameters": ["dimensions", "encoding_format", "input", "model", "user"]}},
  image: {"is_read": true, "is_conversation": false, "key_header": "Authorization: Bearer ", "key_variable": "OPENAI_API_KEY", "sdk_call": null},
  audio: {"is_read": true, "is_conversation": false, "key_header": "Authorization: Bearer ", "key_variable": "OPENAI_API_KEY", "sdk_call": null},
  moderation: {"is_read": true, "is_conversation": false, "key_header": "Authorization: Bearer ", "key_variable": "OPENAI_API_KEY", "sdk_call": null},
  models: {"is_read": false, "is_conversation": false, "key_header": "Authorization: Bearer ", "key_variable": "OPENAI_API_KEY", "sdk_call": null},
  file: {"is_read": false, "is_conversation": false, "key_header": "Authorization: Bearer ", "key_variable": "OPENAI_API_KEY", "sdk_call": null},
  batch: {"is_read": false, "is_conversation": false, "key_header": "Authorization: Bearer ", "key_variable": "OPENAI_API_KEY", "sdk_call": null},
  fine_tuning: {"is_read": false, "is_conversation": false, "key_header": "Authorization: Bearer ", "key_variable": "OPENAI_API_KEY", "sdk_call": null},
  vector_store: {"is_read": false, "is_conversation": false, "key_header": "Authorization: Bearer ", "key_variable": "OPENAI_API_KEY", "sdk_call": null},
  conversation: {"is_read": false, "is_conversation": false, "key_header": "Authorization: Bearer ", "key_variable": "OPENAI_API_KEY", "sdk_call": null},
  other: {"is_read": false, "is_conversation": false, "key_header": "Authorization: Bearer ", "key_variable": "OPENAI_API_KEY", "sdk_call": null},
};
