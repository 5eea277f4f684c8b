import { describe, expect, it } from "vitest";
import { parseSearch } from "~/domain/log-search";
import { ALL_NAMESPACES, ALL_PROPERTIES, formatList, parseList } from "./list-search";

describe("the URL of the lists", () => {
  it("says nothing of what is usual", () => {
    expect(formatList(ALL_NAMESPACES)).toBe("");
    expect(parseList("")).toEqual(ALL_NAMESPACES);
    expect(formatList(ALL_PROPERTIES)).toBe("?tab=properties");
  });

  it.each(["", "user-", "a b", "50%off", "&=?#+", "日本", "4/2:a@b"])(
    "gives back any beginning of a name: %j",
    (prefix) => {
      const threads = { ...ALL_NAMESPACES, prefix, sort: "cost_usd", pinned: "false" };
      expect(parseList(formatList(threads))).toEqual(threads);
      const values = { ...ALL_PROPERTIES, prefix, property: "user-id" };
      expect(parseList(formatList(values))).toEqual(values);
    },
  );

  it("keeps a sort it does not know, so that the API can refuse it", () => {
    expect(parseList("?sort=size")).toMatchObject({ sort: "size" });
  });

  it("survives the router, which reads every URL as a filter", () => {
    const { filter } = parseSearch(formatList({ ...ALL_PROPERTIES, property: "channel", prefix: "i" }));
    expect(filter.map(({ name, values }) => [name, ...values])).toEqual([
      ["tab", "properties"],
      ["property", "channel"],
      ["prefix", "i"],
    ]);
  });
});
