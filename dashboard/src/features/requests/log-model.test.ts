import { describe, expect, it } from "vitest";
import type { LogGap, Row } from "~/generated/api-types";
import { createLiveLog, itemsOf, MAX_PENDING, pendingCount, receiveRows, reconcile, showPending } from "./log-model";

const row = (id: string, seq: number | null, started = id): Row =>
  ({ id, seq, started_at: started, outcome: seq === null ? "open" : "complete" }) as Row;
const page = (data: Row[], next_cursor: string | null) => ({ data, next_cursor });
const NONE = new Set<string>();
const ids = (rows: readonly Row[]) => rows.map((each) => each.id).join(" ");

describe("the live log", () => {
  it("keeps new rows pending until they are shown, last recorded first", () => {
    const log = receiveRows(createLiveLog([]), [row("a", 1), row("c", 3), row("b", 2)]);
    expect([ids(log.visible), pendingCount(log, NONE)]).toEqual(["", 3]);
    expect(ids(showPending(log).visible)).toBe("c b a");
    expect(pendingCount(showPending(log), NONE)).toBe(0);
  });

  it("updates the row of a running request in place, even when the request ends", () => {
    let log = createLiveLog([row("z", null), row("y", null)]);
    log = receiveRows(log, [row("y", 7), row("x", 6)]);
    expect(ids(log.visible)).toBe("z y");
    expect(log.visible[1]?.outcome).toBe("complete");
    expect(pendingCount(log, NONE)).toBe(1);
    expect(ids(showPending(log).visible)).toBe("z y x");
  });

  it("does not show a finished request as running again if an older update arrives late", () => {
    const log = receiveRows(receiveRows(createLiveLog([]), [row("a", 1)]), [row("a", null)]);
    expect([ids(log.running), ids(log.finished)]).toEqual(["", "a"]);
  });

  it("adds missed requests from the newest page, and removes running requests that no longer run", () => {
    const log = reconcile(
      createLiveLog([row("gone", null), row("on", null)]),
      5,
      page([row("g", 6), row("f", 5)], "c5"),
      [row("on", null)],
    );
    expect([ids(log.finished), ids(log.running), log.hasGap]).toEqual(["g", "on", false]);
  });

  it("has a gap if the newest page does not reach the known rows", () => {
    expect(reconcile(createLiveLog([]), 5, page([row("j", 9), row("i", 8)], "c8"), []).hasGap).toBe(true);
    expect(reconcile(createLiveLog([]), 5, page([row("j", 9), row("i", 8)], null), []).hasGap).toBe(false);
  });

  it("has a gap above an empty log only if the newest page has a next page", () => {
    expect(reconcile(createLiveLog([]), 0, page([row("j", 9), row("i", 8)], "c8"), []).hasGap).toBe(true);
    expect(reconcile(createLiveLog([]), 0, page([row("j", 9)], null), []).hasGap).toBe(false);
  });

  it("has a gap if the search for missed requests stopped at its time limit, unless no row is known", () => {
    expect(reconcile(createLiveLog([]), 5, page([], "c8"), []).hasGap).toBe(true);
    expect(reconcile(createLiveLog([]), 0, page([], "c8"), []).hasGap).toBe(false);
  });

  it("removes finished requests if the filter selects only running requests", () => {
    let log = receiveRows(createLiveLog([row("z", null), row("y", null)], true), [row("y", 7), row("x", 8)]);
    expect([ids(log.visible), log.visible[1]?.outcome, pendingCount(log, NONE)]).toEqual(["z y", "complete", 0]);
    log = showPending(receiveRows(log, [row("w", null, "zz")]));
    expect(ids(log.visible)).toBe("w z");
  });

  it("keeps the array of visible rows if none of them was received", () => {
    const log = showPending(receiveRows(createLiveLog([row("z", null)]), [row("a", 1)]));
    expect(receiveRows(log, [row("b", 2)]).visible).toBe(log.visible);
    expect(receiveRows(log, [row("z", 2)]).visible).not.toBe(log.visible);
    expect(showPending(log).visible).toBe(log.visible);
  });

  it("has a limited number of pending rows", () => {
    const many = Array.from({ length: MAX_PENDING + 5 }, (_, at) => row(`r${at}`, at + 1));
    const log = receiveRows(createLiveLog([]), many);
    expect([log.finished.length, log.hasGap]).toEqual([MAX_PENDING, true]);
  });

  it("has a gap only if too many rows are pending, however many are shown", () => {
    const rows = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => row(`r${from + at}`, from + at));
    const shown = showPending(receiveRows(createLiveLog([]), rows(1, MAX_PENDING)));
    const log = receiveRows(shown, rows(MAX_PENDING, MAX_PENDING + 100));
    expect([log.hasGap, pendingCount(log, NONE), showPending(log).visible.length]).toEqual([
      false,
      100,
      MAX_PENDING + 99,
    ]);
  });
});

const rowAt = (id: string, minute: number): Row => {
  const at = `2026-11-21T14:0${minute}:00.000000Z`;
  return { id, started_at: at, ended_at: at } as Row;
};
const gap = (minute: number): LogGap => ({
  from_at: `2026-11-21T14:0${minute}:00.000000Z`,
  to_at: `2026-11-21T14:0${minute}:30.000000Z`,
  count: 137,
  reason: "log_unavailable",
});

describe("the rows of the log table", () => {
  it("have each gap between the requests before and after it", () => {
    const items = itemsOf([rowAt("b", 4), rowAt("a", 2)], [gap(5), gap(3), gap(1)], true);
    expect(items.map((item) => ("gap" in item ? item.gap.from_at.slice(14, 16) : item.id))).toEqual([
      "05",
      "b",
      "03",
      "a",
    ]);
  });

  it("have a gap that begins in the time range, but no gap after its end", () => {
    const rows = [rowAt("b", 3)];
    const items = (to: string) => itemsOf(rows, [gap(5), gap(4)], true, new Date(to)).map(({ id }) => id.slice(18, 20));
    expect(items("2026-11-21T14:04:10Z")).toEqual(["04", ""]);
    expect(items("2026-11-21T14:04:00Z")).toEqual([""]);
  });

  it("have a gap below a request that started before the gap and ended after it", () => {
    const long = { ...rowAt("long", 6), started_at: rowAt("", 1).started_at };
    const running = { ...rowAt("running", 0), ended_at: null };
    const items = itemsOf([running, long, rowAt("b", 5), rowAt("a", 2)], [gap(4)], true);
    expect(items.map(({ id }) => id.slice(0, 7))).toEqual(["running", "long", "b", "gap 202", "a"]);
  });

  it("have no gap above the rows if they do not include the newest row", () => {
    expect(itemsOf([rowAt("b", 4)], [gap(5)], false).length).toBe(1);
  });
});
