import { describe, expect, it } from "vitest";
import {
  addValue,
  clearNamespaces,
  describeValue,
  excludeValue,
  type Filter,
  hasNoNamespaceFilter,
  isOnlyValue,
  propertyOf,
  removeLastValue,
  replaceValue,
  rowMatches,
} from "./filter";

const staging: Filter = [{ name: "namespace", values: ["staging"], negated: false }];
const gpt: Filter = [{ name: "model", values: ["gpt-4o"], negated: false }];

describe("a filter", () => {
  it("with only one value keeps the other fields and loses what its own field had, excluded values too", () => {
    const before = [...gpt, ...excludeValue(staging, "namespace", "default")];
    expect(replaceValue(before, "namespace", "production")).toEqual([
      ...gpt,
      { name: "namespace", values: ["production"], negated: false },
    ]);
  });

  it("with one more value means any of them", () => {
    expect(addValue(staging, "namespace", "production")).toEqual([
      { name: "namespace", values: ["staging", "production"], negated: false },
    ]);
  });

  it("treats what the query says of a field like its other values", () => {
    const query: Filter = [{ name: "q", values: ["model:gpt-4o*", "-model:o1", "refund"], negated: false }];
    expect(replaceValue(query, "model", "gpt-5")).toEqual([
      { name: "q", values: ["refund"], negated: false },
      { name: "model", values: ["gpt-5"], negated: false },
    ]);
    expect(addValue(query, "model", "my model")).toEqual([
      { name: "q", values: ["model:gpt-4o*", "-model:o1", "refund", 'model:"my model"'], negated: false },
    ]);
    expect(replaceValue([{ name: "q", values: ["model:gpt-4o*"], negated: false }], "model", "o1")).toHaveLength(1);
    expect(addValue(query, "namespace", "staging")).toEqual([
      ...query,
      { name: "namespace", values: ["staging"], negated: false },
    ]);
  });

  it("does not name a value twice", () => {
    expect(addValue(staging, "namespace", "staging")).toEqual(staging);
  });

  it("cannot ask for a value and exclude it", () => {
    expect(excludeValue(staging, "namespace", "staging")).toEqual([
      { name: "namespace", values: ["staging"], negated: true },
    ]);
    expect(addValue(excludeValue([], "namespace", "staging"), "namespace", "staging")).toEqual(staging);
  });

  it("loses the value chosen last, and a term with its last value", () => {
    const filter = addValue([...gpt, ...staging], "namespace", "production");
    expect(removeLastValue(filter)).toEqual([...gpt, ...staging]);
    expect(removeLastValue(removeLastValue(filter))).toEqual(gpt);
    expect(removeLastValue([])).toEqual([]);
    const mixed = addValue([...staging, ...gpt], "namespace", "production");
    expect(removeLastValue(mixed)).toEqual([...gpt, ...staging]);
    expect(removeLastValue(excludeValue([...excludeValue([], "model", "a"), ...staging], "model", "b"))).toEqual([
      ...staging,
      ...excludeValue([], "model", "a"),
    ]);
  });

  it("is of all namespaces once nothing in it speaks of them, the query included", () => {
    const words: Filter = [
      { name: "q", values: ["refund", "-namespace:user-*", "namespace_prefix:t"], negated: false },
    ];
    const filter = [...excludeValue(gpt, "namespace", "staging"), ...words];
    expect(hasNoNamespaceFilter(filter)).toBe(false);
    expect(hasNoNamespaceFilter(words)).toBe(false);
    expect(clearNamespaces(filter)).toEqual([...gpt, { name: "q", values: ["refund"], negated: false }]);
    expect(hasNoNamespaceFilter(clearNamespaces(filter))).toBe(true);
  });

  it("knows when it is exactly one value", () => {
    expect(isOnlyValue(staging, "namespace", "staging")).toBe(true);
    expect(isOnlyValue(addValue(staging, "namespace", "x"), "namespace", "staging")).toBe(false);
    expect(isOnlyValue(excludeValue([], "namespace", "staging"), "namespace", "staging")).toBe(false);
  });

  it("can be said in words", () => {
    expect(describeValue("property.channel", "iOS", true)).toEqual({ name: "channel", verb: "is not", value: "iOS" });
    expect(describeValue("constructor", "x").name).toBe("constructor");
    expect(describeValue("failed", "true")).toEqual({ name: "request", verb: "has", value: "failed" });
  });
});

it("takes no property for one that every object has", () => {
  const row = { properties: { channel: "iOS" } } as never;
  expect(propertyOf(row, "channel")).toBe("iOS");
  expect(propertyOf(row, "constructor")).toBeUndefined();
  expect(rowMatches(row, "property.toString", "x")).toBe(false);
});
