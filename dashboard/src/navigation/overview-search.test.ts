import { describe, expect, it } from "vitest";
import { replaceValue } from "~/domain/filter";
import { parseSearch } from "~/domain/log-search";
import { formatOverview, readOverview } from "./overview-search";

const read = (text: string) => readOverview(parseSearch(text));

describe("the URL of the overview", () => {
  it("means all time without a time range, like the URL of the log", () => {
    expect(read("")).toEqual({ search: { filter: [], range: {} }, by: undefined });
    expect(formatOverview({ filter: [], range: {} }, undefined)).toBe("");
    expect(read("?from=-1h")).toMatchObject({ search: { range: { from: "-1h" } } });
  });

  it.each(["model", "property.user-id", undefined])("keeps filter, range and grouping: %s", (by) => {
    const search = {
      filter: replaceValue(replaceValue([], "model", "gpt-4o"), "namespace", "a b&c"),
      range: { from: "-7d" },
    };
    expect(read(formatOverview(search, by))).toEqual({ search, by });
  });

  it("is not paused by a link from a paused log", () => {
    expect(read("?model=o1&live=off").search).not.toHaveProperty("live");
  });

  it("does not use the field of the grouping as a filter", () => {
    const { search, by } = read("?by=model&namespace=staging");
    expect(search.filter).toEqual(replaceValue([], "namespace", "staging"));
    expect(by).toBe("model");
  });
});
