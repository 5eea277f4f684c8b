import { expect, it } from "vitest";
import { resultOf } from "./result";
import type { Row } from "./types.gen";

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
