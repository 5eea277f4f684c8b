// Generated from the API's OpenAPI document by `make docs`; a test compares the two.

/** A logged request. */
export type Row = {
  /** Relaybook's id of the request (UUIDv7). The response header `Service-Request-Id` has the same id. */
  id: string;
  /** Position in the log, from 1, in the order of recording. `null` while the request is running. */
  seq: number | null;
  /** Time at which all headers of the request had arrived. */
  started_at: string;
  /** Time at which the last byte was sent to the client, or at which the request ended early. `null` while the request is running. */
  ended_at: string | null;
  /** How the request ended. `open`: still running. `complete`: the upstream's whole response was relayed (for streams, see `stream_ended`). `upstream_failed`: the upstream could not be reached, failed during its response or timed out. `client_closed`: the client disconnected before the end. `interrupted`: the relay stopped or crashed, or the log could not be written. `refused`: the relay rejected the request, because its body was malformed, too slow or too large. */
  outcome: "client_closed" | "complete" | "interrupted" | "open" | "refused" | "upstream_failed";
  /** `true` if the status is 400 or above (except 404 and 405 for `HEAD`), if the outcome is `upstream_failed`, `interrupted` or `refused`, if the response contains an error, or if the response ended early, is not JSON, or is no response of its API. `false` if only the client disconnected. */
  failed: boolean;
  /** Namespace of the request. A namespace is not a security boundary. */
  namespace: string;
  /** Custom properties by name, from request headers and from `metadata` in the body. */
  properties: Record<string, string>;
  /** Problems with the request's tags (headers such as `Service-Namespace`), such as an unknown tag or a truncated value. */
  warnings: (Note)[];
  /** Name of the route (base URL) that received the request. */
  route: string;
  /** Base URL of the upstream. */
  upstream: string;
  /** HTTP method. */
  method: string;
  /** Path of the request, including the path of the route. */
  path: string;
  /** Query string. The values of parameters such as `key` and `token` are replaced by fingerprints. */
  query: string;
  /** Kind of request, determined by the path. */
  kind: "audio" | "batch" | "chat" | "cohere" | "completion" | "conversation" | "embedding" | "file" | "fine_tuning" | "generate" | "image" | "interaction" | "message" | "models" | "moderation" | "ollama" | "other" | "response" | "vector_store";
  /** IP address of the client. */
  client_address: string;
  /** `User-Agent` of the client. */
  user_agent: string | null;
  /** Fingerprint of the API key: 12 hex digits of an HMAC. The key itself is not stored. */
  key: string | null;
  /** Model named in the request. */
  model: string | null;
  /** Model named in the response. */
  response_model: string | null;
  /** Whether the response was a stream. */
  stream: boolean;
  /** Whether the request asked for a stream. */
  stream_requested: boolean | null;
  /** How the stream ended. `done`: with an end marker, or with a finish reason in every choice. `no_done`: without an end. `cut`: the stream was interrupted. `null` if the response was not a stream. */
  stream_ended: "cut" | "done" | "no_done" | null;
  /** HTTP status that was sent to the client. `null` if no status was sent. */
  status: number | null;
  /** Error code from the relay or the upstream, or the reason why the response cannot be used: `stream_incomplete`, `not_json` or `not_understood`. */
  error_code: string | null;
  /** Error message from the relay or the upstream. */
  error_message: string | null;
  /** Milliseconds from the arrival of the request's headers to the end of the exchange. */
  duration_ms: number | null;
  /** Milliseconds from the arrival of the request's headers to the first chunk with text, reasoning, a refusal or a tool call. `null` if the response was not a stream. */
  first_token_ms: number | null;
  /** Milliseconds between reading the last byte of the request and sending that byte to the upstream. */
  relay_ms: number | null;
  /** Number of socket reads in which the response body arrived. */
  chunks: number;
  /** Size of the request body in bytes, as transferred. */
  request_bytes: number;
  /** Size of the response body in bytes, as transferred. */
  response_bytes: number;
  /** Number of tokens in the request. `null` if unknown. */
  input_tokens: number | null;
  /** Number of tokens in the response. `null` if unknown. */
  output_tokens: number | null;
  /** Number of input tokens read from the provider's cache. */
  cached_tokens: number | null;
  /** Number of output tokens used for reasoning. */
  reasoning_tokens: number | null;
  /** `true` if a number of tokens is an estimate, because the response did not contain the number. */
  tokens_estimated: boolean;
  /** Cost in US dollars. An unknown cost is `null`, never 0, and `cost_reason` says why it is unknown. */
  cost_usd: number | null;
  /** Version of the price list for the cost. `provider` if the response contained the cost. `settings` if the prices are those of the setting `prices`. */
  prices_version: string | null;
  /** Reason why the cost is unknown. `null` if the cost is known, if the request is running, or if it cannot cost anything, such as a list of models. */
  cost_reason: "ambiguous_model" | "api_not_read" | "body_not_read" | "error_response" | "implausible" | "inconsistent_usage" | "no_model" | "no_price" | "no_rate_for_audio" | "no_rate_for_cache_writes" | "no_rate_for_web_searches" | "no_response" | "no_usage" | "unknown_model" | null;
  /** Reason why the model stopped. */
  finish_reason: string | null;
  /** Value of `user` in the request body, or else the user that the client sends in a header. */
  user: string | null;
  /** Id of the client's session, from a header of the client or from the request body. */
  session: string | null;
  /** Value of `safety_identifier` in the request body. */
  safety_identifier: string | null;
  /** Value of `prompt_cache_key` in the request body. */
  prompt_cache_key: string | null;
  /** Value of the header `x-request-id` or `request-id` in the upstream's response. */
  provider_request_id: string | null;
  /** Id in the response body (`chatcmpl-…`). */
  completion_id: string | null;
  /** Value of the header `x-client-request-id` in the request. */
  client_request_id: string | null;
  /** Number of retries before this request, as reported by the SDK. */
  retry_count: number | null;
  /** Trace id from the request header `traceparent`. */
  trace_id: string | null;
  /** First 200 characters of what is new in the request: the last user message, or the results of tools, such as `read_file: 212 lines`. If the request has no messages, of the prompt or input. `null` if bodies are not stored. */
  input_preview: string | null;
  /** First 200 characters of the response. If the response calls tools, their names and arguments come first. `null` if bodies are not stored. */
  output_preview: string | null;
  /** `stored`: the bodies are stored. `no_bodies`: the bodies were not logged. `expired`: the bodies are no longer stored. */
  body_state: "expired" | "no_bodies" | "stored";
  /** What could not be read in the request or the response. */
  notes: (Note)[];
  /** Advice about the request, for example about a likely mistake. Relaybook never rejects a request because of advice. */
  advice: (Note)[];
  /** The latest feedback on the request from each source, sorted by source. */
  feedback: (RequestFeedback)[];
  /** Share of the input tokens that were read from the provider's cache, from 0 to 1. `null` if unknown. */
  cached_share: number | null;
  /** Output tokens per second between the first token and the end: `output_tokens` divided by `duration_ms` minus `first_token_ms`. `null` if the response was not a stream, if the number of tokens is unknown or 0, or if all tokens arrived within 10 ms. */
  tokens_per_second: number | null;
  /** How the request ended, in a few words. */
  result: Result;
  /** `true` if a search for `words` found the words only in earlier messages of the conversation. Otherwise the field is missing. */
  said_earlier?: boolean;
};

/** A note on a request: a warning about its tags, what could not be read and why, or advice.

The message contains no text of the bodies, because it is kept when the content expires. */
export type Note = {
  code: string;
  message: string;
};

/** Feedback on a request. */
export type RequestFeedback = {
  /** The person or program that gave the feedback. A request keeps only the latest feedback from each source. */
  source: string;
  score: number | null;
  label: string | null;
  comment: string | null;
  /** Time at which the feedback was given. */
  at: string;
};

/** The result of a request, for people and for programs. */
export type Result = {
  /** Code of the result, for programs. More codes may be added. */
  code: "bad_gateway" | "bad_request" | "client_disconnected" | "complete" | "conflict" | "error" | "error_in_response" | "filtered" | "forbidden" | "gateway_timeout" | "incomplete" | "log_failed" | "not_found" | "overloaded" | "payment_required" | "rate_limited" | "refused" | "relay_stopped" | "request_timeout" | "running" | "server_error" | "too_large" | "tool_calls" | "truncated" | "unauthorized" | "unavailable" | "unexpected_body" | "unprocessable" | "upstream_failed" | "upstream_protocol_error" | "upstream_reset" | "upstream_stream_interrupted" | "upstream_timeout" | "upstream_unreachable";
  /** The result in a few words, such as `200` or `429 rate limited`. */
  text: string;
  /** How the dashboard shows the result. `neutral` means that the client disconnected early, or that the upstream answered a `HEAD` request with 404 or 405. */
  tone: "bad" | "good" | "neutral" | "running";
};

/** A page of the log, newest first. With `sort=<field>`, the page is in the order of this field. */
export type RequestPage = {
  data: (Row)[];
  /** Running requests, latest start first. Only the first page has this field, and only if `sort` is not set. */
  running?: (Row)[];
  /** The `cursor` of the next page, with older requests. `null` on the last page and with `sort`. */
  next_cursor: string | null;
  /** The `cursor` for newer requests. `null` if `sort` is set. On an empty page, `newer_cursor` can also be `null`. In this case, use the last `newer_cursor` that was not `null`. */
  newer_cursor: string | null;
  /** `false` if the search was stopped at its deadline. Without `sort`, `next_cursor` continues the search. With `sort`, the page has the highest (or lowest) values among the requests that were found before the deadline. */
  complete: boolean;
  /** Likely corrections of filter values that no request has. Present only if no request was found. */
  likely_values?: (LikelyValue)[];
};

/** A filter value that no request has, and the likely correction. */
export type LikelyValue = {
  /** Name of the parameter. */
  param: string;
  value: string;
  /** The corrected parameter, as name and value. */
  instead: [string, string];
  message: string;
};

/** A request with its headers, messages and response. */
export type RequestDetail = {
  /** Why headers or bodies cannot be read, and which file is damaged. `null` if they are not damaged. */
  damage: string | null;
  /** Reason phrase of the response's status line. */
  reason: string | null;
  /** Names and values as received. Secrets are replaced. `null` if the headers cannot be read or are no longer stored, for example because the content of the request has expired. Empty if there were no headers. */
  request_headers: ([string, string])[] | null;
  /** Names and values as received. Secrets are replaced. `null` if the headers cannot be read or are no longer stored, for example because the content of the request has expired. Empty if there were no headers. */
  response_headers: ([string, string])[] | null;
  /** How many bytes of the request body are stored, counted before the log compresses them. `null` if the body is not stored. */
  stored_request_bytes: number | null;
  /** How many bytes of the response body are stored, counted before the log compresses them. `null` if the body is not stored. */
  stored_response_bytes: number | null;
  /** All fields of the request body except the messages, as sent. */
  parameters: Record<string, unknown> | null;
  /** The messages of the request body, oldest first, in the same structure for all APIs. */
  messages: (Message)[] | null;
  /** The response body, in the same structure for all APIs. For a stream, the body is assembled from the events of the stream. */
  response: Response | null;
  /** A pair for each chunk of the response: milliseconds since the request's headers arrived, and number of bytes. */
  timeline: ([number, number])[];
  /** All attempts of this request, first attempt first, if it was sent again after a failure or by the SDK. Empty if there was one attempt. */
  attempts: (Attempt)[];
  /** Up to 20 other finished requests that the id in the path also identifies, newest first. */
  also: (Sighting)[];
  /** Relaybook's id of the request (UUIDv7). The response header `Service-Request-Id` has the same id. */
  id: string;
  /** Position in the log, from 1, in the order of recording. `null` while the request is running. */
  seq: number | null;
  /** Time at which all headers of the request had arrived. */
  started_at: string;
  /** Time at which the last byte was sent to the client, or at which the request ended early. `null` while the request is running. */
  ended_at: string | null;
  /** How the request ended. `open`: still running. `complete`: the upstream's whole response was relayed (for streams, see `stream_ended`). `upstream_failed`: the upstream could not be reached, failed during its response or timed out. `client_closed`: the client disconnected before the end. `interrupted`: the relay stopped or crashed, or the log could not be written. `refused`: the relay rejected the request, because its body was malformed, too slow or too large. */
  outcome: "client_closed" | "complete" | "interrupted" | "open" | "refused" | "upstream_failed";
  /** `true` if the status is 400 or above (except 404 and 405 for `HEAD`), if the outcome is `upstream_failed`, `interrupted` or `refused`, if the response contains an error, or if the response ended early, is not JSON, or is no response of its API. `false` if only the client disconnected. */
  failed: boolean;
  /** Namespace of the request. A namespace is not a security boundary. */
  namespace: string;
  /** Custom properties by name, from request headers and from `metadata` in the body. */
  properties: Record<string, string>;
  /** Problems with the request's tags (headers such as `Service-Namespace`), such as an unknown tag or a truncated value. */
  warnings: (Note)[];
  /** Name of the route (base URL) that received the request. */
  route: string;
  /** Base URL of the upstream. */
  upstream: string;
  /** HTTP method. */
  method: string;
  /** Path of the request, including the path of the route. */
  path: string;
  /** Query string. The values of parameters such as `key` and `token` are replaced by fingerprints. */
  query: string;
  /** Kind of request, determined by the path. */
  kind: "audio" | "batch" | "chat" | "cohere" | "completion" | "conversation" | "embedding" | "file" | "fine_tuning" | "generate" | "image" | "interaction" | "message" | "models" | "moderation" | "ollama" | "other" | "response" | "vector_store";
  /** IP address of the client. */
  client_address: string;
  /** `User-Agent` of the client. */
  user_agent: string | null;
  /** Fingerprint of the API key: 12 hex digits of an HMAC. The key itself is not stored. */
  key: string | null;
  /** Model named in the request. */
  model: string | null;
  /** Model named in the response. */
  response_model: string | null;
  /** Whether the response was a stream. */
  stream: boolean;
  /** Whether the request asked for a stream. */
  stream_requested: boolean | null;
  /** How the stream ended. `done`: with an end marker, or with a finish reason in every choice. `no_done`: without an end. `cut`: the stream was interrupted. `null` if the response was not a stream. */
  stream_ended: "cut" | "done" | "no_done" | null;
  /** HTTP status that was sent to the client. `null` if no status was sent. */
  status: number | null;
  /** Error code from the relay or the upstream, or the reason why the response cannot be used: `stream_incomplete`, `not_json` or `not_understood`. */
  error_code: string | null;
  /** Error message from the relay or the upstream. */
  error_message: string | null;
  /** Milliseconds from the arrival of the request's headers to the end of the exchange. */
  duration_ms: number | null;
  /** Milliseconds from the arrival of the request's headers to the first chunk with text, reasoning, a refusal or a tool call. `null` if the response was not a stream. */
  first_token_ms: number | null;
  /** Milliseconds between reading the last byte of the request and sending that byte to the upstream. */
  relay_ms: number | null;
  /** Number of socket reads in which the response body arrived. */
  chunks: number;
  /** Size of the request body in bytes, as transferred. */
  request_bytes: number;
  /** Size of the response body in bytes, as transferred. */
  response_bytes: number;
  /** Number of tokens in the request. `null` if unknown. */
  input_tokens: number | null;
  /** Number of tokens in the response. `null` if unknown. */
  output_tokens: number | null;
  /** Number of input tokens read from the provider's cache. */
  cached_tokens: number | null;
  /** Number of output tokens used for reasoning. */
  reasoning_tokens: number | null;
  /** `true` if a number of tokens is an estimate, because the response did not contain the number. */
  tokens_estimated: boolean;
  /** Cost in US dollars. An unknown cost is `null`, never 0, and `cost_reason` says why it is unknown. */
  cost_usd: number | null;
  /** Version of the price list for the cost. `provider` if the response contained the cost. `settings` if the prices are those of the setting `prices`. */
  prices_version: string | null;
  /** Reason why the cost is unknown. `null` if the cost is known, if the request is running, or if it cannot cost anything, such as a list of models. */
  cost_reason: "ambiguous_model" | "api_not_read" | "body_not_read" | "error_response" | "implausible" | "inconsistent_usage" | "no_model" | "no_price" | "no_rate_for_audio" | "no_rate_for_cache_writes" | "no_rate_for_web_searches" | "no_response" | "no_usage" | "unknown_model" | null;
  /** Reason why the model stopped. */
  finish_reason: string | null;
  /** Value of `user` in the request body, or else the user that the client sends in a header. */
  user: string | null;
  /** Id of the client's session, from a header of the client or from the request body. */
  session: string | null;
  /** Value of `safety_identifier` in the request body. */
  safety_identifier: string | null;
  /** Value of `prompt_cache_key` in the request body. */
  prompt_cache_key: string | null;
  /** Value of the header `x-request-id` or `request-id` in the upstream's response. */
  provider_request_id: string | null;
  /** Id in the response body (`chatcmpl-…`). */
  completion_id: string | null;
  /** Value of the header `x-client-request-id` in the request. */
  client_request_id: string | null;
  /** Number of retries before this request, as reported by the SDK. */
  retry_count: number | null;
  /** Trace id from the request header `traceparent`. */
  trace_id: string | null;
  /** First 200 characters of what is new in the request: the last user message, or the results of tools, such as `read_file: 212 lines`. If the request has no messages, of the prompt or input. `null` if bodies are not stored. */
  input_preview: string | null;
  /** First 200 characters of the response. If the response calls tools, their names and arguments come first. `null` if bodies are not stored. */
  output_preview: string | null;
  /** `stored`: the bodies are stored. `no_bodies`: the bodies were not logged. `expired`: the bodies are no longer stored. */
  body_state: "expired" | "no_bodies" | "stored";
  /** What could not be read in the request or the response. */
  notes: (Note)[];
  /** Advice about the request, for example about a likely mistake. Relaybook never rejects a request because of advice. */
  advice: (Note)[];
  /** The latest feedback on the request from each source, sorted by source. */
  feedback: (RequestFeedback)[];
  /** Share of the input tokens that were read from the provider's cache, from 0 to 1. `null` if unknown. */
  cached_share: number | null;
  /** Output tokens per second between the first token and the end: `output_tokens` divided by `duration_ms` minus `first_token_ms`. `null` if the response was not a stream, if the number of tokens is unknown or 0, or if all tokens arrived within 10 ms. */
  tokens_per_second: number | null;
  /** How the request ended, in a few words. */
  result: Result;
};

/** One message of a request. Empty fields are omitted. The result of a tool is a message with the role `tool`. */
export type Message = {
  /** The role, as sent. `null` for an item that is not a message. Such an item has one part of the kind `other`. */
  role: string | null;
  parts?: (Part)[];
  /** Name of the author. */
  name?: string | null;
  /** All other fields of the message, as sent. */
  other?: Record<string, unknown>;
};

/** One part of a message or of an output. Empty fields are omitted. */
export type Part = {
  kind: "audio" | "file" | "image" | "other" | "reasoning" | "refusal" | "text" | "tool_call" | "tool_result" | "video";
  /** The text. The text of a tool result is the result as text or JSON. The text of audio is the transcript. */
  text?: string | null;
  /** Name of the tool. The name of a result is that of its call. */
  name?: string | null;
  /** Id of the tool call. The result of the call has the same id. */
  id?: string | null;
  /** Arguments of a tool call, as sent. They are usually JSON, but can be any text. A tool result also has the arguments of its call if the call is not in this body, but in the stored response that the request continues. */
  arguments?: string | null;
  /** Where the call of a tool result is: the index of the message or output, and the index of the part in it. */
  call?: [number, number] | null;
  /** `true` if a tool result looks like an error: the API says so, or the result is JSON with an error, begins like an error message, or has an exit code other than 0. */
  failed?: boolean | null;
  media?: Media | null;
  /** The provider's type of the part, such as `web_search_call`, if `kind` does not say it. */
  type?: string | null;
  /** All other fields of the part, as sent. */
  other?: Record<string, unknown>;
};

/** An image, audio, video or file. */
export type Media = {
  /** Media type, such as `image/png`. */
  type?: string | null;
  /** Size in bytes. Omitted if the body has only a URL or an id. */
  bytes?: number | null;
  /** File name or file id. */
  name?: string | null;
  /** The URL as sent: a data URL with the bytes, or the address of a file. Bytes that were sent without a URL are a data URL. */
  url?: string | null;
  /** Path below `/api/` that returns the bytes of an image or of audio from the stored body. The bytes can turn out to be in another format. */
  content?: string | null;
};

/** The body of a response. A stream is assembled from its events. Empty fields are omitted. */
export type Response = {
  id?: string | null;
  model?: string | null;
  outputs?: (Output)[];
  /** The provider's usage, as sent. */
  usage?: Record<string, unknown> | null;
  /** The service tier that processed the request. */
  tier?: string | null;
  error?: Error | null;
  /** How the stream ended. `done`: the end mark arrived, or every output has a finish reason. `no_done`: the whole response arrived, but the stream did not reach its end. `cut`: the connection broke off. Omitted if the response is not a stream. */
  ending?: "cut" | "done" | "no_done" | null;
  /** All other fields of the body, as sent. */
  other?: Record<string, unknown>;
};

/** One output of a response. APIs also call it a choice. Empty fields are omitted. */
export type Output = {
  index: number;
  parts?: (Part)[];
  /** Reason why the model stopped. Omitted if it is unknown. */
  finish_reason?: string | null;
  /** All other fields of the output, as sent. */
  other?: Record<string, unknown>;
};

/** An error inside a response. Empty fields are omitted. */
export type Error = {
  code?: string | null;
  message?: string | null;
  /** The error, as sent. */
  raw?: unknown;
};

/** One attempt of a request. `id` is the Relaybook id. */
export type Attempt = {
  id: string;
  started_at: string;
  result: Result;
};

/** Another request that the id in the path also identifies. `id` is the Relaybook id of this other request. */
export type Sighting = {
  id: string;
  started_at: string;
};

/** What a request sent again, what the provider read from its cache, and why not more.

A count that is unknown is `null`, never 0. */
export type CacheReport = {
  id: string;
  /** Id of the earlier request: the one that this request continues or repeats, or else the latest one of the same session or namespace, route and model whose prompt begins alike. `null` if there is none. */
  compared_with: string | null;
  /** Time from the start of the earlier request to the start of this request. */
  seconds_between: number | null;
  /** `first`: there is no earlier request. `cached`: the provider read nearly everything from its cache that it could. `broken`: it read less, because the prompt differs from the earlier one. `not_cached`: it read less, although the prompt does not differ, or is too short. `unknown`: it does not say, or the bodies are not stored. */
  state: "broken" | "cached" | "first" | "not_cached" | "unknown";
  /** Why the state is `not_cached` or `unknown`, for programs. */
  reason: "concurrent" | "expired" | "no_breakpoint" | "not_stated" | "not_stored" | "other_key" | "other_parameter" | "perhaps_expired" | "too_short" | "unexplained" | null;
  /** The state and its reason in a sentence. */
  text: string;
  input_tokens: number | null;
  /** Tokens that the earlier request had sent, too. Estimated from the characters, in proportion to the input tokens. */
  sent_again_tokens: number | null;
  /** Tokens from the start up to the first difference. Estimated from the characters, in proportion to the input tokens. */
  equal_tokens: number | null;
  /** Number of characters from the start up to the first difference. */
  equal_characters: number | null;
  /** Tokens that the provider read from its cache, as it states. */
  cached_tokens: number | null;
  /** Tokens that the provider wrote to its cache, as it states. */
  written_tokens: number | null;
  /** Those of the `written_tokens` that are kept for an hour. */
  written_1h_tokens: number | null;
  /** How long the provider keeps the prompt of the earlier request, if this is known. */
  lifetime_seconds: number | null;
  /** Tokens that could have been read from the cache, but were not. 0 if the state is `cached`. Estimated. */
  missed_tokens: number | null;
  /** What the request cost more because of them: their price, minus their price if they had been read from the cache. `null` if a price is unknown. */
  missed_usd: number | null;
  /** Where the prompt first differs from the earlier one. `null` if it does not. */
  change: PromptChange | null;
  /** The sections of the prompt, in the order in which they are cached. */
  sent: (SentSection)[];
};

/** The first difference between a prompt and an earlier prompt. */
export type PromptChange = {
  /** What changed, for programs. More kinds may be added. */
  kind: "date" | "fields" | "id" | "media" | "message_inserted" | "messages_removed" | "model" | "number" | "parameter" | "text" | "tool_added" | "tool_changed" | "tool_removed" | "tools_reordered" | "whitespace";
  /** What changed, in a few words. */
  what: string;
  /** The place in words, such as `the system prompt, character 1,204`. */
  where: string;
  section: "messages" | "model" | "parameters" | "system" | "tools";
  /** Index of the message in `messages`. */
  message: number | null;
  /** Number of the first character that differs, from 1. `null` if the difference is not in a text. */
  character: number | null;
  /** The text before the difference, which is the same in both requests. */
  leading: string;
  /** The beginning of what differs, in the earlier request. */
  before: string;
  /** The beginning of what differs, in this request. */
  after: string;
  /** The text after the difference, which is the same in both requests. */
  trailing: string;
};

/** One section of a prompt. */
export type SentSection = {
  section: "messages" | "model" | "parameters" | "system" | "tools";
  /** Number of tools, or of parts of messages. */
  items: number;
  characters: number;
  /** Number of characters that are equal to those of the earlier request, from the start. */
  equal_characters: number;
  /** Estimated from the characters, in proportion to the input tokens. */
  tokens: number | null;
  /** Number of breakpoints (`cache_control`). */
  breakpoints: number;
};

/** The text of a streamed response after its chunks. */
export type ResponseProgress = {
  /** A triple for each step in which the text grew: the number of chunks that had arrived, how many characters of the previous text remain, and the text that follows them. Characters are Unicode code points. Empty if the response is not a stream, or cannot be read. With more than 500 chunks, there are fewer steps than chunks. */
  steps: ([number, number, string])[];
};

/** Requests that can be replayed, in the order of recording. */
export type ReplayablePage = {
  data: (ReplayableRequest)[];
  /** Number of other matching requests. Their bodies are not stored, so they cannot be replayed. */
  omitted: number;
  /** Send this number as `after` to read the next page. */
  after: number;
  /** Whether there are no further requests at this time. */
  complete: boolean;
};

/** A request that can be replayed. */
export type ReplayableRequest = {
  id: string;
  started_at: string;
  method: string;
  /** Path and query. The values of secret parameters are replaced by `key`. */
  target: string;
  key: RequestKey;
};

/** Hashes of a request body. Bodies with equal hashes are equal. */
export type RequestKey = {
  /** Hash of the bytes without content encoding. */
  exact: string;
  /** Hash of the JSON value or of the form. `null` if the body is neither of them. */
  value: string | null;
  /** Hashes of some parts of the body. Similar bodies have many of them in common. */
  sketch: (number)[];
};

/** Two requests, and only what differs between them. The lists of what does not differ are empty. */
export type Comparison = {
  a: Row;
  b: Row;
  /** What differs, in one or two sentences. */
  summary: string;
  /** Whether API, model, parameters, system prompt, tools and messages are equal. `null` if a request body cannot be compared and everything else is equal. */
  same_request: boolean | null;
  /** Whether result and response are equal. `null` if a response body cannot be compared and the results are equal. */
  same_response: boolean | null;
  /** Results, models, keys, clients, namespaces, properties, routes, timing, tokens and cost that differ. */
  facts: (FactDifference)[];
  /** Fields of the request bodies that differ, except the messages. */
  parameters: (ValueDifference)[];
  /** The system messages at the beginning. Empty if all of them are equal. */
  system: (MessageDifference)[];
  /** Tools that differ, with their functions in one form. */
  tools: (ToolDifference)[];
  /** The other messages: differences and runs of equal messages. Empty if all of them are equal. */
  messages: (MessageDifference)[];
  /** The outputs of the responses. Empty if all of them are equal. */
  response: (MessageDifference)[];
  /** What could not be compared, and why. */
  missing: (Missing)[];
};

/** A fact that differs. `null` means that it is unknown or does not apply. */
export type FactDifference = {
  group: "request" | "result" | "tags" | "timing" | "usage";
  /** Name of the field: a field of `Row`, `property.<name>`, `result`, `tokens_per_second`, `service_tier` or `system_fingerprint`. */
  name: string;
  /** The name for people. */
  label: string;
  a: unknown;
  b: unknown;
};

/** A field whose values differ. A long value has `text` instead of `a` and `b`. */
export type ValueDifference = {
  /** Name of the field. The names of nested fields are joined by dots. */
  name: string;
  /** The value in `a` as JSON. Omitted if `a` does not have the field. */
  a?: string | null;
  /** The value in `b` as JSON. Omitted if `b` does not have the field. */
  b?: string | null;
  /** The difference, if one of the values is long. */
  text?: TextDifference | null;
};

/** The difference between two texts. */
export type TextDifference = {
  /** The pieces in order. Equal text is shortened. */
  pieces: (TextPiece)[];
  /** `true` if the texts are too different to be compared word by word. Except for an equal beginning and end, the text of `a` is then `removed`, and the text of `b` is `added`. */
  too_different?: boolean;
  /** Number of further pieces that are left out at the end. Omitted if it is 0. */
  more?: number;
};

/** A piece of two compared texts. A long piece has only its beginning and its end. */
export type TextPiece = {
  /** `removed`: only in the text of `a`. `added`: only in the text of `b`. */
  kind: "added" | "equal" | "removed";
  /** Offset in characters: in the text of `b` for `added`, and otherwise in the text of `a`. */
  at: number;
  text?: string;
  /** Number of characters that are left out after `text`. Omitted if it is 0. */
  omitted?: number;
  /** The text after the characters that are left out. */
  end?: string;
};

/** A message that differs, or a run of equal messages. Empty fields are omitted. */
export type MessageDifference = {
  /** `removed`: only in `a`. `added`: only in `b`. `equal`: a run of messages. `more`, at the end: further messages that differ and are left out. */
  kind: "added" | "changed" | "equal" | "more" | "removed";
  /** Index of the message, or of the first message of a run, in `a`. */
  a?: number | null;
  /** The same in `b`. */
  b?: number | null;
  /** Number of messages. Omitted if it is 1. */
  count?: number;
  /** The role, or the type of an item that is not a message. */
  role?: string | null;
  /** Name of the tool whose result this is, or of the author. */
  name?: string | null;
  /** The difference of the texts. Omitted if the texts are equal. */
  text?: TextDifference | null;
  /** Other fields that differ, such as `cache_control`. */
  fields?: (ValueDifference)[];
};

/** A tool that only one of the requests offers, or whose definition differs. */
export type ToolDifference = {
  name: string;
  /** `removed`: only in `a`. `added`: only in `b`. */
  kind: "added" | "changed" | "removed";
  /** The difference of the definitions, as JSON. */
  text?: TextDifference | null;
};

/** A body that cannot be compared, and why. */
export type Missing = {
  side: "a" | "b";
  body: "request" | "response";
  message: string;
};

/** The last successful request that is like a given request, or else the nearest successful request. */
export type LastGood = {
  /** `null` if the namespace has no other successful request. */
  request: Row | null;
  /** `true` if the request has the same namespace, path and prompt. `false` if it is only the nearest request. */
  is_alike: boolean;
  /** `same_messages`: the messages are equal, except for system messages. `same_conversation`: an earlier turn. `same_prompt`: the prompts begin alike. `same_model`: only namespace, path and model are the same. `same_namespace`: only the namespace is the same. */
  relation: "same_conversation" | "same_messages" | "same_model" | "same_namespace" | "same_prompt" | null;
  /** `true` if the request was recorded after the given request. */
  is_later: boolean;
  /** `false` if a search was stopped at its deadline. */
  complete: boolean;
  /** What was found, in one or two sentences. `A` is the successful request and `B` the given one. */
  message: string;
};

/** The number of finished requests that match a filter. */
export type RequestCount = {
  requests: number;
  failed: number;
  /** Start of the latest request. `null` if no request matches. */
  last_at: string | null;
  /** `false` if counting was stopped at its time limit. The true count may be higher. */
  complete: boolean;
};

/** Aggregates over time. The time range is extended to whole buckets. */
export type StatsResponse = {
  bucket_seconds: number;
  /** Start of the first bucket. */
  from: string;
  /** End of the last bucket. */
  to: string;
  /** The 20 groups with the most requests, in descending order of the number of requests. */
  groups: (StatsGroup)[];
  other: StatsRest | null;
  total: Aggregate;
  /** The same span before. `null` without `previous=true` or without `from`, if the log has no request from before that span, or if the aggregates could not be computed in time. */
  previous?: StatsPrevious | null;
  /** `rollups`: precomputed aggregates were used. `log`: the aggregates were computed from the records. */
  source: "log" | "rollups";
};

/** The aggregates of one group of requests. */
export type StatsGroup = {
  /** An object with one entry. The key is the field in the parameter `by`. The value is the value of this field in the requests of the group, or `null` if they have no value. Without the parameter `by`, the object is `{}`. */
  by: Record<string, string | null>;
  points: (StatsPoint)[];
  total: Aggregate;
  /** The aggregates of this group in the same span before. `null` if they are unknown, because the group was not among the 20 groups with the most requests then, or without `previous=true`. */
  previous?: Aggregate | null;
};

/** The aggregates of one bucket, which is a time range of `bucket_seconds`. Empty buckets are omitted. */
export type StatsPoint = {
  requests: number;
  failed: number;
  input_tokens: number;
  output_tokens: number;
  /** Total cost of the requests whose cost is known. `null` if no cost is known. */
  cost_usd: number | null;
  /** Input tokens that were read from the provider's cache. */
  cached_tokens: number;
  /** `cached_tokens` as a fraction of the input tokens, from 0 to 1, of the requests whose number of cached tokens is known. `null` if there are none. */
  cached_share: number | null;
  duration_ms: Percentiles;
  first_token_ms: Percentiles;
  /** Percentiles of `tokens_per_second`, of the requests for which it is known. The unit is 1/s. */
  tokens_per_second: Percentiles;
  /** Start of the bucket. */
  at: string;
};

/** The 50th, 95th and 99th percentiles. `null` if nothing was measured. Durations are in milliseconds.

A percentile is accurate to 5 %. It is never below the minimum or above the maximum of the measured values. */
export type Percentiles = {
  p50: number | null;
  p95: number | null;
  p99: number | null;
};

/** Aggregates of a set of requests. */
export type Aggregate = {
  requests: number;
  failed: number;
  input_tokens: number;
  output_tokens: number;
  /** Total cost of the requests whose cost is known. `null` if no cost is known. */
  cost_usd: number | null;
  /** Input tokens that were read from the provider's cache. */
  cached_tokens: number;
  /** `cached_tokens` as a fraction of the input tokens, from 0 to 1, of the requests whose number of cached tokens is known. `null` if there are none. */
  cached_share: number | null;
  duration_ms: Percentiles;
  first_token_ms: Percentiles;
  /** Percentiles of `tokens_per_second`, of the requests for which it is known. The unit is 1/s. */
  tokens_per_second: Percentiles;
};

/** The aggregates of all requests that are in none of the groups. */
export type StatsRest = {
  points: (StatsPoint)[];
  total: Aggregate;
};

/** The aggregates of the span before the time range, which is as long, up to half a bucket. */
export type StatsPrevious = {
  /** Start of the span. */
  from: string;
  /** End of the span, and start of the time range. */
  to: string;
  total: Aggregate;
};

/** A page of a thread, with its requests in the order in which they were recorded. */
export type Thread = {
  data: (ThreadRow)[];
  /** The conversations, in the order of their first requests on this page. */
  conversations: (Conversation)[];
  /** Aggregates of the whole thread. `null` if they could not be computed in time. */
  total: Aggregate | null;
  /** `false` if this page has no requests, or if fewer than one in five of them continue another request. */
  is_thread: boolean;
  /** The `cursor` of the next page, with older requests. `null` on the last page. */
  next_cursor: string | null;
  /** `false` if the search was stopped at its deadline. */
  complete: boolean;
};

/** A request and its position in its conversation. */
export type ThreadRow = {
  /** Id of the conversation's first request. */
  conversation: string;
  /** Position in the conversation, from 1. */
  turn: number;
  /** Id of the request that this request continues. `null` if this request starts a conversation. */
  follows: string | null;
  /** Id of an earlier request with the same messages. `null` if there is none in the 15 minutes before. */
  repeats: string | null;
  /** `true` if `repeats` is set, and the SDK says that this request is a retry (`retry_count`), or the earlier request failed, had the same `model`, and started at most a minute before. */
  is_retry: boolean;
  new_messages: NewMessages;
  /** Relaybook's id of the request (UUIDv7). The response header `Service-Request-Id` has the same id. */
  id: string;
  /** Position in the log, from 1, in the order of recording. `null` while the request is running. */
  seq: number | null;
  /** Time at which all headers of the request had arrived. */
  started_at: string;
  /** Time at which the last byte was sent to the client, or at which the request ended early. `null` while the request is running. */
  ended_at: string | null;
  /** How the request ended. `open`: still running. `complete`: the upstream's whole response was relayed (for streams, see `stream_ended`). `upstream_failed`: the upstream could not be reached, failed during its response or timed out. `client_closed`: the client disconnected before the end. `interrupted`: the relay stopped or crashed, or the log could not be written. `refused`: the relay rejected the request, because its body was malformed, too slow or too large. */
  outcome: "client_closed" | "complete" | "interrupted" | "open" | "refused" | "upstream_failed";
  /** `true` if the status is 400 or above (except 404 and 405 for `HEAD`), if the outcome is `upstream_failed`, `interrupted` or `refused`, if the response contains an error, or if the response ended early, is not JSON, or is no response of its API. `false` if only the client disconnected. */
  failed: boolean;
  /** Namespace of the request. A namespace is not a security boundary. */
  namespace: string;
  /** Custom properties by name, from request headers and from `metadata` in the body. */
  properties: Record<string, string>;
  /** Problems with the request's tags (headers such as `Service-Namespace`), such as an unknown tag or a truncated value. */
  warnings: (Note)[];
  /** Name of the route (base URL) that received the request. */
  route: string;
  /** Base URL of the upstream. */
  upstream: string;
  /** HTTP method. */
  method: string;
  /** Path of the request, including the path of the route. */
  path: string;
  /** Query string. The values of parameters such as `key` and `token` are replaced by fingerprints. */
  query: string;
  /** Kind of request, determined by the path. */
  kind: "audio" | "batch" | "chat" | "cohere" | "completion" | "conversation" | "embedding" | "file" | "fine_tuning" | "generate" | "image" | "interaction" | "message" | "models" | "moderation" | "ollama" | "other" | "response" | "vector_store";
  /** IP address of the client. */
  client_address: string;
  /** `User-Agent` of the client. */
  user_agent: string | null;
  /** Fingerprint of the API key: 12 hex digits of an HMAC. The key itself is not stored. */
  key: string | null;
  /** Model named in the request. */
  model: string | null;
  /** Model named in the response. */
  response_model: string | null;
  /** Whether the response was a stream. */
  stream: boolean;
  /** Whether the request asked for a stream. */
  stream_requested: boolean | null;
  /** How the stream ended. `done`: with an end marker, or with a finish reason in every choice. `no_done`: without an end. `cut`: the stream was interrupted. `null` if the response was not a stream. */
  stream_ended: "cut" | "done" | "no_done" | null;
  /** HTTP status that was sent to the client. `null` if no status was sent. */
  status: number | null;
  /** Error code from the relay or the upstream, or the reason why the response cannot be used: `stream_incomplete`, `not_json` or `not_understood`. */
  error_code: string | null;
  /** Error message from the relay or the upstream. */
  error_message: string | null;
  /** Milliseconds from the arrival of the request's headers to the end of the exchange. */
  duration_ms: number | null;
  /** Milliseconds from the arrival of the request's headers to the first chunk with text, reasoning, a refusal or a tool call. `null` if the response was not a stream. */
  first_token_ms: number | null;
  /** Milliseconds between reading the last byte of the request and sending that byte to the upstream. */
  relay_ms: number | null;
  /** Number of socket reads in which the response body arrived. */
  chunks: number;
  /** Size of the request body in bytes, as transferred. */
  request_bytes: number;
  /** Size of the response body in bytes, as transferred. */
  response_bytes: number;
  /** Number of tokens in the request. `null` if unknown. */
  input_tokens: number | null;
  /** Number of tokens in the response. `null` if unknown. */
  output_tokens: number | null;
  /** Number of input tokens read from the provider's cache. */
  cached_tokens: number | null;
  /** Number of output tokens used for reasoning. */
  reasoning_tokens: number | null;
  /** `true` if a number of tokens is an estimate, because the response did not contain the number. */
  tokens_estimated: boolean;
  /** Cost in US dollars. An unknown cost is `null`, never 0, and `cost_reason` says why it is unknown. */
  cost_usd: number | null;
  /** Version of the price list for the cost. `provider` if the response contained the cost. `settings` if the prices are those of the setting `prices`. */
  prices_version: string | null;
  /** Reason why the cost is unknown. `null` if the cost is known, if the request is running, or if it cannot cost anything, such as a list of models. */
  cost_reason: "ambiguous_model" | "api_not_read" | "body_not_read" | "error_response" | "implausible" | "inconsistent_usage" | "no_model" | "no_price" | "no_rate_for_audio" | "no_rate_for_cache_writes" | "no_rate_for_web_searches" | "no_response" | "no_usage" | "unknown_model" | null;
  /** Reason why the model stopped. */
  finish_reason: string | null;
  /** Value of `user` in the request body, or else the user that the client sends in a header. */
  user: string | null;
  /** Id of the client's session, from a header of the client or from the request body. */
  session: string | null;
  /** Value of `safety_identifier` in the request body. */
  safety_identifier: string | null;
  /** Value of `prompt_cache_key` in the request body. */
  prompt_cache_key: string | null;
  /** Value of the header `x-request-id` or `request-id` in the upstream's response. */
  provider_request_id: string | null;
  /** Id in the response body (`chatcmpl-…`). */
  completion_id: string | null;
  /** Value of the header `x-client-request-id` in the request. */
  client_request_id: string | null;
  /** Number of retries before this request, as reported by the SDK. */
  retry_count: number | null;
  /** Trace id from the request header `traceparent`. */
  trace_id: string | null;
  /** First 200 characters of what is new in the request: the last user message, or the results of tools, such as `read_file: 212 lines`. If the request has no messages, of the prompt or input. `null` if bodies are not stored. */
  input_preview: string | null;
  /** First 200 characters of the response. If the response calls tools, their names and arguments come first. `null` if bodies are not stored. */
  output_preview: string | null;
  /** `stored`: the bodies are stored. `no_bodies`: the bodies were not logged. `expired`: the bodies are no longer stored. */
  body_state: "expired" | "no_bodies" | "stored";
  /** What could not be read in the request or the response. */
  notes: (Note)[];
  /** Advice about the request, for example about a likely mistake. Relaybook never rejects a request because of advice. */
  advice: (Note)[];
  /** The latest feedback on the request from each source, sorted by source. */
  feedback: (RequestFeedback)[];
  /** Share of the input tokens that were read from the provider's cache, from 0 to 1. `null` if unknown. */
  cached_share: number | null;
  /** Output tokens per second between the first token and the end: `output_tokens` divided by `duration_ms` minus `first_token_ms`. `null` if the response was not a stream, if the number of tokens is unknown or 0, or if all tokens arrived within 10 ms. */
  tokens_per_second: number | null;
  /** How the request ended, in a few words. */
  result: Result;
};

/** The new messages of a request, compared with the request that it continues. */
export type NewMessages = {
  /** Index of the first new message. */
  from: number;
  count: number;
};

/** The part of a conversation that is on this page. */
export type Conversation = {
  conversation: string;
  requests: number;
  /** The highest `turn` in this part of the conversation. */
  turns: number;
  failed: number;
  input_tokens: number;
  output_tokens: number;
  /** Total cost of the requests whose cost is known. `null` if no cost is known. */
  cost_usd: number | null;
  first_at: string;
  last_at: string;
};

/** The lanes of a thread: its requests and the calls of its tools, with their times. */
export type Lanes = {
  /** Start of the first request. `null` without requests. */
  started_at: string | null;
  /** Conversations in the order of their first requests. The lane with the requests of a conversation is followed by the lanes of its tools, in the order of their first calls. */
  lanes: (Lane)[];
  /** The requests, in the order of recording. */
  requests: (LaneRequest)[];
  /** The calls, in the order of the responses that have them. */
  calls: (LaneCall)[];
  /** The tools, by the sum of the durations of their calls. */
  tools: (ToolTotals)[];
  totals: LaneTotals;
  /** `true` if older requests of the thread are left out. */
  has_older: boolean;
  /** `false` if the search was stopped at its deadline, so that calls may be missing. */
  complete: boolean;
};

/** The requests of a conversation, or the calls of one of its tools. */
export type Lane = {
  /** Id of the conversation's first request. `null` in the last lane, which has the requests that are no conversation: nothing continues them, and they call no tool. */
  conversation: string | null;
  /** Value of the property `agent`, which subagents send. */
  agent: string | null;
  /** Name of the tool. `null` if the lane has requests. */
  tool: string | null;
  /** Number of requests or calls. */
  count: number;
  /** Number of failed requests, or of calls whose result looks like an error. */
  failed: number;
  /** Sum of the durations. */
  total_ms: number;
};

/** A request in a lane. */
export type LaneRequest = {
  /** Index in `lanes`. */
  lane: number;
  id: string;
  /** Position in the conversation, from 1. */
  turn: number;
  /** Milliseconds since `started_at`. */
  start_ms: number;
  end_ms: number;
  failed: boolean;
  result: Result;
  model: string | null;
  input_tokens: number | null;
  output_tokens: number | null;
  tokens_estimated: boolean;
  cost_usd: number | null;
  /** The first 80 characters of `input_preview`. */
  preview: string | null;
};

/** A call of a tool that the client ran. */
export type LaneCall = {
  /** Index in `lanes`. */
  lane: number;
  name: string;
  /** Id of the call. `null` if the API has no such ids. */
  id: string | null;
  /** Id of the request whose response has the call. */
  request: string;
  /** Index among the tool calls of the response. */
  position: number;
  /** Turn of the request whose response has the call. */
  turn: number;
  /** The first 120 characters of the arguments. */
  arguments: string;
  /** End of the response, in milliseconds since `started_at`. */
  start_ms: number;
  /** Start of the request that brings the result. `null` if no request has brought a result. */
  end_ms: number | null;
  /** Whether the result looks like an error. */
  failed: boolean;
  /** The first 120 characters of the result. `null` if no request has brought a result. */
  result: string | null;
  /** Number of lines of the result. */
  result_lines: number;
  /** Id of the request that brings the result. */
  result_request: string | null;
  /** Index of the message with the result among the messages of `result_request`. */
  result_message: number | null;
};

/** Totals of the calls of one tool, in all conversations. */
export type ToolTotals = {
  name: string;
  calls: number;
  /** Number of calls whose result looks like an error. */
  failed: number;
  /** Number of calls without a result. */
  unanswered: number;
  /** Sum of the durations of the calls with a result. */
  total_ms: number;
  longest_ms: number | null;
};

/** Totals of all lanes. Time in which several requests or calls ran counts once in the fields `…_wall_ms`. */
export type LaneTotals = {
  requests: number;
  failed: number;
  calls: number;
  failed_calls: number;
  unanswered_calls: number;
  /** Sum of the durations of the requests. */
  model_ms: number;
  model_wall_ms: number;
  /** Sum of the durations of the calls. */
  tool_ms: number;
  tool_wall_ms: number;
  /** Time from the start of the first request to the end of the last one. */
  wall_ms: number;
  /** Time in which neither a request nor a call ran. */
  idle_ms: number;
  input_tokens: number;
  output_tokens: number;
  tokens_estimated: boolean;
  /** Sum of the known costs. `null` if no cost is known. */
  cost_usd: number | null;
};

/** The use of the provider's cache by each request of a page of a thread, in the order of recording. */
export type ThreadCache = {
  data: (CacheReport)[];
  /** `false` if the oldest requests are missing because time ran out. */
  complete: boolean;
};

/** A page of namespaces, in descending order of `sort`. */
export type NamespacePage = {
  data: (Namespace)[];
  next_cursor: string | null;
  /** `false` if counting was stopped at its time limit. The true counts may be higher. */
  complete: boolean;
};

/** A namespace with its counters, color, group and position. Pinned namespaces are shown above the log. */
export type Namespace = {
  namespace: string;
  requests: number;
  failed: number;
  /** Share of failed requests, from 0 to 1. `null` if there are no requests. */
  failed_share: number | null;
  /** `null` if only the requests of a time range are counted. */
  input_tokens: number | null;
  /** `null` if only the requests of a time range are counted. */
  output_tokens: number | null;
  /** `null` if only the requests of a time range are counted. */
  cost_usd: number | null;
  /** Start of the first request. `null` if there is none, or if only the requests of a time range are counted. */
  first_at: string | null;
  /** Start of the latest request. `null` if there are no requests. */
  last_at: string | null;
  pinned: boolean;
  /** Number of the color, from 1 to 8. `null` if the namespace is not pinned. */
  color: number | null;
  /** Name of the group. `null` if the namespace has no group or is not pinned. */
  group: string | null;
  /** Position among the pinned namespaces. `null` if the namespace is not pinned. */
  position: number | null;
};

/** A change to the pin, color, group or position of a namespace. Omitted fields are not changed. */
export type LabelChange = {
  /** The namespace. A namespace without requests is allowed. */
  namespace: string;
  /** `true` pins the namespace. `false` unpins the namespace and removes its color, group and position. */
  pinned?: boolean;
  /** Number of a color. By default, a newly pinned namespace gets the lowest number that is not in use. If all numbers are in use, they are reused in turn. */
  color?: number;
  /** Name of the group. By default, a newly pinned namespace gets a group if its name is common, such as `staging`. Otherwise, the group is `null`. */
  group?: string | null;
  /** Position among the pinned namespaces. By default, a newly pinned namespace is the last one. */
  position?: number;
};

/** Feedback on a request. At least one of score, label and comment is set. */
export type NewFeedback = {
  /** How good the response is, as a number. Any finite number is allowed. */
  score?: number | null;
  /** A short name that groups requests, such as `wrong_tone`. */
  label?: string | null;
  /** Free text. */
  comment?: string | null;
  /** The person or program that gives the feedback. A request keeps only the latest feedback from each source. */
  source?: string;
};

/** The accepted feedback, and whether it is already in the log. */
export type AcceptedFeedback = {
  /** `stored`: the feedback was added to a finished request. `pending`: no finished request has the id yet. The feedback is added when a request with the id is recorded. */
  state: "pending" | "stored";
  feedback: RequestFeedback;
};

/** The feedback on the requests that match a filter. */
export type FeedbackSummary = {
  /** Number of matching requests that have feedback. */
  requests: number;
  /** Number of scores that these requests have. A request has at most one score from each source. */
  scores: number;
  /** Mean of all scores of the matching requests. `null` if no request has a score. */
  mean_score: number | null;
  /** `false` if the search was stopped at its time limit. In that case, only the newest requests are counted. */
  complete: boolean;
};

/** The values of a field, most frequent first. */
export type FieldValues = {
  data: (FieldValue)[];
};

/** A value of a field, and the number of requests with this value. */
export type FieldValue = {
  value: string;
  requests: number;
};

/** The values that contain the text, best match first. */
export type FoundValueList = {
  data: (FoundValueRow)[];
  /** `false` if the search was stopped at its time limit. */
  complete: boolean;
};

/** A value that contains the text, its field, and the number of requests with this value. */
export type FoundValueRow = {
  /** Name of the filter parameter, such as `user` or `property.channel`. */
  field: string;
  value: string;
  requests: number;
};

/** The body of `PUT /api/saved-filters/{name}`. */
export type FilterToSave = {
  /** Pairs of name and value. The names are parameters of `GET /api/requests`: filters, `from`, `to` and `sort`. */
  params: ([string, string])[];
};

/** A filter with a name. */
export type SavedFilterRow = {
  name: string;
  /** Pairs of name and value. The names are parameters of `GET /api/requests`: filters, `from`, `to` and `sort`. */
  params: ([string, string])[];
  /** Time at which a filter was first saved under this name. */
  created_at: string;
};

/** All saved filters. */
export type SavedFilterList = {
  data: (SavedFilterRow)[];
};

/** The deletion that was requested. */
export type RequestedDeletion = {
  id: string;
  /** `removing`: requests are being removed from the log. `erasing`: all requests are removed, and their bytes are being erased from the files. `done`: no file contains the bytes of these requests. */
  state: "done" | "erasing" | "removing";
  /** Parameters of `GET /api/requests` that select the requests. In the states `erasing` and `done`, values that could identify a person are `null`. */
  filter: ([string, string | null])[];
  /** Number of requests that matched when the deletion was requested. */
  requests: number;
  /** Number of requests removed so far. */
  removed: number;
  requested_at: string;
  /** Address of the client that requested the deletion, or `command line`. */
  requested_by: string;
  /** Time at which the last request was removed from the log. `null` until then. */
  removed_at: string | null;
  /** Time at which the last byte was erased from the files. `null` until the deletion is done. */
  done_at: string | null;
  /** Number of running requests that match. These requests are not deleted, even after they end. */
  running: number;
};

/** A deletion. The log keeps the entry of a deletion forever. */
export type DeletionRow = {
  id: string;
  /** `removing`: requests are being removed from the log. `erasing`: all requests are removed, and their bytes are being erased from the files. `done`: no file contains the bytes of these requests. */
  state: "done" | "erasing" | "removing";
  /** Parameters of `GET /api/requests` that select the requests. In the states `erasing` and `done`, values that could identify a person are `null`. */
  filter: ([string, string | null])[];
  /** Number of requests that matched when the deletion was requested. */
  requests: number;
  /** Number of requests removed so far. */
  removed: number;
  requested_at: string;
  /** Address of the client that requested the deletion, or `command line`. */
  requested_by: string;
  /** Time at which the last request was removed from the log. `null` until then. */
  removed_at: string | null;
  /** Time at which the last byte was erased from the files. `null` until the deletion is done. */
  done_at: string | null;
};

/** A deletion, and what the program knows about copies of the deleted requests. */
export type DeletionReceipt = {
  id: string;
  /** `removing`: requests are being removed from the log. `erasing`: all requests are removed, and their bytes are being erased from the files. `done`: no file contains the bytes of these requests. */
  state: "done" | "erasing" | "removing";
  /** Parameters of `GET /api/requests` that select the requests. In the states `erasing` and `done`, values that could identify a person are `null`. */
  filter: ([string, string | null])[];
  /** Number of requests that matched when the deletion was requested. */
  requests: number;
  /** Number of requests removed so far. */
  removed: number;
  requested_at: string;
  /** Address of the client that requested the deletion, or `command line`. */
  requested_by: string;
  /** Time at which the last request was removed from the log. `null` until then. */
  removed_at: string | null;
  /** Time at which the last byte was erased from the files. `null` until the deletion is done. */
  done_at: string | null;
  /** Whether the deletion is done. If `false`, requests are still being removed or erased. */
  is_final: boolean;
  /** `null` if the call has no filter. */
  check: FilterCheck | null;
  /** Copies of the requests that the deletion does not reach, as sentences. */
  not_erased: (string)[];
};

/** Whether a filter is the filter of a deletion, and the number of requests that match it now.

The log keeps no values of a filter that could identify a person. It keeps a digest, with which a known filter can
be checked. */
export type FilterCheck = {
  /** The filter that was checked, with its values, as parameters of `GET /api/requests`. */
  filter: ([string, string | null])[];
  /** Whether the deletion had this filter. */
  is_filter: boolean;
  /** Time at which the matching requests were counted. */
  checked_at: string;
  /** Number of finished requests that match the filter now, whenever they started. */
  requests: number;
  /** `false` if the count was stopped at its deadline. The true count may be higher. */
  complete: boolean;
};

/** Deletions, newest first. */
export type DeletionList = {
  data: (DeletionRow)[];
};

/** A reread. The log keeps the entry of a reread forever. */
export type RereadRow = {
  id: string;
  /** `reading`: requests are being read again. `done`: the log, the search and all numbers have the new results. */
  state: "done" | "reading";
  /** Parameters of `GET /api/requests` that select the requests. In the state `done`, values that could identify a person are `null`. */
  filter: ([string, string | null])[];
  /** Number of requests that matched when the reread was requested. */
  requests: number;
  /** Number of requests that were examined so far. */
  read: number;
  /** Number of these requests whose fields or links changed. */
  changed: number;
  requested_at: string;
  /** Address of the client that requested the reread, or `command line`. */
  requested_by: string;
  /** `null` until the reread is done. */
  done_at: string | null;
};

/** Rereads, newest first. */
export type RereadList = {
  data: (RereadRow)[];
};

/** The result of parsing a query. */
export type ParsedQuery = {
  /** The query as parameters of `GET /api/requests`. Empty if the query is invalid. */
  params: ([string, string])[];
  /** The id of a request, if the query consists only of this id. Otherwise `null`. */
  request_id: string | null;
  /** The parts of the query, in order. */
  tokens: (QueryToken)[];
  /** `null` if the query is valid. */
  error: QueryError | null;
  suggestions: Suggestions;
};

/** One part of a query, such as a word or `name:value`. `start` and `end` are offsets in UTF-16 code units. */
export type QueryToken = {
  start: number;
  end: number;
  /** Name of the filter. For a word or a phrase, the name is `words`. */
  field: string;
  negated: boolean;
};

/** An error in a query. `start` and `end` are offsets in UTF-16 code units. */
export type QueryError = {
  /** Start of the first invalid part. */
  start: number;
  end: number;
  /** Error code, for programs. More codes may be added. */
  code: "bad_value" | "misplaced_star" | "missing_colon" | "missing_value" | "open_quote" | "repeated" | "too_long" | "unknown_name" | "unsupported_operator";
  /** The error, and how to correct it. */
  message: string;
  /** A valid part that can replace the invalid part. `null` if no replacement is likely. */
  replacement: string | null;
};

/** Completions of the part of the query at the caret. `start` and `end` are offsets in UTF-16 code units. */
export type Suggestions = {
  /** Start of the text that a completion replaces. */
  start: number;
  end: number;
  items: (Suggestion)[];
};

/** A completion of a query. */
export type Suggestion = {
  /** The text to insert. The text ends with a colon if a value must follow. */
  insert: string;
  /** The text to show. */
  label: string;
  /** The meaning of the completion, in a few words. */
  hint: string | null;
  /** Number of requests with this value. `null` if the requests were not counted. */
  requests: number | null;
  /** Whether the completion is a whole filter for a word without a name, such as a user. */
  is_filter: boolean;
};

/** The state of Relaybook. */
export type Status = {
  version: string;
  /** `compiled` if the code that relays requests is compiled, `plain` if it is plain Python. */
  program: "compiled" | "plain";
  relay_base_url: string;
  /** All routes. The first is that of the setting `upstream`, named `default`. */
  routes: (RouteRow)[];
  dashboard_url: string | null;
  /** Build id of the page. `null` if the page was not built. */
  page_build: string | null;
  /** `true` if this request has access because of its session cookie, which `POST /api/session` sets. `false` if the dashboard has no token, or if the request sends the token in `Authorization`. */
  signed_in: boolean;
  /** Whether `relaybook demo` writes sample data to this log. */
  sample_data: boolean;
  records: number;
  /** Number of namespaces, including pinned namespaces. */
  namespaces: number;
  /** Number of pinned namespaces. */
  labels: number;
  last_seq: number;
  /** Number of requests that have feedback. */
  feedback: number;
  /** `seq` of the newest record that full-text search can find. */
  indexed_to: number;
  running: number;
  /** Number of requests that were refused without a record, by error code. */
  refused: Record<string, number>;
  frames_lost: number;
  journal: JournalStatus;
  /** The servers that share the log, sorted by name. Empty if the log is in the data directory. */
  recorders: (RecorderStatus)[];
  storage: StorageStatus;
  retention: RetentionStatus;
  /** The latest 10 deletions, newest first. */
  deletions: (DeletionRow)[];
  /** The latest 100 gaps. */
  gaps: (LogGap)[];
  gap_count: number;
  /** Effective settings, without secrets. */
  settings: Record<string, unknown>;
};

/** A route: a base URL of the relay, and the upstream that it stands for. */
export type RouteRow = {
  name: string;
  /** Base URL for clients. */
  base_url: string;
  /** Base URL of the upstream. */
  upstream: string;
  /** Name of the preset. `null` if the route has none. */
  preset: string | null;
  /** Environment variable from which the clients of the preset read the base URL. */
  variable: string | null;
};

/** How much of the journal is not recorded yet. A field is `null` if its value is unknown. */
export type JournalStatus = {
  lag_bytes: number | null;
  lag_seconds: number | null;
};

/** One of the servers that share the log. */
export type RecorderStatus = {
  /** Machine name and data directory of the server, such as `host1:/var/lib/relaybook`. */
  server: string;
  /** `lost`: the server was not stopped, but has not reported to the log for 30 seconds. A server stays in the list until an hour after its last report. */
  state: "live" | "lost";
  /** Age of the server's newest data in the log, in seconds. If the server's last write stored requests, the age is the time since the last of these requests ended. Otherwise, it is the time since the write. */
  lag_seconds: number;
};

/** The location of the log and the state of its disk. A field is `null` if its value is unknown. */
export type StorageStatus = {
  data_path: string | null;
  store_bytes: number;
  disk_free_bytes: number | null;
  /** Days until the disk is full, at the rate of the last week. */
  days_left: number | null;
};

/** How long data is kept, and the disk budget.

Namespaces can have their own periods: see `namespaces` in the field `settings` of the status. */
export type RetentionStatus = {
  /** The content of requests: bodies, headers, previews, error messages, searchable text. */
  bodies: RetentionClock;
  requests: RetentionClock;
  /** Aggregates over time. */
  aggregates: RetentionClock;
  /** Disk space that the journal and the store may take up. If the setting `disk_budget` is `auto`, the limit depends on the free space. `null` if there is no limit or if the limit is unknown. */
  disk_budget_bytes: number | null;
  /** Disk space that the journal and the store take up in the data directory. `null` if unknown. */
  disk_used_bytes: number | null;
  /** The last removal of data because of its age or the disk budget. `null` if there was none. */
  last_removal: RemovalRow | null;
};

/** One kind of data and how long this data is kept. */
export type RetentionClock = {
  /** Number of days after which the data is removed, as in the settings. 0 means no age limit. */
  days: number;
  /** The oldest day (UTC) for which the log still has data of this kind. `null` if the log has no such data, or if the day is unknown. */
  oldest_day: string | null;
  /** The day (UTC) on which the next data becomes old enough to be removed, by the rules for namespaces, too. Today means that data is being removed. `null` if no rule removes any of the data, or if the day is unknown. */
  next_removal: string | null;
};

/** One removal of data because of its age or the disk budget. */
export type RemovalRow = {
  at: string;
  /** `age`: the data was too old. `disk_budget`: the log took too much disk space. */
  reason: "age" | "disk_budget";
  /** Number of requests that were removed. */
  requests: number;
  /** Number of requests that lost only their content. */
  contents: number;
};

/** A time range in which requests were refused or not logged, or in which records were lost. */
export type LogGap = {
  from_at: string;
  to_at: string;
  count: number;
  reason: "damaged" | "forwarded_unlogged" | "log_unavailable" | "store_set_aside";
};

/** The health of the dashboard. */
export type Health = {
  status: "ok" | "ready";
};

/** The body of `POST /api/session`. */
export type SignIn = {
  token: string;
};

/** The time at which the sign-in expires. `null` after you sign out, or if the dashboard has no token. */
export type Session = {
  expires_at: string | null;
};

/** The form of every error. */
export type ErrorResponse = {
  error: Problem;
};

/** The error. `param` is the offending parameter, field or header. */
export type Problem = {
  message: string;
  type: "api_error" | "invalid_request_error";
  param: string | null;
  code: string;
  /** The invalid part of the query, if `param` is `q`. */
  term?: string;
  /** Offset of `term` in the query, in UTF-16 code units. */
  at?: number;
  /** Number of finished requests that match the filter. Present only if `confirm` is wrong. */
  requests?: number;
};
