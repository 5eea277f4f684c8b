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
