import { describe, expect, it } from "vitest";
import { count } from "~/format/number";
import { describeChart } from "./chart-panel";
import type { Series } from "./series";

const NOW = new Date(2026, 10, 22, 18, 0);
const START = new Date(2026, 10, 22, 14, 0).getTime();
const STEP = 600_000;

const series = (name: string, values: (number | null)[]): Series => ({
  name,
  values,
  color: "--series1",
  shape: "line",
});
const inWords = (seriesList: Series[], buckets = [0, 1, 2].map((at) => START + at * STEP)) =>
  describeChart({ title: "Requests", total: "31 requests", buckets, step: STEP, seriesList, formatValue: count }, NOW);

describe("the description of a chart", () => {
  it("has the time span, the total, and the peak of each series", () => {
    expect(inWords([series("iOS", [1, 1240, null]), series("failed", [0, 2, 3])])).toBe(
      "Requests, 14:00 – 14:30. 31 requests. iOS: peak 1,240, 14:10 – 14:20. failed: peak 3, 14:20 – 14:30",
    );
  });

  it("leaves out series without a value above zero", () => {
    expect(inWords([series("failed", [0, 0, null]), series("cost", [null, null, null])])).toBe(
      "Requests, 14:00 – 14:30. 31 requests",
    );
  });

  it("names the first of several equal peaks", () => {
    expect(inWords([series("iOS", [2, 2, 1])])).toContain("iOS: peak 2, 14:00 – 14:10");
  });

  it("names the days of a span that is not today", () => {
    const yesterday = START - 24 * 3_600_000;
    const words = inWords([], [yesterday, START]);
    expect(words).toMatch(/^Requests, .+ 14:00 – today 14:10\. 31 requests$/);
  });
});
