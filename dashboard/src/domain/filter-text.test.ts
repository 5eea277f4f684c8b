import { expect, it } from "vitest";
import { describeTerm, isExcluded, termLabel } from "./filter-text";

it.each([
  ["refund", "says refund"],
  ["refun*", "says refun*"],
  ['"where is my"', 'says "where is my"'],
  ['-"late"', 'does not say "late"'],
  ["model:gpt-4o*", "model begins with gpt-4o"],
  ["-model:gpt-4o*", "model does not begin with gpt-4o"],
  ['namespace:"all*"', "namespace is all*"],
  ["-property.channel:iOS", "channel is not iOS"],
  ["duration:>2s", "duration > 2 s"],
  ["-duration:>=1.5m", "duration is not ≥ 1.5 min"],
  ["first_token:<=300ms", "first token ≤ 300 ms"],
  ["cost:>$0.01", "cost > $0.01"],
  ["input_tokens:>10000", "input tokens > 10,000"],
  ["retry_count:2", "retry count = 2"],
  ["duration:fast", "duration is fast"],
  ["from:-1h", "started since -1h"],
])("a part of the query language is told in words: %s", (part, words) => {
  expect(termLabel(describeTerm("q", part))).toBe(words);
});

it("other terms keep their words, and bounds in the URL have the same", () => {
  expect(termLabel(describeTerm("namespace", "staging", true))).toBe("namespace is not staging");
  expect(termLabel(describeTerm("duration", ">2s"))).toBe("duration > 2 s");
  expect(termLabel(describeTerm("q", "a b"))).toBe("q is a b");
});

it("knows what is excluded by a minus of its own", () => {
  const query = { name: "q", values: ["-late", "refund"], negated: false };
  expect(query.values.map((value) => isExcluded(query, value))).toEqual([true, false]);
  expect(isExcluded({ name: "model", values: ["-o1"], negated: false }, "-o1")).toBe(false);
  expect(isExcluded({ name: "model", values: ["o1"], negated: true }, "o1")).toBe(true);
});
