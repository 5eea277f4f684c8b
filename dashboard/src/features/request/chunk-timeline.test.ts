import { describe, expect, it } from "vitest";
import { area, bars, binsOf, gapsOf, nearest, ratesOf, stallsOf, type Timeline, ticksOf } from "./chunk-timeline";

const MANY: Timeline = Array.from({ length: 100_000 }, (_, index) => [index / 10, 7] as const);

describe("the chunks of a response", () => {
  it("are grouped into at most one bin per column", () => {
    const bins = binsOf(MANY, 10_000, 320);
    expect(bins.length).toBeLessThanOrEqual(320);
    expect(bins.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(700_000);
    expect(bars(bins, 26).match(/M/g)?.length).toBe(bins.length);
  });

  it("stay within the columns if they arrived at the very end or later", () => {
    expect(
      binsOf(
        [
          [0, 1],
          [500, 1],
          [1000, 2],
          [1200, 3],
        ],
        1000,
        10,
      ),
    ).toEqual([
      { column: 0, bytes: 1 },
      { column: 5, bytes: 1 },
      { column: 9, bytes: 5 },
    ]);
    expect(binsOf([[0, 1]], 0, 10)).toEqual([{ column: 0, bytes: 1 }]);
  });

  it("have a median gap and a longest gap", () => {
    expect(
      gapsOf([
        [100, 1],
        [110, 1],
        [120, 1],
        [760, 1],
        [770, 1],
      ]),
    ).toEqual({ median: 10, longest: 640, after: 3 });
    expect(gapsOf([[100, 1]])).toBeUndefined();
  });

  it("are found by the time nearest to the pointer", () => {
    const few: Timeline = [
      [100, 1],
      [200, 1],
      [400, 1],
    ];
    expect([-5, 149, 151, 299, 301, 9999].map((ms) => nearest(few, ms))).toEqual([0, 0, 1, 1, 2, 2]);
    expect(nearest([], 5)).toBe(-1);
  });
});

it.each([
  [0.8, [0, 0.2, 0.4, 0.6, 0.8]],
  [412, [0, 100, 200, 300, 400]],
  [1003, [0, 500, 1000]],
  [2410, [0, 500, 1000, 1500, 2000]],
  [8500, [0, 2000, 4000, 6000, 8000]],
  [420_000, [0, 120_000, 240_000, 360_000]],
  [0, [0]],
])("a timeline of %d ms has a few round ticks", (total, ticks) => {
  expect(ticksOf(total)).toEqual(ticks);
});

describe("a stream with many chunks", () => {
  it("has stalls where a gap is far longer than the others", () => {
    const timeline: Timeline = [
      [0, 1],
      [10, 1],
      [20, 1],
      [620, 1],
      [630, 1],
      [1830, 1],
    ];
    expect(stallsOf(timeline, 10)).toEqual([
      { from: 630, to: 1830, after: 5 },
      { from: 20, to: 620, after: 3 },
    ]);
    expect(stallsOf(timeline, 100)).toEqual([{ from: 630, to: 1830, after: 5 }]);
  });

  it("has a rate over time, whose highest value is as high as the chart", () => {
    const rates = ratesOf(
      [
        [0, 100],
        [600, 50],
      ],
      1000,
      2,
    );
    expect(rates).toEqual([200, 100]);
    expect(area([200, 50], 10, 20)).toBe("M0 20H0.0V0.0H5.0V10.0H10V20z");
    expect(area([0, 0], 10, 20)).toBe("M0 20H0.0V20.0H5.0V20.0H10V20z");
  });
});
