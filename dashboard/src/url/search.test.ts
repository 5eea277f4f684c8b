import { describe, expect, it } from "vitest";
import { also, not, only } from "~/filters/filter";
import { formatSearch, parseSearch } from "./search";

describe("the URL", () => {
  it("reads like the API's own parameters", () => {
    const filter = not(
      also(only([], "namespace", "staging"), "namespace", "production"),
      "property.user-id",
      "4/2:a@b",
    );
    const text = formatSearch({ filter, range: { from: "-1h" } });
    expect(text).toBe("?namespace=staging&namespace=production&not.property.user-id=4/2:a@b&from=-1h");
  });

  it.each(["a b", "50%off", "&=?#+", "日本", "é", '"><script>', "\u202e", "a\u0000b", "%2F", "''"])(
    "gives back any value: %j",
    (value) => {
      const search = { filter: only([], "namespace", value), range: {} };
      expect(parseSearch(formatSearch(search))).toEqual(search);
    },
  );

  it("keeps that the reader has paused", () => {
    expect(formatSearch({ filter: [], range: {}, live: false })).toBe("?live=off");
    expect(parseSearch("?live=off").live).toBe(false);
    expect(parseSearch("").live).toBeUndefined();
  });

  it("keeps a name it does not know, so that the API can refuse it", () => {
    expect(parseSearch("?nmespace=x").filter).toEqual([{ name: "nmespace", values: ["x"], negated: false }]);
  });
});
