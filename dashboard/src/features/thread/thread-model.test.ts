import { describe, expect, it } from "vitest";
import { threadPage, threadRow } from "~/test/fake-api";
import { groupConversations } from "./thread-model";

const ids = (pages: Parameters<typeof groupConversations>[0]) =>
  groupConversations(pages).map((conversation) => conversation.parts.map(({ row }) => row.id));

describe("the conversations of a thread", () => {
  it("are merged across overlapping pages, with each request once", () => {
    const older = threadPage([threadRow("1"), threadRow("2", { turn: 2 })]);
    const later = threadPage([threadRow("2", { turn: 2 }), threadRow("3", { turn: 3 })]);
    expect(ids([later, older])).toEqual([["1", "2", "3"]]);
  });

  it("end with the conversation of the latest request; earlier pages only add rows above", () => {
    const later = threadPage([threadRow("4", { conversation: "b" }), threadRow("5", { turn: 3 })]);
    expect(ids([later])).toEqual([["4"], ["5"]]);
    const older = threadPage([threadRow("1"), threadRow("2", { turn: 2 }), threadRow("3", { conversation: "a" })]);
    expect(ids([later, older])).toEqual([["3"], ["4"], ["1", "2", "5"]]);
  });

  it("have totals; unknown costs are not zero", () => {
    const [conversation] = groupConversations([
      threadPage([threadRow("2", { turn: 2, failed: true })]),
      threadPage([threadRow("1")]),
    ]);
    expect(conversation).toMatchObject({
      requests: 2,
      turns: 2,
      failed: 1,
      input_tokens: 20,
      output_tokens: 2,
      cost_usd: null,
    });
    expect(conversation?.first_at).toBe("2026-11-21T13:02:01Z");
    expect(conversation?.last_at).toBe("2026-11-21T13:02:02Z");
  });

  it("have the number of the first loaded turn if earlier turns are not loaded", () => {
    const later = threadPage([threadRow("3", { turn: 3 })]);
    expect(groupConversations([later])[0]?.from).toBe(3);
    expect(
      groupConversations([later, threadPage([threadRow("1"), threadRow("2", { turn: 2 })])])[0]?.from,
    ).toBeUndefined();
  });

  it("fold repeated requests, but not the first success after a failure", () => {
    const failed = { failed: true, status: 429 };
    const rows = [
      threadRow("1", failed),
      threadRow("2", { ...failed, repeats: "1", is_retry: true }),
      threadRow("3", { repeats: "2", is_retry: true }),
      threadRow("4", { repeats: "3" }),
    ];
    const parts = groupConversations([threadPage(rows)])[0]?.parts.map(({ isFolded, isRepeated, repeatReason }) => [
      isFolded,
      isRepeated,
      repeatReason,
    ]);
    expect(parts).toEqual([
      [false, false, undefined],
      [true, true, "Retry after a failure"],
      [false, true, "Retry after a failure"],
      [true, true, "Same prompt again"],
    ]);
  });

  it("show the messages of a repeated request if the original is not loaded", () => {
    const [conversation] = groupConversations([threadPage([threadRow("4", { repeats: "1" })])]);
    expect(conversation?.from).toBe(1);
    expect(conversation?.parts[0]).toMatchObject({
      repeatReason: "Same prompt again",
      isRepeated: false,
      isFolded: false,
    });
  });

  it("have the number of the continued turn if that is not the one above", () => {
    const rows = [
      threadRow("1"),
      threadRow("2", { turn: 2 }),
      threadRow("3", { turn: 3 }),
      threadRow("4", { turn: 2, follows: "1" }),
    ];
    expect(groupConversations([threadPage(rows)])[0]?.parts.map(({ branchedFrom }) => branchedFrom)).toEqual([
      undefined,
      undefined,
      undefined,
      1,
    ]);
  });
});
