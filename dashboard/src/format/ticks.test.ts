import { describe, expect, it } from "vitest";
import { durationTick, linearTicks, sameDecimals } from "./ticks";

describe("the ticks of an axis", () => {
  it.each([
    [1, true, [0, 1, 2]],
    [60, true, [0, 20, 40, 60, 80]],
    [3, true, [0, 1, 2, 3, 4]],
    [0.0109, false, [0, 0.005, 0.01, 0.015]],
    [652, false, [0, 200, 400, 600, 800]],
    [0, true, [0, 1, 2]],
  ])("ends above the highest value, with at least three ticks: %s", (most, isWhole, ticks) => {
    expect(linearTicks(most, isWhole)).toEqual(ticks);
  });

  it("has three ticks or more for every highest value", () => {
    for (let most = 0.0013; most < 1e7; most *= 1.37) {
      const ticks = linearTicks(most, false);
      expect(ticks.length).toBeGreaterThanOrEqual(3);
      expect(ticks.length).toBeLessThanOrEqual(5);
      expect(ticks.at(-1)).toBeGreaterThan(most);
    }
  });
});

it("ticks of durations are round", () => {
  expect([0, 500, 1000, 1500, 400_000, 1_000_000].map(durationTick)).toEqual([
    "0",
    "500 ms",
    "1 s",
    "1.5 s",
    "400 s",
    "1,000 s",
  ]);
});

it("labels of one axis have the same number of decimals for each unit", () => {
  expect(sameDecimals(["0", "$0.05", "$0.1", "$0.15"])).toEqual(["0", "$0.05", "$0.10", "$0.15"]);
  expect(sameDecimals(["0", "500 ms", "1 s", "1.5 s"])).toEqual(["0", "500 ms", "1.0 s", "1.5 s"]);
  expect(sameDecimals(["0", "500", "1k", "1.5k"])).toEqual(["0", "500", "1.0k", "1.5k"]);
  expect(sameDecimals(["0", "1,000 s"])).toEqual(["0", "1,000 s"]);
});
