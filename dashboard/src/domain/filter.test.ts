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
  it("replaces all values of a field, excluded ones too, and keeps the other fields", () => {
    const before = [...gpt, ...excludeValue(staging, "namespace", "default")];
    expect(replaceValue(before, "namespace", "production")).toEqual([
      ...gpt,
      { name: "namespace", values: ["production"], negated: false },
    ]);
  });

  it("matches any of several values of a field", () => {
    expect(addValue(staging, "namespace", "production")).toEqual([
      { name: "namespace", values: ["staging", "production"], negated: false },
    ]);
  });

  it("also replaces prefixes of the field", () => {
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

  it("does not contain a value twice", () => {
    expect(addValue(staging, "namespace", "staging")).toEqual(staging);
  });

  it("does not both select and exclude a value", () => {
    expect(excludeValue(staging, "namespace", "staging")).toEqual([
      { name: "namespace", values: ["staging"], negated: true },
    ]);
    expect(addValue(excludeValue([], "namespace", "staging"), "namespace", "staging")).toEqual(staging);
  });

  it("removes the value selected last, and a term without values", () => {
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

  it("has no namespace filter if no term is about a namespace or its prefix", () => {
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

  it("finds the field of a term", () => {
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
  ])("has a text search with %s: %s", (name, expected) => {
    expect(hasWords([{ name, values: ["refund"], negated: true }])).toBe(expected);
  });

  it("detects that a field has exactly one value", () => {
    expect(isOnlyValue(staging, "namespace", "staging")).toBe(true);
    expect(isOnlyValue(addValue(staging, "namespace", "x"), "namespace", "staging")).toBe(false);
    expect(isOnlyValue(excludeValue([], "namespace", "staging"), "namespace", "staging")).toBe(false);
  });
});

it("a property is not mistaken for a member of Object.prototype", () => {
  const row = { properties: { channel: "iOS" } } as never;
  expect(propertyOf(row, "channel")).toBe("iOS");
  expect(propertyOf(row, "constructor")).toBeUndefined();
  expect(rowMatches(row, "property.toString", "x")).toBe(false);
});

it("a row has the codes of its warnings, notes and advice", () => {
  const note = (code: string) => [{ code, message: "" }];
  const row = { warnings: note("unknown_tag"), notes: note("not_json"), advice: note("no_stream_usage") } as never;
  expect(rowMatches(row, "warning", "unknown_tag")).toBe(true);
  expect(rowMatches(row, "warning", "no_stream_usage")).toBe(false);
  expect(rowMatches(row, "note", "not_json")).toBe(true);
  expect(rowMatches(row, "note", "unknown_tag")).toBe(false);
  expect(rowMatches(row, "advice", "no_stream_usage")).toBe(true);
  expect(rowMatches(row, "advice", "unknown_tag")).toBe(false);
});
