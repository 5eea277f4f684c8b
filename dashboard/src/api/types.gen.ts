// Generated from the API's OpenAPI document by `make docs`; a test compares the two.

/** One logged request. */
export type Row = {
  /** Our identifier of the request (UUIDv7); `Service-Request-Id` told it to the caller. */
  id: string;
  /** The order of recording, from 1; null while the request runs. */
  seq: number | null;
  /** When the request's head had arrived. */
  started_at: string;
  /** When the last byte had gone to the caller, or the request ended otherwise; null while it runs. */
  ended_at: string | null;
  /** How it ended: `open` still running; `complete` the provider's response was relayed to its end (how a stream ended: `stream_ended`); `upstream_failed` the provider could not be reached or broke off; `client_closed` the caller left before the end; `interrupted` the relay stopped; `refused` the relay answered by itself. */
  outcome: "client_closed" | "complete" | "interrupted" | "open" | "refused" | "upstream_failed";
  /** Whether the caller did not get a good answer. A caller who left is not a failure, unless the provider's answer was one by then. */
  failed: boolean;
  /** The namespace it was logged under. A label, not a security boundary. */
  namespace: string;
  /** Custom properties by name, from headers and from the body's `metadata`. */
  properties: Record<string, string>;
  /** What was adjusted in the request's tags. */
  warnings: (Note)[];
  /** The route (base URL) it came in by. */
  route: string;
  /** The provider's base URL. */
  upstream: string;
  /** The HTTP method. */
  method: string;
  /** The path asked for, the route included. */
  path: string;
  /** The query string, with the values of credentials replaced. */
  query: string;
  /** What was asked for, by the path. */
  kind: "chat" | "completion" | "embedding" | "models" | "other" | "response";
  /** The caller's address. */
  client_address: string;
  /** The caller's User-Agent. */
  user_agent: string | null;
  /** A fingerprint of the caller's API key: 12 hex digits of an HMAC; the key itself is not stored. */
  key: string | null;
  /** The model asked for. */
  model: string | null;
  /** The model that answered. */
  response_model: string | null;
  /** Whether the answer was a stream. */
  stream: boolean;
  /** Whether a stream was asked for. */
  stream_requested: boolean | null;
  /** How the stream ended: with its end mark, without it, or cut off; null if it was no stream. */
  stream_ended: "cut" | "done" | "no_done" | null;
  /** The HTTP status the caller got; null while there is none. */
  status: number | null;
  /** The error's code: ours, or the provider's. */
  error_code: string | null;
  /** The error's message: ours, or the provider's. */
  error_message: string | null;
  /** Milliseconds from the head's arrival to the end. */
  duration_ms: number | null;
  /** Milliseconds to the first piece with text, reasoning, a refusal or a tool call; null if it was no stream. */
  first_token_ms: number | null;
  /** The relay's own share of the duration, in milliseconds. */
  relay_ms: number | null;
  /** In how many pieces the answer arrived. */
  chunks: number;
  /** Bytes of the request's body, as they crossed. */
  request_bytes: number;
  /** Bytes of the answer's body, as they crossed. */
  response_bytes: number;
  /** Tokens of the request; null is unknown. */
  input_tokens: number | null;
  /** Tokens of the answer; null is unknown. */
  output_tokens: number | null;
  /** Those of the input tokens that the provider had cached. */
  cached_tokens: number | null;
  /** Those of the output tokens that are reasoning. */
  reasoning_tokens: number | null;
  /** Whether a token count is our estimate, because the provider told none. */
  tokens_estimated: boolean;
  /** Cost in US dollars; null is unknown, never 0. */
  cost_usd: number | null;
  /** Which price list the cost was computed with. */
  prices_version: string | null;
  /** Why the model stopped. */
  finish_reason: string | null;
  /** The body's `user`. */
  user: string | null;
  /** The body's `safety_identifier`. */
  safety_identifier: string | null;
  /** The body's `prompt_cache_key`. */
  prompt_cache_key: string | null;
  /** The provider's `x-request-id`. */
  provider_request_id: string | null;
  /** The answer's own id (`chatcmpl-…`). */
  completion_id: string | null;
  /** The caller's `x-client-request-id`. */
  client_request_id: string | null;
  /** The SDK's count of retries before this request. */
  retry_count: number | null;
  /** The trace id of the caller's `traceparent`. */
  trace_id: string | null;
  /** The first 200 characters of what was asked; null when bodies are not kept. */
  input_preview: string | null;
  /** The first 200 characters of the answer; null when bodies are not kept. */
  output_preview: string | null;
  /** Whether the bodies are stored, were never stored, or have expired. */
  body_state: "expired" | "no_bodies" | "stored";
  /** Remarks on the request's parameters; never a reason to refuse. */
  advice: (Note)[];
};

/** A remark on a request: a warning about its tags, or advice about its parameters. */
export type Note = {
  code: string;
  message: string;
};

/** A page of the log, latest recorded first. */
export type RequestPage = {
  data: (Row)[];
  /** Requests still open, latest started first; only on the first page. */
  running?: (Row)[];
  /** Pass it on as `cursor` for older requests; null: there are none. */
  next_cursor: string | null;
  /** Pass it on as `cursor` for newer requests; null: this page is empty, keep the one you had. */
  newer_cursor: string | null;
  /** False when the deadline ended the search: next_cursor goes on from there. */
  complete: boolean;
};

/** One request with all that is known of it. */
export type RequestDetail = {
  /** The reason phrase beside the answer's status. */
  reason: string | null;
  /** Name and value as they came; secrets are replaced. */
  request_headers: ([string, string])[] | null;
  /** Name and value as they came; secrets are replaced. */
  response_headers: ([string, string])[] | null;
  /** Bytes of the stored body as it crossed; null: not stored. */
  stored_request_bytes: number | null;
  /** Bytes of the stored body as it crossed; null: not stored. */
  stored_response_bytes: number | null;
  /** The request's fields but its messages, as sent. */
  parameters: Record<string, unknown> | null;
  /** Each with `role`, `text` and `parts`, and what else it had, as sent. */
  messages: (Record<string, unknown>)[] | null;
  /** The answer's fields, with `choices` put together from the pieces of a stream. */
  answer: Record<string, unknown> | null;
  /** Of each piece of the answer: milliseconds since the request's head, bytes. */
  timeline: ([number, number])[];
  /** Other requests that carry the id asked for, latest first, at most 20. */
  also: (Sighting)[];
  /** Our identifier of the request (UUIDv7); `Service-Request-Id` told it to the caller. */
  id: string;
  /** The order of recording, from 1; null while the request runs. */
  seq: number | null;
  /** When the request's head had arrived. */
  started_at: string;
  /** When the last byte had gone to the caller, or the request ended otherwise; null while it runs. */
  ended_at: string | null;
  /** How it ended: `open` still running; `complete` the provider's response was relayed to its end (how a stream ended: `stream_ended`); `upstream_failed` the provider could not be reached or broke off; `client_closed` the caller left before the end; `interrupted` the relay stopped; `refused` the relay answered by itself. */
  outcome: "client_closed" | "complete" | "interrupted" | "open" | "refused" | "upstream_failed";
  /** Whether the caller did not get a good answer. A caller who left is not a failure, unless the provider's answer was one by then. */
  failed: boolean;
  /** The namespace it was logged under. A label, not a security boundary. */
  namespace: string;
  /** Custom properties by name, from headers and from the body's `metadata`. */
  properties: Record<string, string>;
  /** What was adjusted in the request's tags. */
  warnings: (Note)[];
  /** The route (base URL) it came in by. */
  route: string;
  /** The provider's base URL. */
  upstream: string;
  /** The HTTP method. */
  method: string;
  /** The path asked for, the route included. */
  path: string;
  /** The query string, with the values of credentials replaced. */
  query: string;
  /** What was asked for, by the path. */
  kind: "chat" | "completion" | "embedding" | "models" | "other" | "response";
  /** The caller's address. */
  client_address: string;
  /** The caller's User-Agent. */
  user_agent: string | null;
  /** A fingerprint of the caller's API key: 12 hex digits of an HMAC; the key itself is not stored. */
  key: string | null;
  /** The model asked for. */
  model: string | null;
  /** The model that answered. */
  response_model: string | null;
  /** Whether the answer was a stream. */
  stream: boolean;
  /** Whether a stream was asked for. */
  stream_requested: boolean | null;
  /** How the stream ended: with its end mark, without it, or cut off; null if it was no stream. */
  stream_ended: "cut" | "done" | "no_done" | null;
  /** The HTTP status the caller got; null while there is none. */
  status: number | null;
  /** The error's code: ours, or the provider's. */
  error_code: string | null;
  /** The error's message: ours, or the provider's. */
  error_message: string | null;
  /** Milliseconds from the head's arrival to the end. */
  duration_ms: number | null;
  /** Milliseconds to the first piece with text, reasoning, a refusal or a tool call; null if it was no stream. */
  first_token_ms: number | null;
  /** The relay's own share of the duration, in milliseconds. */
  relay_ms: number | null;
  /** In how many pieces the answer arrived. */
  chunks: number;
  /** Bytes of the request's body, as they crossed. */
  request_bytes: number;
  /** Bytes of the answer's body, as they crossed. */
  response_bytes: number;
  /** Tokens of the request; null is unknown. */
  input_tokens: number | null;
  /** Tokens of the answer; null is unknown. */
  output_tokens: number | null;
  /** Those of the input tokens that the provider had cached. */
  cached_tokens: number | null;
  /** Those of the output tokens that are reasoning. */
  reasoning_tokens: number | null;
  /** Whether a token count is our estimate, because the provider told none. */
  tokens_estimated: boolean;
  /** Cost in US dollars; null is unknown, never 0. */
  cost_usd: number | null;
  /** Which price list the cost was computed with. */
  prices_version: string | null;
  /** Why the model stopped. */
  finish_reason: string | null;
  /** The body's `user`. */
  user: string | null;
  /** The body's `safety_identifier`. */
  safety_identifier: string | null;
  /** The body's `prompt_cache_key`. */
  prompt_cache_key: string | null;
  /** The provider's `x-request-id`. */
  provider_request_id: string | null;
  /** The answer's own id (`chatcmpl-…`). */
  completion_id: string | null;
  /** The caller's `x-client-request-id`. */
  client_request_id: string | null;
  /** The SDK's count of retries before this request. */
  retry_count: number | null;
  /** The trace id of the caller's `traceparent`. */
  trace_id: string | null;
  /** The first 200 characters of what was asked; null when bodies are not kept. */
  input_preview: string | null;
  /** The first 200 characters of the answer; null when bodies are not kept. */
  output_preview: string | null;
  /** Whether the bodies are stored, were never stored, or have expired. */
  body_state: "expired" | "no_bodies" | "stored";
  /** Remarks on the request's parameters; never a reason to refuse. */
  advice: (Note)[];
};

/** Another request that carries the id asked for. */
export type Sighting = {
  id: string;
  started_at: string;
};

/** How many finished requests a filter selects. */
export type RequestCount = {
  requests: number;
  failed: number;
  /** When the latest started; null: there is none. */
  last_at: string | null;
  /** False when the time for counting ran out: there are at least so many. */
  complete: boolean;
};

/** Requests added up over time; the span is widened to whole buckets. */
export type StatsAnswer = {
  bucket_seconds: number;
  /** When the first bucket begins. */
  from: string;
  /** When the last bucket ends. */
  to: string;
  /** The largest first, at most 20. */
  groups: (StatsGroup)[];
  other: StatsRest | null;
  total: Sum;
  /** Whether sums were ready, or the log itself was added up. */
  source: "log" | "rollups";
};

/** The requests with one value of the field asked for by `by`. */
export type StatsGroup = {
  /** The field and its value; null: requests without one. Empty without `by`. */
  by: Record<string, string | null>;
  points: (StatsPoint)[];
  total: Sum;
};

/** One bucket's requests; a bucket without any is left out. */
export type StatsPoint = {
  requests: number;
  failed: number;
  input_tokens: number;
  output_tokens: number;
  /** Of the requests whose cost is known; null: of none it is. */
  cost_usd: number | null;
  duration_ms: Percentiles;
  first_token_ms: Percentiles;
  /** When the bucket begins. */
  at: string;
};

/** Milliseconds below which 50, 95 and 99 percent lie, right within 5 %; null: none was measured. */
export type Percentiles = {
  p50: number | null;
  p95: number | null;
  p99: number | null;
};

/** Requests added up. */
export type Sum = {
  requests: number;
  failed: number;
  input_tokens: number;
  output_tokens: number;
  /** Of the requests whose cost is known; null: of none it is. */
  cost_usd: number | null;
  duration_ms: Percentiles;
  first_token_ms: Percentiles;
};

/** The requests beyond the 20 largest groups, or that cannot be told apart. */
export type StatsRest = {
  points: (StatsPoint)[];
  total: Sum;
};

/** Requests of one namespace or property value in the order in which they were recorded, cut into conversations. */
export type Thread = {
  data: (ThreadRow)[];
  /** In the order of their first requests. */
  conversations: (Conversation)[];
  /** Of all requests of the thread; null: too many to add up in time. */
  total: Sum | null;
  /** False when fewer than one in five requests of this page go on from another. */
  is_thread: boolean;
  /** Pass it on as `cursor` for older requests; null: none. */
  next_cursor: string | null;
  /** False when the deadline ended the search. */
  complete: boolean;
};

/** A request and its place in its conversation. */
export type ThreadRow = {
  /** The id of the conversation's first request that was looked at. */
  conversation: string;
  /** Counts from 1 along the conversation. */
  turn: number;
  /** The request it goes on from; null: it begins a conversation. */
  follows: string | null;
  /** The latest request before it with the same messages: a retry or a variant. */
  repeats: string | null;
  new_messages: NewMessages;
  /** Our identifier of the request (UUIDv7); `Service-Request-Id` told it to the caller. */
  id: string;
  /** The order of recording, from 1; null while the request runs. */
  seq: number | null;
  /** When the request's head had arrived. */
  started_at: string;
  /** When the last byte had gone to the caller, or the request ended otherwise; null while it runs. */
  ended_at: string | null;
  /** How it ended: `open` still running; `complete` the provider's response was relayed to its end (how a stream ended: `stream_ended`); `upstream_failed` the provider could not be reached or broke off; `client_closed` the caller left before the end; `interrupted` the relay stopped; `refused` the relay answered by itself. */
  outcome: "client_closed" | "complete" | "interrupted" | "open" | "refused" | "upstream_failed";
  /** Whether the caller did not get a good answer. A caller who left is not a failure, unless the provider's answer was one by then. */
  failed: boolean;
  /** The namespace it was logged under. A label, not a security boundary. */
  namespace: string;
  /** Custom properties by name, from headers and from the body's `metadata`. */
  properties: Record<string, string>;
  /** What was adjusted in the request's tags. */
  warnings: (Note)[];
  /** The route (base URL) it came in by. */
  route: string;
  /** The provider's base URL. */
  upstream: string;
  /** The HTTP method. */
  method: string;
  /** The path asked for, the route included. */
  path: string;
  /** The query string, with the values of credentials replaced. */
  query: string;
  /** What was asked for, by the path. */
  kind: "chat" | "completion" | "embedding" | "models" | "other" | "response";
  /** The caller's address. */
  client_address: string;
  /** The caller's User-Agent. */
  user_agent: string | null;
  /** A fingerprint of the caller's API key: 12 hex digits of an HMAC; the key itself is not stored. */
  key: string | null;
  /** The model asked for. */
  model: string | null;
  /** The model that answered. */
  response_model: string | null;
  /** Whether the answer was a stream. */
  stream: boolean;
  /** Whether a stream was asked for. */
  stream_requested: boolean | null;
  /** How the stream ended: with its end mark, without it, or cut off; null if it was no stream. */
  stream_ended: "cut" | "done" | "no_done" | null;
  /** The HTTP status the caller got; null while there is none. */
  status: number | null;
  /** The error's code: ours, or the provider's. */
  error_code: string | null;
  /** The error's message: ours, or the provider's. */
  error_message: string | null;
  /** Milliseconds from the head's arrival to the end. */
  duration_ms: number | null;
  /** Milliseconds to the first piece with text, reasoning, a refusal or a tool call; null if it was no stream. */
  first_token_ms: number | null;
  /** The relay's own share of the duration, in milliseconds. */
  relay_ms: number | null;
  /** In how many pieces the answer arrived. */
  chunks: number;
  /** Bytes of the request's body, as they crossed. */
  request_bytes: number;
  /** Bytes of the answer's body, as they crossed. */
  response_bytes: number;
  /** Tokens of the request; null is unknown. */
  input_tokens: number | null;
  /** Tokens of the answer; null is unknown. */
  output_tokens: number | null;
  /** Those of the input tokens that the provider had cached. */
  cached_tokens: number | null;
  /** Those of the output tokens that are reasoning. */
  reasoning_tokens: number | null;
  /** Whether a token count is our estimate, because the provider told none. */
  tokens_estimated: boolean;
  /** Cost in US dollars; null is unknown, never 0. */
  cost_usd: number | null;
  /** Which price list the cost was computed with. */
  prices_version: string | null;
  /** Why the model stopped. */
  finish_reason: string | null;
  /** The body's `user`. */
  user: string | null;
  /** The body's `safety_identifier`. */
  safety_identifier: string | null;
  /** The body's `prompt_cache_key`. */
  prompt_cache_key: string | null;
  /** The provider's `x-request-id`. */
  provider_request_id: string | null;
  /** The answer's own id (`chatcmpl-…`). */
  completion_id: string | null;
  /** The caller's `x-client-request-id`. */
  client_request_id: string | null;
  /** The SDK's count of retries before this request. */
  retry_count: number | null;
  /** The trace id of the caller's `traceparent`. */
  trace_id: string | null;
  /** The first 200 characters of what was asked; null when bodies are not kept. */
  input_preview: string | null;
  /** The first 200 characters of the answer; null when bodies are not kept. */
  output_preview: string | null;
  /** Whether the bodies are stored, were never stored, or have expired. */
  body_state: "expired" | "no_bodies" | "stored";
  /** Remarks on the request's parameters; never a reason to refuse. */
  advice: (Note)[];
};

/** Which of a request's messages were not in the request it goes on from. */
export type NewMessages = {
  /** The index of the first. */
  from: number;
  count: number;
};

/** What of a conversation is on this page. */
export type Conversation = {
  conversation: string;
  requests: number;
  /** The highest turn. */
  turns: number;
  failed: number;
  input_tokens: number;
  output_tokens: number;
  /** Of the requests whose cost is known; null: of none it is. */
  cost_usd: number | null;
  first_at: string;
  last_at: string;
};

/** Namespaces, largest by the sort first. */
export type NamespacePage = {
  data: (Namespace)[];
  next_cursor: string | null;
  /** False when the time for counting a span ran out: there are at least so many requests. */
  complete: boolean;
};

/** A namespace with its counters, and how it is shown: a pinned one is a label, all others are threads. */
export type Namespace = {
  namespace: string;
  requests: number;
  failed: number;
  /** Null when counted for a span of time, for which it is not kept. */
  input_tokens: number | null;
  /** Null when counted for a span of time, for which it is not kept. */
  output_tokens: number | null;
  /** Null when counted for a span of time, for which it is not kept. */
  cost_usd: number | null;
  /** Null without a request. Null when counted for a span of time, for which it is not kept. */
  first_at: string | null;
  /** When the latest request started; null: there is none. */
  last_at: string | null;
  pinned: boolean;
  /** The label's slot, 1 to 8; null: not pinned. */
  color: number | null;
  /** The labels it stands among; null: none, or not pinned. */
  group: string | null;
  /** The label's place among all labels; null: not pinned. */
  position: number | null;
};

/** How a namespace is to be shown. What is left out stays as it is. */
export type LabelChange = {
  /** As requests have it; it needs none yet. */
  namespace: string;
  /** True: it becomes a label. False: a thread again, without all of the others. */
  pinned?: boolean;
  /** A slot, 1 to 8; when pinned without one: the lowest free, or else the next in turn. */
  color?: number;
  /** The labels it stands among; when pinned without one: by a few usual names, else null. */
  group?: string | null;
  /** Its place among all labels, 0 to 9999; when pinned without one: after the last. */
  position?: number;
};

/** Values of one field, most frequent first. */
export type FieldValues = {
  data: (FieldValue)[];
};

/** A value of a field and how many requests have it. */
export type FieldValue = {
  value: string;
  requests: number;
};

/** How Relaybook is. */
export type Status = {
  version: string;
  relay_base_url: string;
  dashboard_url: string | null;
  /** Which build of the page is served; null: it was not built. */
  page_build: string | null;
  /** Whether `relaybook demo` fills this log. */
  sample_data: boolean;
  records: number;
  /** How many namespaces there are, labels among them. */
  namespaces: number;
  /** How many of them are pinned. */
  labels: number;
  last_seq: number;
  /** The newest record (`seq`) whose words can be found by `q`. */
  indexed_to: number;
  running: number;
  /** Requests that were not admitted, by code. */
  refused: Record<string, number>;
  frames_lost: number;
  journal: JournalStatus;
  storage: StorageStatus;
  /** The latest 100. */
  gaps: (LogGap)[];
  gap_count: number;
  /** Effective settings, without secrets. */
  settings: Record<string, unknown>;
};

/** How far the log is behind. Null: unknown. */
export type JournalStatus = {
  lag_bytes: number | null;
  lag_seconds: number | null;
};

/** Where the log lies and how long its disk lasts at the present rate. Null: unknown. */
export type StorageStatus = {
  data_path: string | null;
  store_bytes: number;
  disk_free_bytes: number | null;
  days_left: number | null;
};

/** A span in which requests were answered but not logged, or logged and then lost. */
export type LogGap = {
  from_at: string;
  to_at: string;
  count: number;
  reason: "damaged" | "forwarded_unlogged" | "log_unavailable" | "store_set_aside";
};

/** Whether this listener works. */
export type Health = {
  status: "ok" | "ready";
};

/** What `POST /api/session` takes. */
export type SignIn = {
  token: string;
};

/** A sign-in, until when; null when this dashboard has no token. */
export type Session = {
  expires_at: string | null;
};

/** The shape of every refusal. */
export type ErrorAnswer = {
  error: Problem;
};

/** What was wrong and how to mend it; `param` names the parameter, field or header at fault. */
export type Problem = {
  message: string;
  type: "api_error" | "invalid_request_error";
  param: string | null;
  code: string;
};
