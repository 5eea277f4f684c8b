import { describe, expect, it } from "vitest";
import {
  addValue,
  clearNamespaces,
  excludeValue,
  type Filter,
  fieldOf,
  hasNoNamespaceFilter,
  hasWords,
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

  it("with only one value loses prefixes of the field, too", () => {
    const before: Filter = [
      { name: "begins.model", values: ["gpt-4o"], negated: false },
      { name: "begins.model", values: ["o1"], negated: true },
      { name: "words", values: ["refund"], negated: false },
    ];
    expect(replaceValue(before, "model", "gpt-5")).toEqual([
      { name: "words", values: ["refund"], negated: false },
      { name: "model", values: ["gpt-5"], negated: false },
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

  it("is about all namespaces if no term is about a namespace or its prefix", () => {
    const others: Filter = [...gpt, { name: "words", values: ["refund"], negated: false }];
    const filter: Filter = [
      ...excludeValue(others, "namespace", "staging"),
      { name: "begins.namespace", values: ["user-"], negated: true },
      { name: "namespace_prefix", values: ["t"], negated: false },
    ];
    expect(hasNoNamespaceFilter(filter)).toBe(false);
    expect(clearNamespaces(filter)).toEqual(others);
    expect(hasNoNamespaceFilter(others)).toBe(true);
  });

  it("knows the field of a term", () => {
    expect(["model", "begins.model", "begins.property.a.b", "namespace_prefix"].map(fieldOf)).toEqual([
      "model",
      "model",
      "property.a.b",
      "namespace",
    ]);
  });

  it.each([
    ["words", true],
    ["begins.words", true],
    ["q", true],
    ["namespace", false],
    ["contains", false],
  ])("searches for words with %s: %s", (name, has) => {
    expect(hasWords([{ name, values: ["refund"], negated: true }])).toBe(has);
  });

  it("knows when it is exactly one value", () => {
    expect(isOnlyValue(staging, "namespace", "staging")).toBe(true);
    expect(isOnlyValue(addValue(staging, "namespace", "x"), "namespace", "staging")).toBe(false);
    expect(isOnlyValue(excludeValue([], "namespace", "staging"), "namespace", "staging")).toBe(false);
  });
});

it("takes no property for one that every object has", () => {
  const row = { properties: { channel: "iOS" } } as never;
  expect(propertyOf(row, "channel")).toBe("iOS");
  expect(propertyOf(row, "constructor")).toBeUndefined();
  expect(rowMatches(row, "property.toString", "x")).toBe(false);
});
