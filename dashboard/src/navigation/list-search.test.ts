import { describe, expect, it } from "vitest";
import { parseSearch } from "~/domain/log-search";
import { ALL_NAMESPACES, ALL_PROPERTIES, formatList, parseList } from "./list-search";

describe("the URL of a list", () => {
  it("omits defaults", () => {
    expect(formatList(ALL_NAMESPACES)).toBe("");
    expect(parseList("")).toEqual(ALL_NAMESPACES);
    expect(formatList(ALL_PROPERTIES)).toBe("?tab=properties");
  });

  it.each(["", "user-", "a b", "50%off", "&=?#+", "日本", "4/2:a@b"])("keeps any prefix: %j", (prefix) => {
    const namespaces = { ...ALL_NAMESPACES, prefix, sort: "cost_usd", pinned: "false" };
    expect(parseList(formatList(namespaces))).toEqual(namespaces);
    const values = { ...ALL_PROPERTIES, prefix, property: "user-id" };
    expect(parseList(formatList(values))).toEqual(values);
  });

  it("keeps an unknown sort field, so that the API can reject it", () => {
    expect(parseList("?sort=size")).toMatchObject({ sort: "size" });
  });

  it("keeps its parameters when the router parses it as a filter", () => {
    const { filter } = parseSearch(formatList({ ...ALL_PROPERTIES, property: "channel", prefix: "i" }));
    expect(filter.map(({ name, values }) => [name, ...values])).toEqual([
      ["tab", "properties"],
      ["property", "channel"],
      ["prefix", "i"],
    ]);
  });
});
