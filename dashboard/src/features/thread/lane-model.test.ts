import { describe, expect, it } from "vitest";
import { sampleLanes } from "~/test/lanes";
import { barBeside, groupLanes, timeAxis } from "./lane-model";

describe("lanes", () => {
  const groups = groupLanes(sampleLanes());

  it("are grouped by conversation", () => {
    expect(groups.map(({ conversation, turns, lanes }) => [conversation, turns, lanes.length])).toEqual([
      ["1", 3, 3],
      [null, 1, 1],
    ]);
  });

  it("have overlapping bars in different rows", () => {
    const [, readFile] = groups[0]?.lanes ?? [];
    expect(readFile?.bars.map(({ row }) => row)).toEqual([0, 1]);
    expect(readFile?.rows).toBe(2);
  });

  it("are left by the arrow keys to the nearest bar", () => {
    const lanes = groups.flatMap((group) => group.lanes);
    const beside = (key: string, pressed: string) => barBeside(lanes, key, pressed)?.key;
    expect(beside("1", "ArrowRight")).toBe("2");
    expect(beside("1", "ArrowLeft")).toBeUndefined();
    expect(beside("2", "ArrowDown")).toBe("1/0");
    expect(beside("2/0", "ArrowUp")).toBe("1/0");
    expect(beside("1", "End")).toBe("3");
    expect(beside("3", "Home")).toBe("1");
    expect(beside("3", "x")).toBeUndefined();
  });
});

describe("the time axis", () => {
  it("is linear without long pauses", () => {
    const { placeOf, pauses } = timeAxis([
      { start: 0, end: 100 },
      { start: 101, end: 200 },
    ]);
    expect(pauses).toEqual([]);
    expect([placeOf(0), placeOf(100), placeOf(200)]).toEqual([0, 0.5, 1]);
  });

  it("shortens long pauses and keeps the order", () => {
    const { placeOf, pauses } = timeAxis([
      { start: 0, end: 100 },
      { start: 50, end: 80 },
      { start: 60_100, end: 60_200 },
    ]);
    expect(pauses.map(({ ms }) => ms)).toEqual([60_000]);
    expect(placeOf(100)).toBeLessThan(placeOf(30_000));
    expect(placeOf(30_000)).toBeLessThan(placeOf(60_100));
    expect(placeOf(60_100)).toBeLessThan(0.55);
    expect(placeOf(60_200)).toBe(1);
  });

  it("has a place for a single moment", () => {
    expect(timeAxis([{ start: 5, end: 5 }]).placeOf(5)).toBe(0);
    expect(timeAxis([]).placeOf(5)).toBe(0);
  });
});
