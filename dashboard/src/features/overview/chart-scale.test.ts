import { describe, expect, it } from "vitest";
import { isLogScale, scaleOf } from "./chart-scale";
import type { Series } from "./series";

const line = (values: (number | null)[]): Series => ({ name: "p50", color: "--series1", shape: "line", values });

describe("the scale of a chart", () => {
  it("is logarithmic if the values differ tenfold, so that p50 is readable below p95", () => {
    const p50 = line([300, null, 400, 350]);
    const p95 = line([1200, null, 37_000, 1500]);
    expect(scaleOf([p50, p95], [300, 37_000], false)).toEqual({ isLog: true, ticks: [100, 1000, 10_000, 100_000] });
    expect(isLogScale([p50, p95], false)).toBe(true);
    expect(isLogScale([p50], false)).toBe(false);
    expect(scaleOf([p50, line([900, null, 1200, 1000])], [300, 1200], false)).toEqual({
      isLog: false,
      ticks: [0, 500, 1000, 1500],
    });
  });

  it("is linear for stacked bars", () => {
    const bars = { ...line([1, 5000]), shape: "stack" as const };
    expect(scaleOf([bars, line([1, 2])], [1, 5000], true).isLog).toBe(false);
  });

  it("has no ticks without values", () => {
    expect(scaleOf([line([null, null])], [null], false)).toEqual({ isLog: false, ticks: [] });
  });
});
