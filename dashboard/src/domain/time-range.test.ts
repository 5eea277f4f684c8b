import { expect, it } from "vitest";
import { fixedRange, formatTimeRange, parseTimestamp } from "./time-range";

const NOW = new Date("2026-11-26T12:00:00Z");

it("the tests run in a time zone other than UTC", () => {
  expect(new Date(2026, 10, 21).toISOString()).not.toBe("2026-11-21T00:00:00.000Z");
});

it.each(["2026-11-21T14:00:00", "2026-11-21 14:00", "2026-11-21T14:00:00z", "2026-11-21T16:00:00+02:00"])(
  "a timestamp is in UTC unless it has an offset: %s",
  (text) => {
    expect(parseTimestamp(text, NOW)?.toISOString()).toBe("2026-11-21T14:00:00.000Z");
  },
);

it("a date is the start of the day in UTC, and other texts are not timestamps", () => {
  expect(parseTimestamp("2026-11-21", NOW)?.toISOString()).toBe("2026-11-21T00:00:00.000Z");
  expect(["-1x", "monday", "12:00"].map((text) => parseTimestamp(text, NOW))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

it("a range without an offset has the same name as the range in UTC", () => {
  const [from, to] = ["2026-11-19T14:02:00", "2026-11-21T14:02:00"];
  expect(formatTimeRange({ from, to }, NOW)).toBe(formatTimeRange({ from: `${from}Z`, to: `${to}Z` }, NOW));
  expect(formatTimeRange({ from: "-90m" }, NOW)).toBe("since -90m");
});

it("a fixed range has the same absolute ends, to the microsecond", () => {
  const range = { from: "2026-11-21T14:00:00.123456", to: "2026-11-21T15:00:00.654321Z" };
  expect(fixedRange(range, NOW)).toEqual(range);
  expect(fixedRange({ from: "-1h" }, NOW)).toEqual({
    from: "2026-11-26T11:00:00.000Z",
    to: "2026-11-26T12:00:00.000Z",
  });
});

it("a fixed range ends now at the latest, so that it selects no requests that are sent later", () => {
  const from = "2026-11-26T11:00:00Z";
  expect(fixedRange({ from, to: "2026-11-26T13:00:00Z" }, NOW)).toEqual({ from, to: "2026-11-26T12:00:00.000Z" });
});
