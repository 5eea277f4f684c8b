import { describe, expect, it } from "vitest";
import type { LogGap, Row } from "~/generated/api-types";
import { itemsOf } from "./log-items";

const rowAt = (id: string, minute: number) => ({ id, started_at: `2026-11-21T14:0${minute}:00.000000Z` }) as Row;
const gap = (minute: number): LogGap => ({
  from_at: `2026-11-21T14:0${minute}:00.000000Z`,
  to_at: `2026-11-21T14:0${minute}:30.000000Z`,
  count: 137,
  reason: "log_unavailable",
});

describe("the lines of the log", () => {
  it("have each gap between the requests around it", () => {
    const items = itemsOf([rowAt("b", 4), rowAt("a", 2)], [gap(5), gap(3), gap(1)], true);
    expect(items.map((item) => ("row" in item ? item.row.id : item.gap.from_at.slice(14, 16)))).toEqual([
      "05",
      "b",
      "03",
      "a",
    ]);
  });

  it("do not put a gap of the present above rows that do not reach it", () => {
    expect(itemsOf([rowAt("b", 4)], [gap(5)], false).length).toBe(1);
  });
});
