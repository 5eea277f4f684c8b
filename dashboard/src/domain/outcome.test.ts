import { describe, expect, it } from "vitest";
import { clockTime } from "~/format/time";
import type { RequestDetail, Row } from "~/generated/api-types";
import { sampleRequest } from "~/test/fixtures";
import { resultOf, summarizeOutcome } from "./outcome";

const READ_AT = new Date("2026-11-21T14:02:31.000Z");
const shown = (result: Row["result"]) => {
  const { sign, words } = resultOf({ started_at: "2026-11-21T14:02:27.800Z", result } as Row, READ_AT);
  return `${sign} ${words}`;
};

it("has the words of the API, a sign, and the time of a running request", () => {
  expect(shown({ code: "running", text: "running", tone: "running" })).toBe("◐ running 3.20 s");
  expect(shown({ code: "tool_calls", text: "200 tool calls", tone: "good" })).toBe("✓ 200 tool calls");
  expect(shown({ code: "error", text: "429 error", tone: "bad" })).toBe("✗ 429 error");
  expect(shown({ code: "client_disconnected", text: "client disconnected", tone: "neutral" })).toBe(
    "◌ client disconnected",
  );
});

const NOW = new Date("2026-11-21T13:02:41.900Z");
const told = (different: Partial<RequestDetail>) => {
  const { sign, text } = summarizeOutcome(sampleRequest(different), NOW);
  return `${sign} ${text}`;
};

describe("the first line tells how it ended and whose fault it was", () => {
  it("when it was answered", () => {
    const streamed = { stream: true, first_token_ms: 412, stream_ended: "done" } as const;
    expect(told(streamed)).toBe("✓ Answered. First token after 412 ms, 118 tokens in 2.41 s.");
    expect(told({ ...streamed, output_tokens: null })).toBe(
      "✓ Answered. First token after 412 ms, the whole answer after 2.41 s.",
    );
    expect(told({ tokens_estimated: true })).toBe("✓ Answered. ≈118 tokens in 2.41 s.");
    expect(told({ output_tokens: null, duration_ms: 110 })).toBe("✓ Answered. It took 110 ms.");
    expect(told({ finish_reason: "length", output_tokens: 1 })).toBe(
      "✓ Answered, but cut short at the token limit. 1 token in 2.41 s.",
    );
    expect(told({ ...streamed, stream_ended: "no_done" })).toMatch(/2\.41 s\. The stream ended without \[DONE\]\.$/);
  });

  it("when the provider refused, in its own words", () => {
    const refused = { failed: true, status: 429, error_code: "rate_limit_exceeded" };
    expect(told({ ...refused, error_message: "Rate limit reached for gpt-4o-mini" })).toBe(
      '✗ The provider refused: 429 rate_limit_exceeded, "Rate limit reached for gpt-4o-mini". Passed on unchanged.',
    );
    expect(told({ ...refused, error_message: "Try again\nin 1s." })).toBe(
      '✗ The provider refused: 429 rate_limit_exceeded, "Try again in 1s." Passed on unchanged.',
    );
    expect(told({ failed: true, status: 503, reason: "Service Unavailable" })).toBe(
      "✗ The provider failed: 503 Service Unavailable. Passed on unchanged.",
    );
    expect(told({ failed: true, status: 200, error_code: "server_error", error_message: "oops" })).toBe(
      '✗ The provider\'s answer ended with an error: server_error, "oops". Passed on unchanged.',
    );
  });

  it("when the provider broke off", () => {
    const broken = { outcome: "upstream_failed", failed: true, duration_ms: 4070 } as const;
    const closed = "The upstream closed the connection in the middle of its response. The request was sent.";
    expect(told({ ...broken, chunks: 61, error_code: "upstream_stream_interrupted", error_message: closed })).toBe(
      "✗ The provider broke off after 4.07 s, in the middle of the answer. The caller got 61 chunks and then an error.",
    );
    expect(told({ ...broken, chunks: 0, status: 502, error_code: "upstream_reset" })).toBe(
      "✗ The provider broke off after 4.07 s, before it answered. The caller got a 502.",
    );
    const silent = "The upstream sent no response within 600 s (setting upstream_timeout).";
    expect(told({ ...broken, chunks: 0, status: 504, error_code: "upstream_timeout", error_message: silent })).toBe(
      `✗ ${silent} The caller got a 504.`,
    );
  });

  it("when the provider could not be reached", () => {
    const unreachable = {
      outcome: "upstream_failed",
      failed: true,
      chunks: 0,
      error_code: "upstream_unreachable",
    } as const;
    const why = (reason: string) =>
      told({
        ...unreachable,
        error_message: `The upstream at 10.0.0.7:443 could not be reached: ${reason}. The request was not sent. Try again, or check the setting upstream.`,
      });
    expect(why("[Errno 111] Connect call failed ('10.0.0.7', 443)")).toBe(
      "✗ The provider could not be reached: connection refused by 10.0.0.7:443. Nothing was sent.",
    );
    expect(why("[Errno -2] Name or service not known")).toBe(
      "✗ The provider could not be reached: 10.0.0.7:443: Name or service not known. Nothing was sent.",
    );
    expect(told({ ...unreachable, error_message: null })).toBe(
      "✗ The provider could not be reached. Nothing was sent.",
    );
  });

  it("when the caller left", () => {
    const left = { outcome: "client_closed", duration_ms: 1900 } as const;
    expect(told({ ...left, stream: true, stream_ended: "cut" })).toBe(
      "◌ The caller left after 1.90 s, before the answer was complete. The provider was told at once.",
    );
    expect(told({ ...left, status: null })).toBe(
      "◌ The caller left after 1.90 s, before the answer began. The provider was told at once.",
    );
    expect(told({ ...left, failed: true, error_code: "server_error", error_message: "Sorry." })).toBe(
      '✗ The provider\'s answer ended with an error: server_error, "Sorry." Passed on unchanged. Then the caller left.',
    );
  });

  it("when Relaybook stopped", () => {
    const stopped = { outcome: "interrupted", failed: true, ended_at: "2026-11-21T13:00:42Z" } as const;
    const at = clockTime(stopped.ended_at);
    expect(told(stopped)).toBe(
      `✗ Relaybook itself stopped at ${at} while the answer was running. All that had arrived is here.`,
    );
    expect(told({ ...stopped, body_state: "no_bodies" })).toBe(
      `✗ Relaybook itself stopped at ${at} while the answer was running.`,
    );
  });

  it("when the journal failed: the caller may have got more than the log has", () => {
    const error_message = "The journal could not be written. The log does not have what came after this.";
    const lost = { outcome: "interrupted", failed: true, error_code: "log_unavailable", error_message } as const;
    expect(told(lost)).toBe(
      "✗ While it ran the journal could not be written: the log lacks the rest. The caller may have got all of it.",
    );
  });

  it("when Relaybook refused, with the setting that says so", () => {
    const refused = { outcome: "refused", failed: true, status: 413, error_code: "request_too_large" } as const;
    expect(
      told({
        ...refused,
        error_message:
          "The request body has 71000000 bytes or more. The limit is 67108864 (setting max_request_bytes).",
      }),
    ).toBe(
      "✗ Relaybook refused: the body of 71 MB is over the limit of 64 MiB. It never reached the provider. Setting: max_request_bytes.",
    );
    expect(told({ ...refused, request_headers: [], error_message: "The request body is not valid HTTP." })).toBe(
      "✗ Relaybook refused: the request body is not valid HTTP. The provider did not get it whole.",
    );
  });

  it("while it runs", () => {
    const running = { outcome: "open", status: null, duration_ms: null } as const;
    expect(told({ ...running, output_tokens: 41 })).toBe("◐ Running for 12 s. 41 tokens so far.");
    expect(told({ ...running, output_tokens: null, chunks: 0 })).toBe("◐ Running for 12 s. No answer so far.");
    expect(told({ ...running, output_tokens: null, chunks: 3 })).toBe("◐ Running for 12 s. 3 chunks so far.");
  });

  it("in words only, however little is known", () => {
    const nothing = {
      status: null,
      duration_ms: null,
      output_tokens: null,
      error_code: null,
      error_message: null,
      reason: null,
    };
    for (const outcome of ["complete", "upstream_failed", "client_closed", "interrupted", "refused", "open"] as const) {
      for (const failed of [true, false]) {
        const line = told({ ...nothing, outcome, failed, ended_at: null, request_headers: null, finish_reason: null });
        expect(line).not.toMatch(/undefined|null|NaN|–/);
        expect(line).toMatch(/[.]$/);
      }
    }
  });
});
