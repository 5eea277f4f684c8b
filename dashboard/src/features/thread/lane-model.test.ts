import { describe, expect, it } from "vitest";
import type { Lanes } from "~/generated/api-types";
import { sampleLanes } from "~/test/lanes";
import {
  ALL,
  barBeside,
  beginsConversation,
  firstDrawn,
  groupLanes,
  groupRepeats,
  inPageOrder,
  numberedTurns,
  timeAxis,
} from "./lane-model";

describe("lanes", () => {
  const groups = groupLanes(sampleLanes());

  it("are grouped by conversation", () => {
    expect(groups.map(({ key, name, lanes }) => [key, name, lanes.length])).toEqual([
      ["1", "Question 1 · 22:02:00 · 3 requests", 3],
      ["other", "other requests", 1],
    ]);
  });

  it("are named by their first prompt, also if an agent sent it", () => {
    const [lane] = sampleLanes().lanes;
    const [first] = sampleLanes().requests;
    if (lane === undefined || first === undefined) throw new Error("no lanes");
    const nameOf = (agent: string | null, preview: string | null) =>
      groupLanes(sampleLanes({ lanes: [{ ...lane, agent }], requests: [{ ...first, preview }], calls: [] }))[0]?.name;
    expect(nameOf(null, "word ".repeat(20))).toBe("word word word word word word word word… · 22:02:00 · 1 request");
    expect(nameOf("Explore", "Find it")).toBe("agent Explore: Find it · 22:02:00 · 1 request");
    expect(nameOf(null, null)).toBe("(no text) · 22:02:00 · 1 request");
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
  it("the turns are in the order of the page: the conversation with the latest request is last", () => {
    const { lanes, requests } = sampleLanes();
    const [lane] = lanes;
    const [first] = requests;
    if (lane === undefined || first === undefined) throw new Error("no lanes");
    const all = [
      { ...lane, conversation: "a" },
      { ...lane, conversation: "b" },
      { ...lane, conversation: null },
    ];
    const sent = (id: string, at: number) => ({ ...first, id, lane: at });
    const mixed = [sent("a1", 0), sent("b1", 1), sent("x", 2), sent("b2", 1), sent("y", 2), sent("a2", 0)];
    const ids = inPageOrder(sampleLanes({ lanes: all, requests: mixed })).map(({ id }) => id);
    expect(ids).toEqual(["x", "b1", "b2", "y", "a1", "a2"]);
  });

  it("repeats of a prompt in a row are one group, but not prompts of other conversations or other prompts", () => {
    const [first] = sampleLanes().requests;
    if (first === undefined) throw new Error("no request");
    const same = { turn: 1, preview: "Title?" };
    const requests = [
      { ...first, ...same, id: "a" },
      { ...first, ...same, id: "b" },
      { ...first, ...same, id: "c", preview: "Another?" },
      { ...first, ...same, id: "d", turn: 2 },
      { ...first, ...same, id: "e" },
      { ...first, ...same, id: "f", lane: 3 },
      { ...first, ...same, id: "g", lane: 3 },
    ];
    const groups = groupRepeats(sampleLanes({ requests })).map((group) => group.map(({ id }) => id));
    expect(groups).toEqual([["a", "b"], ["c"], ["d"], ["e"], ["f"], ["g"]]);
  });

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

it.each([
  ["the first request", { lane: 0, turn: 1 }, undefined, false],
  ["the next turn", { lane: 0, turn: 2 }, { lane: 0, turn: 1 }, false],
  ["a retry of the first turn", { lane: 0, turn: 1 }, { lane: 0, turn: 1 }, false],
  ["the first turn after a later one", { lane: 0, turn: 1 }, { lane: 0, turn: 2 }, true],
  ["a request of another lane", { lane: 1, turn: 2 }, { lane: 0, turn: 1 }, true],
])("%s: whether another conversation begins", (_, request, before, begins) => {
  expect(beginsConversation(request, before)).toBe(begins);
});
