import { describe, expect, it } from "vitest";
import { hasWords, partsOf, withParts, writtenValue } from "./query-parts";

const shapes = (text: string) => partsOf(text).map(({ negated, name, value }) => [negated ? "-" : "", name, value]);

describe("the query language", () => {
  it("falls into words, phrases, and values of names, each of which may be negated", () => {
    expect(shapes('refund -late "where is my" -"not yet" model:gpt-4o* -property.user-id:"a b" duration:>2s')).toEqual([
      ["", "", "refund"],
      ["-", "", "late"],
      ["", "", "where is my"],
      ["-", "", "not yet"],
      ["", "model", "gpt-4o*"],
      ["-", "property.user-id", "a b"],
      ["", "duration", ">2s"],
    ]);
  });

  it.each([
    ["user:a:b", [["", "user", "a:b"]]],
    ["https://x.example", [["", "https", "//x.example"]]],
    [
      "- a",
      [
        ["", "", "-"],
        ["", "", "a"],
      ],
    ],
    ['"where is"*', [["", "", "where is*"]]],
    [
      'model:"gpt"*',
      [
        ["", "model", "gpt"],
        ["", "", "*"],
      ],
    ],
    [
      '"a"b',
      [
        ["", "", "a"],
        ["", "", "b"],
      ],
    ],
    [
      'a"b c"',
      [
        ["", "", 'a"b'],
        ["", "", 'c"'],
      ],
    ],
    [String.raw`"say \"no\" \\ \n"`, [["", "", String.raw`say "no" \ \n`]]],
    [
      "größe:x 退款",
      [
        ["", "größe", "x"],
        ["", "", "退款"],
      ],
    ],
    ["__:x", [["", "", "__:x"]]],
    ["model:", [["", "model", ""]]],
    ["  \n\t ", []],
  ])("is split as the API does it: %s", (text, parts) => {
    expect(shapes(text)).toEqual(parts);
  });

  it("takes a quote that is not closed to the end, so that the API can point at it", () => {
    expect(partsOf(String.raw`a namespace:"b\" c`)).toMatchObject([
      { written: "a", isOpen: false },
      { at: 2, written: String.raw`namespace:"b\" c`, isOpen: true },
    ]);
  });

  it("is put together again from its parts as they were written", () => {
    const text = 'refund -"not yet" model:"gpt 4" "where is"* duration:>=1.5s';
    expect(
      partsOf(text)
        .map((part) => part.written)
        .join(" "),
    ).toBe(text);
  });

  it.each(["plain", "a b", 'say "no"', '"', String.raw`back\slash "x" y`, "star*", "", "-x", "a:b"])(
    "writes any value so that it is read again: %s",
    (value) => {
      expect(shapes(`namespace:${writtenValue(value)}`)).toEqual([["", "namespace", value]]);
      expect(partsOf(`namespace:${writtenValue(value)}`)[0]?.isQuoted || !value.endsWith("*")).toBe(true);
    },
  );

  it("has words only where something is looked for in texts", () => {
    expect(hasWords(withParts([], ["duration:>2s", "model:gpt*"]))).toBe(false);
    expect(hasWords(withParts([], ["duration:>2s", "-late"]))).toBe(true);
    expect(hasWords([{ name: "namespace", values: ["refund"], negated: false }])).toBe(false);
  });

  it("puts what is added last to the end", () => {
    const filter = withParts(
      [
        { name: "q", values: ["refund"], negated: false },
        { name: "model", values: ["o1"], negated: false },
      ],
      ["late", "refund"],
    );
    expect(filter.map(({ name, values }) => [name, ...values])).toEqual([
      ["model", "o1"],
      ["q", "refund", "late"],
    ]);
  });
});
