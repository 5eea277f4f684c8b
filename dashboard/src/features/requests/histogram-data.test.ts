import { describe, expect, it } from "vitest";
import type { Aggregate, StatsPoint, StatsResponse } from "~/generated/api-types";
import {
  axisLabels,
  barHeights,
  barsOf,
  describeBucket,
  describeTotal,
  HISTOGRAM_HEIGHT,
  mergeBuckets,
} from "./histogram-data";

const NONE = { p50: null, p95: null, p99: null };
const SUM: Aggregate = {
  requests: 18_900,
  failed: 33,
  input_tokens: 0,
  output_tokens: 0,
  cost_usd: 41.2,
  cached_tokens: 0,
  cached_share: null,
  duration_ms: { ...NONE, p50: 1210 },
  first_token_ms: NONE,
  tokens_per_second: NONE,
};
const at = (moment: string, requests: number, failed = 0): StatsPoint => ({
  ...SUM,
  at: `2026-11-22T${moment}:00.000000Z`,
  requests,
  failed,
});
const ANSWER: StatsResponse = {
  bucket_seconds: 600,
  from: "2026-11-22T14:00:00.000000Z",
  to: "2026-11-22T14:40:00.000000Z",
  groups: [{ by: {}, points: [at("14:00", 4, 1), at("14:30", 2)], total: SUM }],
  other: null,
  total: SUM,
  source: "rollups",
};

describe("the bars of the histogram", () => {
  it("include empty buckets", () => {
    expect(barsOf(ANSWER).map((bar) => bar.requests)).toEqual([4, 0, 0, 2]);
    expect(barsOf({ ...ANSWER, groups: [] }).map((bar) => bar.requests)).toEqual([0, 0, 0, 0]);
  });

  it("are visible if they have a request, and red at most in proportion to the failed requests", () => {
    const bars = [9700, 45, 45, 45, 1, 0].map((requests, at) => ({
      from: at,
      to: at + 1,
      requests,
      failed: [700, 3, 30, 0, 1, 0][at] ?? 0,
      p50: null,
    }));
    const heights = barHeights(bars);
    expect(heights.map(({ all }) => all >= 2)).toEqual([true, true, true, true, true, false]);
    for (const [at, { all, failed }] of heights.entries()) {
      expect(failed * (bars[at]?.requests ?? 0)).toBeLessThanOrEqual(all * (bars[at]?.failed ?? 0) + 1e-9);
    }
    // 3 of 45 would be a fraction of a pixel, so a mark above the bar shows them.
    expect(heights.map(({ mark }) => mark !== undefined)).toEqual([false, true, false, false, false, false]);
    for (const { all, mark } of heights) {
      expect(all + (mark?.height ?? 0)).toBeLessThanOrEqual(HISTOGRAM_HEIGHT);
      if (mark) expect(mark.bottom).toBeGreaterThan(all);
    }
  });

  it("begin with the first bucket of the response, and have labels on an axis", () => {
    const bars = barsOf(ANSWER);
    expect(bars.map((bar) => bar.from)).toEqual(
      ["14:00", "14:10", "14:20", "14:30"].map((time) => Date.parse(`2026-11-22T${time}:00Z`)),
    );
    expect(barsOf({ ...ANSWER, to: ANSWER.from })).toEqual([]);
    const from = new Date(2026, 10, 22, 14, 0).getTime();
    const now = new Date(2026, 10, 22, 15, 0);
    const spanning = (ms: number) =>
      axisLabels([{ from, to: from + ms, requests: 1, failed: 0, p50: null }], now).map(({ text }) => text);
    expect(spanning(3_600_000)).toEqual(["14:00", "14:15", "14:30", "14:45", "15:00"]);
    expect(spanning(200_000)).toEqual(["14:00:00", "14:01:40", "14:03:20"]);
    expect(spanning(86_400_000)).toEqual(["today 14:00", "23 Nov 14:00"]);
    expect(spanning(4 * 86_400_000 - 1)).toEqual(["today 14:00", "26 Nov 13:59"]);
    expect(spanning(8 * 86_400_000)).toEqual(["today", "24 Nov", "26 Nov", "28 Nov", "30 Nov"]);
    expect(axisLabels([])).toEqual([]);
  });

  it("can be merged, but several bars have no median", () => {
    const bars = barsOf(ANSWER);
    const all = mergeBuckets(bars, 3, 0);
    expect(all).toMatchObject({ requests: 6, failed: 1, p50: null });
    expect((all?.to ?? 0) - (all?.from ?? 0)).toBe(40 * 60_000);
    expect(mergeBuckets(bars, 0, 0)?.p50).toBe(1210);
    expect(mergeBuckets([], 0, 0)).toBeUndefined();
  });

  it("are described in words", () => {
    const from = new Date(2026, 10, 22, 14, 0).getTime();
    const now = new Date(2026, 10, 22, 15, 0);
    const bar = { from, to: from + 600_000, requests: 120, failed: 3, p50: 1210 };
    expect(describeBucket(bar, now)).toBe("14:00 – 14:10 · 120 requests · 3 failed · p50 1.21 s");
    expect(describeBucket({ ...bar, requests: 1, failed: 0, p50: null }, now)).toBe("14:00 – 14:10 · 1 request");
    const midnight = new Date(2026, 10, 22).getTime();
    expect(describeBucket({ ...bar, from: midnight - 600_000, to: midnight, failed: 0, p50: null }, now)).toBe(
      "yesterday 23:50 – today 00:00 · 120 requests",
    );
  });

  it("have no text for unknown values", () => {
    expect(describeTotal(SUM)).toBe("Duration p50 1.21 s · Cost $41.20");
    expect(describeTotal({ ...SUM, cost_usd: null })).toBe("Duration p50 1.21 s");
    expect(describeTotal({ ...SUM, cost_usd: null, duration_ms: NONE })).toBe("");
  });
});
