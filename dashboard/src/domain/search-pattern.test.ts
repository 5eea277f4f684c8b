import { expect, it } from "vitest";
import { parseSearch } from "./log-search";
import { searchPattern, splitByPattern } from "./search-pattern";

const hits = (search: string, text: string) =>
  splitByPattern(text, searchPattern(parseSearch(search).filter))
    .filter((part) => part.isHit)
    .map((part) => part.text);

it.each([
  ["?words=refund", "Refund me. A refund, not refunds.", ["Refund", "refund"]],
  ["?begins.words=refun", "Refunds and a refund.", ["Refunds", "refund"]],
  ["?words=my+refund", "Where is my, refund? My order.", ["my, refund"]],
  ["?words=one&words=two", "two one three", ["two", "one"]],
  ["?contains=fun.", "A refun.d", ["fun."]],
  ["?words=東京", "私は東京に", ["東京"]],
  ["?words=a%2Bb", "a+b, a b", ["a+b", "a b"]],
  ["?words=cafe", "Ein Café, 🍰 cafés, cafe\u0301", ["Café", "cafe\u0301"]],
  ["?words=caf%C3%A9", "cafe", ["cafe"]],
  ["?contains=caf%C3%A9", "Ein Café, cafe", ["Café", "cafe"]],
  ["?contains=한국", "저는 한국에", ["한국"]],
  ["?contains=が", "私が行く", ["が"]],
  ["?contains=Ä", "Ärger", ["Ä"]],
  ["?contains=%CC%81", "cafe", []],
  ["?not.words=refund", "A refund.", []],
  ["?model=refund&status=200", "A refund 200", []],
])("marks matches of %s in %j", (search, text, expected) => {
  expect(hits(search, text)).toEqual(expected);
});

it("keeps the whole text", () => {
  const { filter } = parseSearch("?words=b");
  expect(splitByPattern("a b c", searchPattern(filter))).toEqual([
    { text: "a ", isHit: false },
    { text: "b", isHit: true },
    { text: " c", isHit: false },
  ]);
  expect(splitByPattern("a b c", searchPattern([]))).toEqual([{ text: "a b c", isHit: false }]);
});
