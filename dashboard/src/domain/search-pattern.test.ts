import { expect, it } from "vitest";
import { parseSearch } from "./log-search";
import { searchPattern, splitByPattern } from "./search-pattern";

const hits = (search: string, text: string) =>
  splitByPattern(text, searchPattern(parseSearch(search).filter))
    .filter((part) => part.isHit)
    .map((part) => part.text);

it.each([
  ["?q=refund", "Refund me. A refund, not refunds.", ["Refund", "refund"]],
  ["?q=refun*", "Refunds and a refund.", ["Refunds", "refund"]],
  ["?q=%22my+refund%22", "Where is my, refund? My order.", ["my, refund"]],
  ["?q=one+two", "two one three", ["two", "one"]],
  ["?words=refund", "A refund.", ["refund"]],
  ["?contains=fun.", "A refun.d", ["fun."]],
  ["?q=contains:%22a+b%22", "xa by", ["a b"]],
  ["?q=東京", "私は東京に", ["東京"]],
  ["?q=-refund", "A refund.", []],
  ["?q=model:refund+status:200", "A refund 200", []],
  ["?not.words=refund", "A refund.", []],
  ["?q=a%2Bb", "a+b, a b", ["a+b", "a b"]],
])("%s in %j", (search, text, found) => {
  expect(hits(search, text)).toEqual(found);
});

it("keeps the whole text", () => {
  const { filter } = parseSearch("?q=b");
  expect(splitByPattern("a b c", searchPattern(filter))).toEqual([
    { text: "a ", isHit: false },
    { text: "b", isHit: true },
    { text: " c", isHit: false },
  ]);
  expect(splitByPattern("a b c", searchPattern([]))).toEqual([{ text: "a b c", isHit: false }]);
});
