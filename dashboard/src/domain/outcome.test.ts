import { describe, expect, it } from "vitest";
import { clockTime } from "~/format/time";
import type { RequestDetail, Row } from "~/generated/api-types";
import { sampleRequest } from "~/test/fixtures";
import { resultOf, runningMs, summarizeOutcome } from "./outcome";

const READ_AT = new Date("2026-11-21T14:02:31.000Z");
const shown = (result: Row["result"]) => {
  const { sign, text } = resultOf({ started_at: "2026-11-21T14:02:27.800Z", result } as Row, READ_AT);
  return `${sign} ${text}`;
};

it("a running request has run at least until its first token, whatever the viewer's clock says", () => {
  const row = { started_at: "2026-11-21T14:02:30.500Z", first_token_ms: 1250 } as Row;
  expect(runningMs(row, READ_AT)).toBe(1250);
});

it("a result has the text of the API, a sign, and the time of a running request", () => {
  expect(shown({ code: "running", text: "Running", tone: "running" })).toBe("◐ Running 3.20 s");
  expect(shown({ code: "tool_calls", text: "200 · tool calls", tone: "good" })).toBe("✓ 200 · tool calls");
  expect(shown({ code: "rate_limited", text: "429 rate limited", tone: "bad" })).toBe("✗ 429 rate limited");
  expect(shown({ code: "client_disconnected", text: "Client disconnected", tone: "neutral" })).toBe(
    "◌ Client disconnected",
  );
});

const NOW = new Date("2026-11-21T13:02:41.900Z");
const summarize = (changes: Partial<RequestDetail>) => {
  const { sign, text, more } = summarizeOutcome(sampleRequest(changes), NOW);
  return [sign, text, more].filter(Boolean).join(" ");
};

const coded = (code: Row["result"]["code"], tone: Row["result"]["tone"] = "good") =>
  ({ result: { code, text: "200", tone } }) as const;

describe("the first line of a request", () => {
  it("has tokens and times of a complete response", () => {
    const streamed = { stream: true, first_token_ms: 412, tokens_per_second: 59, stream_ended: "done" } as const;
    expect(summarize(streamed)).toBe("✓ Complete: 118 tokens in 2.41 s. First token after 412 ms, then 59 tokens/s.");
    expect(summarize({ ...streamed, output_tokens: null, tokens_per_second: null })).toBe(
      "✓ Complete after 2.41 s. First token after 412 ms.",
    );
    expect(summarize({ tokens_estimated: true })).toBe("✓ Complete: ≈118 tokens in 2.41 s.");
    expect(summarize({ output_tokens: null, duration_ms: 110 })).toBe("✓ Complete after 110 ms.");
    expect(summarize({ ...coded("truncated"), output_tokens: 1 })).toBe(
      "✓ Truncated at the token limit: 1 token in 2.41 s.",
    );
    expect(summarize(coded("tool_calls"))).toMatch(/^✓ Complete, with tool calls: /);
    expect(summarize(coded("filtered"))).toMatch(/^✓ Stopped by the provider's content filter: /);
  });

  it("begins with one sentence", () => {
    const message = "The upstream closed the connection in the middle of its response. The request was sent.";
    const broken = { outcome: "upstream_failed", failed: true, chunks: 2, error_message: message } as const;
    expect(summarizeOutcome(sampleRequest(broken), NOW)).toMatchObject({
      text: "The upstream closed the connection in the middle of its response.",
      more: "The request was sent. The client received 2 chunks, then the connection ended.",
    });
    expect(summarizeOutcome(sampleRequest({}), NOW)).toMatchObject({
      text: "Complete: 118 tokens in 2.41 s.",
      more: "",
    });
  });

  it("does not call a HEAD request a failure if the upstream has no such path", () => {
    const result = { code: "not_found", text: "404 not found", tone: "neutral" } as const;
    const head = { method: "HEAD", status: 404, failed: false, reason: "Not Found", error_code: null, result };
    expect(summarize({ ...head, error_message: null })).toBe(
      "◌ The upstream returned 404 Not Found (returned to the client unchanged). A client sends HEAD to test the connection, so this is not a failure.",
    );
  });

  it("quotes an error from the upstream", () => {
    const limited = { failed: true, status: 429, error_code: "rate_limit_exceeded" };
    expect(summarize({ ...limited, error_message: "Rate limit reached for gpt-4o-mini" })).toBe(
      '✗ The upstream returned 429 rate_limit_exceeded: "Rate limit reached for gpt-4o-mini" (returned to the client unchanged).',
    );
    expect(summarize({ ...limited, error_message: "Try again\nin 1s." })).toBe(
      '✗ The upstream returned 429 rate_limit_exceeded: "Try again in 1s" (returned to the client unchanged).',
    );
    expect(summarize({ failed: true, status: 503, reason: "Service Unavailable" })).toBe(
      "✗ The upstream returned 503 Service Unavailable (returned to the client unchanged).",
    );
    expect(summarize({ failed: true, status: 200, error_code: "server_error", error_message: "oops" })).toBe(
      '✗ The response ended with an error from the upstream: server_error, "oops".',
    );
  });

  it("says that a response is incomplete, and what the client received", () => {
    const incomplete = { failed: true, error_code: "stream_incomplete", ...coded("incomplete", "bad") } as const;
    expect(summarize({ ...incomplete, stream: true, chunks: 61 })).toBe(
      "✗ The stream ended early. The client received 61 chunks.",
    );
    expect(summarize({ ...incomplete, response_bytes: 0, chunks: 0 })).toBe(
      "✗ The response is empty (returned to the client unchanged).",
    );
    expect(summarize({ ...incomplete, chunks: 1 })).toBe("✗ The response ended early. The client received 1 chunk.");
    expect(summarize({ ...incomplete, stream: true, chunks: 2, error_message: "Choice 1 has no end." })).toBe(
      "✗ Choice 1 has no end. The client received 2 chunks.",
    );
  });

  it("says that a response is not JSON", () => {
    const page = { failed: true, error_code: "not_json", ...coded("unexpected_body", "bad") } as const;
    expect(summarize(page)).toBe("✗ The response is not JSON (returned to the client unchanged).");
    expect(summarize({ ...page, error_message: "The response is not JSON: Sign in" })).toBe(
      "✗ The response is not JSON: Sign in (returned to the client unchanged).",
    );
  });

  it("has the reason if the upstream failed, and what the client received", () => {
    const broken = { outcome: "upstream_failed", failed: true } as const;
    const closed = "The upstream closed the connection in the middle of its response.";
    expect(summarize({ ...broken, chunks: 61, error_code: "upstream_stream_interrupted", error_message: closed })).toBe(
      `✗ ${closed} The client received 61 chunks, then the connection ended.`,
    );
    const silent = "The upstream sent no response within 600 s (setting upstream_timeout).";
    expect(
      summarize({ ...broken, chunks: 0, status: 504, error_code: "upstream_timeout", error_message: silent }),
    ).toBe(`✗ ${silent} The client received a 504.`);
    expect(summarize({ ...broken, chunks: 0, status: null, error_message: null })).toBe(
      "✗ The upstream failed. The client received an error.",
    );
  });

  it("has the time at which the client disconnected", () => {
    const disconnected = { outcome: "client_closed", duration_ms: 1900 } as const;
    expect(summarize({ ...disconnected, stream: true, stream_ended: "cut" })).toBe(
      "◌ The client disconnected after 1.90 s, before the response was complete. The upstream connection was closed at once.",
    );
    expect(summarize({ ...disconnected, status: null })).toBe(
      "◌ The client disconnected after 1.90 s, before the response began. The upstream connection was closed at once.",
    );
    expect(summarize({ ...disconnected, failed: true, error_code: "server_error", error_message: "Sorry." })).toBe(
      '✗ The response ended with an error from the upstream: server_error, "Sorry". Then the client disconnected.',
    );
  });

  it("has the time at which Relaybook stopped", () => {
    const stopped = { outcome: "interrupted", failed: true, ended_at: "2026-11-21T13:00:42Z" } as const;
    const at = clockTime(stopped.ended_at);
    expect(summarize(stopped)).toBe(
      `✗ Relaybook stopped at ${at} before the response was complete. The log has all bytes that had arrived.`,
    );
    expect(summarize({ ...stopped, body_state: "no_bodies" })).toBe(
      `✗ Relaybook stopped at ${at} before the response was complete.`,
    );
    expect(summarize({ ...stopped, body_state: "no_bodies", error_code: "log_unavailable" })).toBe(
      `✗ Relaybook could not write its journal at ${at} and interrupted the response.`,
    );
  });

  it("says that the client may have received more than is in the log", () => {
    expect(summarize({ outcome: "interrupted", failed: true, error_code: "log_incomplete" })).toBe(
      "✗ The journal could not be written while this request ran. The rest of the request is missing from the log. The client may have received the whole response.",
    );
  });

  it("has the reason if Relaybook refused the request", () => {
    const refused = { outcome: "refused", failed: true, status: 413, error_code: "request_too_large" } as const;
    const error_message =
      "The request body has 71000000 bytes or more. The limit is 67108864 (setting max_request_bytes).";
    expect(summarize({ ...refused, error_message })).toBe(`✗ Relaybook refused the request. ${error_message}`);
    expect(summarize({ ...refused, error_message: null })).toBe(
      "✗ Relaybook refused the request. 413 request_too_large.",
    );
  });

  it("has the running time and the progress of a running request", () => {
    const running = { outcome: "open", status: null, duration_ms: null } as const;
    expect(summarize({ ...running, output_tokens: 41 })).toBe("◐ Running for 13 s. 41 tokens so far.");
    expect(summarize({ ...running, output_tokens: null, chunks: 0 })).toBe("◐ Running for 13 s. No response so far.");
    expect(summarize({ ...running, output_tokens: null, chunks: 3 })).toBe("◐ Running for 13 s. 3 chunks so far.");
  });

  it("has a running time that is not shorter than the times the relay measured", () => {
    const running = { outcome: "open", status: null, duration_ms: null, output_tokens: 1, chunks: 3 } as const;
    expect(summarize({ ...running, first_token_ms: 12_400, timeline: [] })).toContain("Running for 13 s.");
    expect(summarize({ ...running, first_token_ms: 20, timeline: [[14_100, 5]] })).toContain("Running for 15 s.");
  });

  it("has no placeholders, even if all other values are unknown", () => {
    const unknown = {
      status: null,
      duration_ms: null,
      output_tokens: null,
      error_code: null,
      error_message: null,
      reason: null,
    };
    for (const outcome of ["complete", "upstream_failed", "client_closed", "interrupted", "refused", "open"] as const) {
      for (const failed of [true, false]) {
        const line = summarize({
          ...unknown,
          outcome,
          failed,
          ended_at: null,
          request_headers: null,
          finish_reason: null,
        });
        expect(line).not.toMatch(/undefined|null|NaN|–/);
        expect(line).toMatch(/[.]$/);
      }
    }
  });
});
