import { describe, expect, it } from "vitest";
import { addValue, excludeValue, replaceValue } from "./filter";
import { formatSearch, parseSearch, toApiParams, toListParams, withSort } from "./log-search";

describe("the URL", () => {
  it("reads like the API's own parameters", () => {
    const filter = excludeValue(
      addValue(replaceValue([], "namespace", "staging"), "namespace", "production"),
      "property.user-id",
      "4/2:a@b",
    );
    const text = formatSearch({ filter, range: { from: "-1h" } });
    expect(text).toBe("?namespace=staging&namespace=production&not.property.user-id=4/2:a@b&from=-1h");
  });

  it.each(["a b", "50%off", "&=?#+", "日本", "é", '"><script>', "\u202e", "a\u0000b", "%2F", "''"])(
    "gives back any value: %j",
    (value) => {
      const search = { filter: replaceValue([], "namespace", value), range: {} };
      expect(parseSearch(formatSearch(search))).toEqual(search);
    },
  );

  it("has the query language in one parameter, where it was chosen, and each of its parts is a value", () => {
    const q = { name: "q", values: ["refund", "duration:>2s", '-"not yet"'], negated: false };
    const search = { filter: [q, ...replaceValue([], "namespace", "a b")], range: {} };
    expect(formatSearch(search)).toBe("?q=refund+duration:%3E2s+-%22not+yet%22&namespace=a+b");
    expect(parseSearch(formatSearch(search))).toEqual(search);
    expect(parseSearch("?q=refund+duration%3A%3E2s").filter).toEqual([{ ...q, values: ["refund", "duration:>2s"] }]);
  });

  it.each(["refun*", '"a " " b', "100% &=?#+", "退款 日本", '-"x\\"y"', "refund refund", "+", 'namespace:"a b'])(
    "gives back any query: %j",
    (text) => {
      const search = parseSearch(`?q=${encodeURIComponent(text)}`);
      expect(parseSearch(formatSearch(search))).toEqual(search);
      expect(search.filter[0]?.values.join(" ")).toBe(text === "refund refund" ? "refund" : text);
    },
  );

  it("is as short as can be where nothing is looked for", () => {
    expect(formatSearch(parseSearch("?q=%20"))).toBe("");
  });

  it("keeps that the reader has paused", () => {
    expect(formatSearch({ filter: [], range: {}, live: false })).toBe("?live=off");
    expect(parseSearch("?live=off").live).toBe(false);
    expect(parseSearch("").live).toBeUndefined();
  });

  it("keeps the sort field, which only the list of requests takes", () => {
    const search = parseSearch("?namespace=a&from=-1h&sort=cost_usd");
    expect(search.sort).toBe("cost_usd");
    expect(formatSearch(search)).toBe("?namespace=a&from=-1h&sort=cost_usd");
    expect(toListParams(search)).toContainEqual(["sort", "cost_usd"]);
    expect(toApiParams(search)).toEqual([
      ["namespace", "a"],
      ["from", "-1h"],
    ]);
    expect(withSort(search, undefined)).toEqual(parseSearch("?namespace=a&from=-1h"));
  });

  it("keeps a name it does not know, so that the API can refuse it", () => {
    expect(parseSearch("?nmespace=x").filter).toEqual([{ name: "nmespace", values: ["x"], negated: false }]);
  });
});
