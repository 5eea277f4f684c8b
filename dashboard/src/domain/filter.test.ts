import { describe, expect, it } from "vitest";
import {
  also,
  type Filter,
  inWords,
  isOfAllNamespaces,
  isOnly,
  not,
  ofAllNamespaces,
  only,
  propertyOf,
  rowHas,
  withoutLast,
} from "./filter";

const staging: Filter = [{ name: "namespace", values: ["staging"], negated: false }];
const gpt: Filter = [{ name: "model", values: ["gpt-4o"], negated: false }];

describe("a filter", () => {
  it("with only one value keeps the other fields and loses what its own field had, excluded values too", () => {
    const before = [...gpt, ...not(staging, "namespace", "default")];
    expect(only(before, "namespace", "production")).toEqual([
      ...gpt,
      { name: "namespace", values: ["production"], negated: false },
    ]);
  });

  it("with one more value means any of them", () => {
    expect(also(staging, "namespace", "production")).toEqual([
      { name: "namespace", values: ["staging", "production"], negated: false },
    ]);
  });

  it("treats what the query says of a field like its other values", () => {
    const query: Filter = [{ name: "q", values: ["model:gpt-4o*", "-model:o1", "refund"], negated: false }];
    expect(only(query, "model", "gpt-5")).toEqual([
      { name: "q", values: ["refund"], negated: false },
      { name: "model", values: ["gpt-5"], negated: false },
    ]);
    expect(also(query, "model", "my model")).toEqual([
      { name: "q", values: ["model:gpt-4o*", "-model:o1", "refund", 'model:"my model"'], negated: false },
    ]);
    expect(only([{ name: "q", values: ["model:gpt-4o*"], negated: false }], "model", "o1")).toHaveLength(1);
    expect(also(query, "namespace", "staging")).toEqual([
      ...query,
      { name: "namespace", values: ["staging"], negated: false },
    ]);
  });

  it("does not name a value twice", () => {
    expect(also(staging, "namespace", "staging")).toEqual(staging);
  });

  it("cannot ask for a value and exclude it", () => {
    expect(not(staging, "namespace", "staging")).toEqual([{ name: "namespace", values: ["staging"], negated: true }]);
    expect(also(not([], "namespace", "staging"), "namespace", "staging")).toEqual(staging);
  });

  it("loses the value chosen last, and a term with its last value", () => {
    const filter = also([...gpt, ...staging], "namespace", "production");
    expect(withoutLast(filter)).toEqual([...gpt, ...staging]);
    expect(withoutLast(withoutLast(filter))).toEqual(gpt);
    expect(withoutLast([])).toEqual([]);
    const mixed = also([...staging, ...gpt], "namespace", "production");
    expect(withoutLast(mixed)).toEqual([...gpt, ...staging]);
    expect(withoutLast(not([...not([], "model", "a"), ...staging], "model", "b"))).toEqual([
      ...staging,
      ...not([], "model", "a"),
    ]);
  });

  it("is of all namespaces once nothing in it speaks of them, the query included", () => {
    const words: Filter = [
      { name: "q", values: ["refund", "-namespace:user-*", "namespace_prefix:t"], negated: false },
    ];
    const filter = [...not(gpt, "namespace", "staging"), ...words];
    expect(isOfAllNamespaces(filter)).toBe(false);
    expect(isOfAllNamespaces(words)).toBe(false);
    expect(ofAllNamespaces(filter)).toEqual([...gpt, { name: "q", values: ["refund"], negated: false }]);
    expect(isOfAllNamespaces(ofAllNamespaces(filter))).toBe(true);
  });

  it("knows when it is exactly one value", () => {
    expect(isOnly(staging, "namespace", "staging")).toBe(true);
    expect(isOnly(also(staging, "namespace", "x"), "namespace", "staging")).toBe(false);
    expect(isOnly(not([], "namespace", "staging"), "namespace", "staging")).toBe(false);
  });

  it("can be said in words", () => {
    expect(inWords("property.channel", "iOS", true)).toEqual({ name: "channel", verb: "is not", value: "iOS" });
    expect(inWords("constructor", "x").name).toBe("constructor");
    expect(inWords("failed", "true")).toEqual({ name: "request", verb: "has", value: "failed" });
  });
});

it("takes no property for one that every object has", () => {
  const row = { properties: { channel: "iOS" } } as never;
  expect(propertyOf(row, "channel")).toBe("iOS");
  expect(propertyOf(row, "constructor")).toBeUndefined();
  expect(rowHas(row, "property.toString", "x")).toBe(false);
});
