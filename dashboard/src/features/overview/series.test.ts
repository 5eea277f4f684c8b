import { describe, expect, it } from "vitest";
import { bucketsOf } from "~/api/stats";
import type { Namespace, StatsResponse } from "~/generated/api-types";
import { point, statsAnswer } from "~/test/fixtures";
import { groupName, groupsOf } from "./groups";
import {
  cachedShareSeries,
  costSeries,
  durationSeries,
  failedShareSeries,
  nearestSeries,
  percentileBucketOf,
  requestSeries,
  stackedValues,
} from "./series";

const grouped = (found: StatsResponse, by?: string, labels = new Map<string, Namespace>()) => ({
  buckets: bucketsOf(found),
  step: found.bucket_seconds * 1000,
  groups: groupsOf(found, by, labels),
  by,
});
const many = Array.from({ length: 12 }, (_, at) => [`m${at}`, [point(0, 20 - at)]] as const);

it("the share of failed requests is a line per group, without buckets that have few requests", () => {
  const found = statsAnswer("model", [["a", [point(0, 40, { failed: 4 }), point(1, 5, { failed: 5 }), point(2, 20)]]]);
  const [series] = failedShareSeries(grouped(found, "model"));
  expect(series).toMatchObject({ name: "a", shape: "line", values: [10, null, 0, null] });
  const all = statsAnswer(undefined, [[null, [point(1, 5, { failed: 5 })]]]);
  expect(failedShareSeries(grouped(all))).toMatchObject([{ name: "failed", values: [null, 100, null, null] }]);
});

describe("groups", () => {
  it("keep the color of a pinned namespace, which no other group gets", () => {
    const found = statsAnswer("namespace", [
      ["web", [point(0, 3)]],
      ["staging", [point(0, 2)]],
    ]);
    const labels = new Map([["staging", { color: 1 } as Namespace]]);
    expect(groupsOf(found, "namespace", labels).map(({ colorIndex }) => colorIndex)).toEqual([2, 1]);
    expect(groupsOf(found, "model", labels).map(({ colorIndex }) => colorIndex)).toEqual([2, 1]);
  });

  it("keep their colors if only their sizes change", () => {
    const slots = (order: string[]) => {
      const groups = groupsOf(
        statsAnswer(
          "model",
          order.map((name) => [name, [point(0, 1)]] as const),
        ),
        "model",
        new Map(),
      );
      return Object.fromEntries(groups.map(({ value, colorIndex }) => [value, colorIndex]));
    };
    expect(slots(["b", "a", "c"])).toEqual(slots(["c", "b", "a"]));
  });

  it("have no color beyond the eighth, and the groups that are not listed are the last one", () => {
    const groups = groupsOf(statsAnswer("model", many, [point(1, 5)]), "model", new Map());
    expect(groups.map(({ colorIndex }) => colorIndex > 0)).toEqual([...Array(8).fill(true), ...Array(5).fill(false)]);
    expect(new Set(groups.slice(0, 8).map(({ colorIndex }) => colorIndex)).size).toBe(8);
    expect(groups.slice(12).map((group) => groupName(group, "model"))).toEqual(["other"]);
  });

  it("without a value are named after the field", () => {
    const [group] = groupsOf(statsAnswer("property.tier", [[null, [point(0, 1)]]]), "property.tier", new Map());
    expect(group && groupName(group, "property.tier")).toBe("no tier");
  });
});

describe("series", () => {
  it("are 0 without requests, and null if the value is unknown for all requests", () => {
    const found = statsAnswer(undefined, [[null, [point(0, 4, { cost_usd: 0.5 }), point(2, 3)]]]);
    expect(costSeries(grouped(found))[0]?.values).toEqual([0.5, 0, null, 0]);
    const [p50] = durationSeries(grouped(found), "duration_ms", "p50");
    expect(p50?.values).toEqual([null, null, null, null]);
  });

  it("leave out percentiles of few requests, and get wider buckets for percentiles", () => {
    const at = (place: number, requests: number) =>
      point(place, requests, { duration_ms: { p50: 300, p95: 900, p99: null } });
    const found = statsAnswer("model", [["gpt-4o", [at(0, 30), at(1, 19), at(2, 20)]]]);
    expect(durationSeries(grouped(found, "model"), "duration_ms", "p95")[0]?.values).toEqual([900, null, 900, null]);
    const answer = { ...found, bucket_seconds: 720, from: "2026-11-23T00:00:00Z", to: "2026-11-24T00:00:00Z" };
    expect(percentileBucketOf(answer)).toBe(1800);
    expect(percentileBucketOf({ ...answer, groups: [] })).toBe(720);
    const few = statsAnswer("model", [["gpt-4o", [at(0, 1)]]]);
    expect(percentileBucketOf({ ...few, bucket_seconds: 720, from: answer.from, to: answer.to })).toBe(21_600);
  });

  it("merge groups without a color", () => {
    const seriesList = requestSeries(grouped(statsAnswer("model", many, [point(0, 5)]), "model"));
    expect(seriesList.map(({ name }) => name).slice(7)).toEqual(["m7", "other", "failed"]);
    expect(seriesList[8]?.values[0]).toBe(12 + 11 + 10 + 9 + 5);
  });

  it("are stacked, and found by their height", () => {
    const found = statsAnswer("model", [
      ["a", [point(0, 4)]],
      ["b", [point(0, 2), point(1, 3)]],
    ]);
    const seriesList = requestSeries(grouped(found, "model"));
    expect(stackedValues(seriesList).map(({ series, values }) => [series.name, values[0], values[1]])).toEqual([
      ["b", 6, 3],
      ["a", 4, null],
      ["failed", 0, 0],
    ]);
    const toY = (value: number) => 100 - value * 10;
    expect(nearestSeries(seriesList, 0, 70, toY)?.name).toBe("a");
    expect(nearestSeries(seriesList, 0, 50, toY)?.name).toBe("b");
    expect(nearestSeries(seriesList, 0, 35, toY)).toBeUndefined();
  });
});

it("the cached share is a line in percent, without a point where no response states it", () => {
  const found = statsAnswer(undefined, [[null, [point(0, 4, { cached_share: 0.25 }), point(2, 3)]]]);
  expect(cachedShareSeries(grouped(found))).toMatchObject([
    { name: "cached", shape: "line", values: [25, null, null, null] },
  ]);
});
