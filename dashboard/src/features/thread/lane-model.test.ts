import { describe, expect, it } from "vitest";
import type { Lanes } from "~/generated/api-types";
import { sampleLanes } from "~/test/lanes";
import { ALL, barBeside, firstDrawn, groupLanes, numberedTurns, timeAxis } from "./lane-model";

describe("lanes", () => {
  const groups = groupLanes(sampleLanes());

  it("are grouped by conversation", () => {
    expect(groups.map(({ key, name, lanes }) => [key, name, lanes.length])).toEqual([
      ["1", "conversation from 22:02:00", 3],
      ["other", "other requests", 1],
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

/** A large conversation, then smaller ones with the same turns. */
function agentWith(subagents: number): Lanes {
  const sample = sampleLanes();
  const [lane] = sample.lanes;
  const [first] = sample.requests;
  if (lane === undefined || first === undefined) throw new Error("no lanes");
  const all = Array.from({ length: subagents + 1 }, (_, at) => at);
  return {
    ...sample,
    lanes: all.map((at) => ({ ...lane, conversation: `c${at}`, count: at === 0 ? 54 : 5 })),
    requests: all.map((at) => ({ ...first, lane: at, id: `r${at}`, turn: 4 })),
    calls: [],
  };
}

describe("of several conversations", () => {
  it("all are drawn at first if they are few, otherwise the one with the most tool calls, then requests", () => {
    expect(firstDrawn(agentWith(1))).toBe(ALL);
    const many = agentWith(6);
    expect(firstDrawn(many)).toBe("c0");
    const calls = sampleLanes().calls.map((call) => ({ ...call, lane: 3 }));
    expect(firstDrawn({ ...many, calls })).toBe("c3");
  });

  it("turns have numbers only in the drawn conversation", () => {
    const idsOf = (drawn: string) => numberedTurns(agentWith(2), drawn).map(({ id }) => id);
    expect(idsOf("c1")).toEqual(["r1"]);
    expect(idsOf(ALL)).toEqual([]);
    expect(idsOf("other")).toEqual([]);
  });

  it("the only conversation is drawn with all others, and its turns have numbers", () => {
    expect(numberedTurns(sampleLanes(), ALL).map(({ id }) => id)).toEqual(["1", "2", "3"]);
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
