import { describe, expect, it } from "vitest";
import { replaceValue } from "~/domain/filter";
import { parseSearch } from "~/domain/log-search";
import { DEFAULT_RANGE, formatOverview, readOverview } from "./overview-search";

const read = (text: string) => readOverview(parseSearch(text));

describe("the URL of the overview", () => {
  it("means the last 24 hours when it names no time", () => {
    expect(read("")).toEqual({ search: { filter: [], range: DEFAULT_RANGE }, by: undefined, isDefaultRange: true });
    expect(read("?from=-1h")).toMatchObject({ search: { range: { from: "-1h" } }, isDefaultRange: false });
  });

  it("can name all time", () => {
    expect(formatOverview({ filter: [], range: {} }, undefined)).toBe("?time=all");
    expect(read("?time=all")).toEqual({ search: { filter: [], range: {} }, by: undefined, isDefaultRange: false });
  });

  it.each(["model", "property.user-id", undefined])("gives back filter, range and parting: %s", (by) => {
    const search = {
      filter: replaceValue(replaceValue([], "model", "gpt-4o"), "namespace", "a b&c"),
      range: { from: "-7d" },
    };
    expect(read(formatOverview(search, by))).toEqual({ search, by, isDefaultRange: false });
    const paused = { ...search, range: {}, live: false } as const;
    expect(read(formatOverview(paused, by))).toEqual({ search: paused, by, isDefaultRange: false });
  });

  it("keeps its own names out of the log's filter", () => {
    const { search, by } = read("?by=model&namespace=staging&time=all");
    expect(search.filter).toEqual(replaceValue([], "namespace", "staging"));
    expect(by).toBe("model");
  });
});
