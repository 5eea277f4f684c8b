import { describe, expect, it } from "vitest";
import { resultOf } from "./result";
import type { Row } from "./types.gen";

const NOW = new Date("2026-11-21T14:02:31.000Z");
const words = (row: Partial<Row>) => {
  const { sign, words: said } = resultOf({ outcome: "complete", failed: false, status: 200, ...row } as Row, NOW);
  return `${sign} ${said}`;
};

describe("how a request ended", () => {
  it.each([
    [{ outcome: "open", started_at: "2026-11-21T14:02:27.800Z" }, "◐ running 3.20 s"],
    [{}, "✓ 200"],
    [{ finish_reason: "tool_calls" }, "✓ 200 tools"],
    [{ finish_reason: "length" }, "✓ 200 cut short"],
    [{ failed: true, status: 429 }, "✗ 429 provider"],
    [{ failed: true }, "✗ 200 error in stream"],
    [{ outcome: "upstream_failed", error_code: "upstream_reset" }, "✗ provider cut"],
    [{ outcome: "upstream_failed", error_code: "upstream_unreachable" }, "✗ no provider"],
    [{ outcome: "client_closed" }, "◌ caller left"],
    [{ outcome: "client_closed", failed: true }, "✗ 200 error in stream"],
    [{ outcome: "interrupted" }, "✗ relay stopped"],
    [{ outcome: "interrupted", error_code: "log_unavailable" }, "✗ log failed"],
    [{ outcome: "refused", status: 413 }, "✗ 413 refused"],
  ] as const)("%j is told as %s", (row, told) => {
    expect(words(row as Partial<Row>)).toBe(told);
  });
});
