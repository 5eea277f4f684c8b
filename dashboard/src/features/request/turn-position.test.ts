import { describe, expect, it } from "vitest";
import { threadPage, threadRow } from "~/test/fake-api";
import { isFinalFor, turnOf, turnOfMessage } from "./turn-position";

const talk = threadPage([threadRow("1"), threadRow("2", { turn: 2 }), threadRow("3", { turn: 3 })]);

describe("the turn of a request", () => {
  it("has the number of turns, the turns beside it, and the number of earlier messages", () => {
    expect(turnOf(talk, "2")).toMatchObject({ turn: 2, turns: 3, before: "1", after: "3", earlierMessages: 2 });
    expect(turnOf(talk, "1")).toMatchObject({ turn: 1, turns: 3, before: null, after: "2", earlierMessages: 0 });
    expect(turnOf(talk, "3")).toMatchObject({ before: "2", after: null, earlierMessages: 4 });
  });

  it("is followed by the latest of several continuations", () => {
    const branched = threadPage([...talk.data, threadRow("4", { turn: 2, follows: "1" })]);
    expect(turnOf(branched, "1")).toMatchObject({ after: "4" });
  });

  it("has no number of turns if the page may not have the last one", () => {
    expect(turnOf(talk, "2", false)).toMatchObject({ turn: 2, turns: null, after: "3" });
  });

  it("is undefined if nothing continues it, or if the page does not have the request", () => {
    expect(turnOf(threadPage([threadRow("1"), threadRow("9", { conversation: "9" })]), "1")).toBeUndefined();
    expect(turnOf(talk, "7")).toBeUndefined();
  });
});

describe("an earlier message", () => {
  const turns = (page: typeof talk, messages: number) => {
    const { origins = [] } = turnOf(page, "3") ?? {};
    return Array.from({ length: messages }, (_, index) => turnOfMessage(origins, index));
  };

  it("was new in an earlier turn, and responses belong to the turn that they end", () => {
    expect(turns(talk, 5)).toEqual(["turn 1", "turn 1", "turn 2", "turn 2", "turn 3"]);
  });

  it("is older than the first turn of the page, if the page does not have all turns", () => {
    expect(turns(threadPage(talk.data.slice(1)), 4)).toEqual(["before turn 2", "before turn 2", "turn 2", "turn 2"]);
  });

  it("is found even if the client has left out the oldest messages", () => {
    const trimmed = threadPage([
      ...talk.data.slice(0, 2),
      threadRow("3", { turn: 3, new_messages: { from: 2, count: 1 } }),
    ]);
    expect(turns(trimmed, 3)).toEqual(["turn 2", "turn 2", "turn 3"]);
  });
});

describe("a page of a thread", () => {
  it("is final for its requests and for older ones, but not for newer ones", () => {
    const page = threadPage([threadRow("4", { seq: 40 }), threadRow("5", { seq: 50, turn: 2 })], { next_cursor: "c" });
    expect(isFinalFor(page, { id: "5", seq: 50 })).toBe(true);
    expect(isFinalFor(page, { id: "1", seq: 10 })).toBe(true);
    expect(isFinalFor(page, { id: "6", seq: 60 })).toBe(false);
    expect(isFinalFor(threadPage([]), { id: "6", seq: 60 })).toBe(false);
  });
});
