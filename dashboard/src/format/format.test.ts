import { describe, expect, it } from "vitest";
import { duration, seconds } from "./duration";
import { money } from "./money";
import { bytes, count, shortCount, shortenMiddle, tokens } from "./number";
import { ago, day, listTime, utc } from "./time";

describe("formatted values", () => {
  it("have a unit, and a dash for unknown values", () => {
    expect([0.04, 0.31, 412, 2410, 20_500, 200_000, 7_300_000, null].map(duration)).toEqual([
      "<0.1 ms",
      "0.3 ms",
      "412 ms",
      "2.41 s",
      "20.5 s",
      "3 min 20 s",
      "2 h 1 min",
      "–",
    ]);
    expect([1, 11, 920, 59_994, 61_000, null].map(seconds)).toEqual([
      "1.0 ms",
      "0.01 s",
      "0.92 s",
      "59.99 s",
      "1 min 1 s",
      "–",
    ]);
    expect([0, 310, 999, 1000, 12_400, 99_949, 999_999, 1_200_000].map(shortCount)).toEqual([
      "0",
      "310",
      "999",
      "1k",
      "12.4k",
      "99.9k",
      "999k",
      "1.2M",
    ]);
    expect([310, 1400, 4_200_000_000, null].map(bytes)).toEqual(["310 B", "1.4 kB", "4.2 GB", "–"]);
    expect(count(1204)).toBe("1,204");
  });

  it("include the date of a list time only on other days, and the year only in other years", () => {
    const now = new Date(2026, 10, 24, 0, 30);
    expect(listTime(new Date(2026, 10, 24, 0, 2, 7).toISOString(), now)).toBe("00:02:07");
    expect(listTime(new Date(2026, 10, 23, 23, 59, 59).toISOString(), now)).toBe("23 Nov 23:59");
    expect(listTime(new Date(2026, 0, 1).toISOString(), now)).toBe("1 Jan 00:00");
    expect(listTime(new Date(2025, 11, 31, 23, 59, 59).toISOString(), now)).toBe("31 Dec 2025");
  });

  it("never show a small cost as zero", () => {
    expect([0.00001, 0.0033, 0.61, 41.2, 12_345, null, 0].map((usd) => money(usd))).toEqual([
      "<$0.0001",
      "$0.0033",
      "$0.61",
      "$41.20",
      "$12,345",
      "–",
      "$0",
    ]);
  });

  it("mark estimates", () => {
    expect([money(0.0012, true), money(0.00001, true), money(null, true)]).toEqual(["≈$0.0012", "<$0.0001", "–"]);
    expect(tokens(1204, 18, false)).toBe("1,204 → 18");
    expect(tokens(48, 9, true)).toBe("≈48 → ≈9");
    expect(tokens(2911, null, true)).toBe("≈2,911 → –");
    expect(tokens(null, null, false)).toBe("–");
  });

  it("show relative days and times", () => {
    const now = new Date(2026, 10, 21, 0, 0, 30);
    expect(day(new Date(2026, 10, 20, 23, 59, 59), now)).toBe("yesterday");
    expect(day(new Date(2026, 10, 19), now)).toBe("19 Nov 2026");
    expect(ago(new Date(2026, 10, 20, 23, 58, 30).toISOString(), now)).toBe("2 min ago");
    expect(utc("2026-11-21T13:02:27.482103Z")).toBe("2026-11-21 13:02:27.482103 UTC");
  });

  it("keep both ends of a long name", () => {
    expect(shortenMiddle("user-8f3a41c9-22b0-4c91e")).toBe("user-8f3a41…-4c91e".slice(0, 18));
    expect([...shortenMiddle("😀".repeat(40))].length).toBe(18);
    expect(shortenMiddle("production")).toBe("production");
  });
});
