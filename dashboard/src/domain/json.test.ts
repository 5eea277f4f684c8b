import { expect, it } from "vitest";
import { beginsLikeJson, parsedExactly, pretty, wholeJson } from "./json";

it("shows numbers as they are written in the JSON text", () => {
  const text = '{"id":1234567890123456789,"price":1.0,"small":1e-7,"n":7,"text":"1.0"}';
  expect(pretty(parsedExactly(text)).replace(/\s/g, "")).toBe(text);
  expect(parsedExactly("no JSON")).toBeUndefined();
});

it("finds JSON that is a whole text, also in a code block", () => {
  expect(wholeJson(' {"a": 1}\n')).toEqual({ a: 1 });
  expect(wholeJson('```json\n[{"a": 1}]\n```\n')).toEqual([{ a: 1 }]);
  for (const text of ["", "[1] and more", "{a: 1}", '"text"', "12", '{"a": 1', '```json\n{"a": 1}\n```\nDone.']) {
    expect(wholeJson(text)).toBeUndefined();
  }
});

it("recognizes the beginning of JSON", () => {
  for (const text of ['{"a": "b', "[1, 2", '```json\n{"a', "[ {", "{}", "[]"]) expect(beginsLikeJson(text)).toBe(true);
  for (const text of ["", "[link](https://a.example)", "{name}, hello", "- [ ] one", "`{}`"]) {
    expect(beginsLikeJson(text)).toBe(false);
  }
});
