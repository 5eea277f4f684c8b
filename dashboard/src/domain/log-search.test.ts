import { describe, expect, it } from "vitest";
import { addValue, excludeValue, replaceValue } from "./filter";
import {
  addParams,
  EMPTY_SEARCH,
  formatSearch,
  parseSearch,
  queryText,
  replaceQuery,
  toApiParams,
  toListParams,
  withoutQuery,
  withSearchedPart,
  withSort,
} from "./log-search";

describe("the URL", () => {
  it("has the parameters of the API", () => {
    const filter = excludeValue(
      addValue(replaceValue([], "namespace", "staging"), "namespace", "production"),
      "property.user-id",
      "4/2:a@b",
    );
    const text = formatSearch({ filter, range: { from: "-1h" } });
    expect(text).toBe("?namespace=staging&namespace=production&not.property.user-id=4/2:a@b&from=-1h");
  });

  it.each(["a b", "50%off", "&=?#+", "日本", "é", '"><script>', "\u202e", "a\u0000b", "%2F", "''"])(
    "keeps any value: %j",
    (value) => {
      const search = { filter: replaceValue([], "namespace", value), range: {} };
      expect(parseSearch(formatSearch(search))).toEqual(search);
    },
  );

  it.each([
    " a b",
    "a:b",
    "a=b&c",
    "not.a",
    "begins.a",
    "-a",
    '"a"',
    "a\\",
    "*",
    "名前",
    "__proto__",
    "%2F",
    "a+b",
    "#",
  ])("keeps any name of a property: %j", (name) => {
    const all = ["", "begins."].map((prefix) => `${prefix}property.${name}`);
    const filter = all.reduce((some, each) => excludeValue(addValue(some, each, "x"), each, "y"), EMPTY_SEARCH.filter);
    expect(filter).toHaveLength(4);
    expect(parseSearch(formatSearch({ filter, range: {} })).filter).toEqual(filter);
  });

  it("has a parameter for each value, including words, prefixes and bounds", () => {
    const text = "?words=refund&words=where+is&not.begins.model=gpt-4o&duration=%3E2s";
    const search = parseSearch(text);
    expect(search.filter).toEqual([
      { name: "words", values: ["refund", "where is"], negated: false },
      { name: "begins.model", values: ["gpt-4o"], negated: true },
      { name: "duration", values: [">2s"], negated: false },
    ]);
    expect(formatSearch(search)).toBe(text);
  });

  it("keeps a query unchanged", () => {
    const search = parseSearch(`?q=${encodeURIComponent('refund  -"not yet"')}&model=o1`);
    expect(queryText(search.filter)).toBe('refund  -"not yet"');
    expect(withoutQuery(search.filter)).toEqual([{ name: "model", values: ["o1"], negated: false }]);
    expect(formatSearch(search)).toBe("?q=refund++-%22not+yet%22&model=o1");
  });

  it("keeps the paused state", () => {
    expect(formatSearch({ filter: [], range: {}, live: false })).toBe("?live=off");
    expect(parseSearch("?live=off").live).toBe(false);
    expect(parseSearch("").live).toBeUndefined();
  });

  it("keeps the sort field, which is a parameter only of the list of requests", () => {
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

  it("keeps an unknown parameter, so that the API can reject it", () => {
    expect(parseSearch("?nmespace=x").filter).toEqual([{ name: "nmespace", values: ["x"], negated: false }]);
  });
});

describe("parameters of a query", () => {
  it("are added to the filter, and a time range replaces that of the URL", () => {
    const search = { ...parseSearch("?model=o1&words=tea&from=-1h"), live: false as const };
    const params = [
      ["words", "refund"],
      ["begins.model", "gpt"],
      ["not.words", "tea"],
      ["from", "-24h"],
    ] as const;
    expect(formatSearch(addParams(search, params))).toBe(
      "?model=o1&words=refund&begins.model=gpt&not.words=tea&from=-24h&live=off",
    );
    expect(addParams(EMPTY_SEARCH, [])).toEqual(EMPTY_SEARCH);
  });

  it.each([
    [[["from", "-24h"]], "?from=-24h"],
    [
      [
        ["to", "-1h"],
        ["from", "-24h"],
      ],
      "?from=-24h&to=-1h",
    ],
    [[["to", "-1h"]], "?from=-3d&to=-1h"],
  ] as const)("replace the whole time range if they have its start: %j", (params, expected) => {
    expect(formatSearch(addParams(parseSearch("?from=-3d&to=-2d"), params))).toBe(expected);
  });

  it.each([
    ["?q=x&namespace=a", [["words", "x"]], "?namespace=a&words=x"],
    ["?q=x&not.model=a", [["not.model", "b"]], "?not.model=a&not.model=b"],
    ["?q=x", [], ""],
    ["?q=x&model=a", [["begins.model", "b"]], undefined],
    ["?q=x&begins.model=a", [["model", "b"]], undefined],
    ["?q=x&from=-1h", [["from", "-2h"]], undefined],
  ] as const)("replace the query of %s unless they repeat a field", (text, params, expected) => {
    const converted = replaceQuery(parseSearch(text), params);
    expect(converted && formatSearch(converted)).toBe(expected);
  });
});

it("texts are searched in another part of the requests, except excluded texts", () => {
  const search = parseSearch("?said_here=a&model=o1&begins.said_here=b&words=c&not.said_here=d&sort=cost_usd&live=off");
  const whole = withSearchedPart(search, "said_here", "words");
  expect(formatSearch(whole)).toBe("?words=a&words=c&model=o1&begins.words=b&not.said_here=d&sort=cost_usd&live=off");
});
