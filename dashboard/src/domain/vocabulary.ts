/** Fields, values and codes with a short description each. Pure. */

/** Every name but `property.<name>`, with a word on what it is; those asked for most come first. */
export const NAMES: Readonly<Record<string, string>> = {
  namespace: "an environment, a channel, a thread",
  model: "the model asked for",
  status: "429, 4xx, or error for all that failed",
  duration: "how long it took: >2s",
  cost: "in US dollars: >0.01",
  user: "the body's user",
  result: "the result as the list shows it",
  outcome: "how it ended",
  finish_reason: "why the model stopped",
  first_token: "how long to the first token: >500ms",
  input_tokens: "tokens of the prompt: >1000",
  output_tokens: "tokens of the answer: >1000",
  contains: "a piece of its text; needs from",
  from: "started then or later: -1h",
  to: "started before: -15m",
  key: "fingerprint of the API key",
  kind: "what was asked for",
  failed: "true or false",
  retry_count: "retries by the SDK: >=1",
  namespace_prefix: "how the namespace begins",
  path: "the path asked for",
  route: "the route it came in by",
  warning: "code of a warning about its tags",
  advice: "code of a remark on its parameters",
  id: "our id of the request",
};

/** Names whose values are bounds, and bounds worth proposing. */
export const BOUNDS: Readonly<Record<string, readonly string[]>> = {
  duration: [">500ms", ">2s", ">10s", ">1m", "<300ms"],
  first_token: [">300ms", ">1s", ">5s", "<200ms"],
  cost: [">0.01", ">0.1", ">1", "<0.001"],
  input_tokens: [">1000", ">10000", "<100"],
  output_tokens: [">1000", ">100", "<10"],
  retry_count: [">=1", ">=2"],
};

/** Names whose values have a unit of time. */
export const TIMED: ReadonlySet<string> = new Set(["duration", "first_token"]);

/** Values that are the same in every log, with a word on what each is. */
export const FIXED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  status: {
    error: "all that failed",
    "4xx": "the request was at fault",
    "5xx": "the provider or Relaybook was at fault",
    "200": "answered",
    "400": "not understood",
    "401": "the key was refused",
    "404": "no such model or path",
    "429": "too many requests",
  },
  result: {
    complete: "200",
    rate_limited: "429 rate limited",
    truncated: "200 · token limit",
    tool_calls: "200 · tool calls",
    filtered: "200 · content filter",
    client_disconnected: "Client disconnected",
    server_error: "500 server error",
    error_in_stream: "200 · error in stream",
    upstream_unreachable: "502 upstream unreachable",
    upstream_timeout: "504 upstream timeout",
    upstream_reset: "Connection reset by provider",
    upstream_stream_interrupted: "Stream interrupted by provider",
    refused: "refused by Relaybook",
    relay_stopped: "Relay stopped",
  },
  outcome: {
    complete: "the provider's response came whole",
    client_closed: "the caller left before the end",
    upstream_failed: "the provider broke off or was not there",
    interrupted: "Relaybook was stopped",
    refused: "Relaybook refused; the provider never saw it",
    open: "still running",
  },
  kind: {
    chat: "chat completions",
    completion: "text completions",
    response: "the responses API",
    embedding: "embeddings",
    models: "the list of models",
    other: "everything else",
  },
  failed: { true: "no good answer came", false: "all others" },
  from: {
    "-15m": "the last 15 minutes",
    "-1h": "the last hour",
    "-24h": "the last day",
    "-7d": "the last week",
    "-30d": "the last 30 days",
  },
};

/** Fields whose values the API can list. */
export const LISTED = /^(namespace|model|user|key|finish_reason|property\.[^:]+)$/u;

/** Whether it is a name here. */
export function isName(name: string): boolean {
  return Object.hasOwn(NAMES, name) || /^property\../u.test(name);
}

/** Why requests were not admitted, by the code their callers got. Pure. */
const WORDS: Record<string, string> = {
  bad_request: "The HTTP was malformed or ambiguous.",
  not_found: "The path lies under no route; most often the base URL lacks /v1.",
  request_timeout: "The request's head did not arrive in time.",
  method_not_allowed: "CONNECT or TRACE was asked for.",
  not_supported: "A protocol that is not relayed was asked for, such as websockets.",
  version_not_supported: "An HTTP version other than 1.0 and 1.1 was spoken.",
  expectation_failed: "An Expect other than 100-continue was sent.",
  uri_too_long: "The request line was over its limit.",
  headers_too_large: "The headers were over their limit.",
  overloaded: "More than max_in_flight requests ran at a time.",
  log_unavailable: "The log could not be written: see the gaps.",
  shutting_down: "Relaybook was being stopped.",
};

export function refusalWords(code: string): string {
  return WORDS[code] ?? "See this code in the documentation of errors.";
}
