import { describe, expect, it } from "vitest";
import { stepAt, textsOf } from "./response-progress";

describe("the text of a response at a moment", () => {
  const texts = textsOf({
    steps: [
      [2, 0, "Grü"],
      [3, 3, "ße 😀"],
      [7, 5, "! ƒ f()"],
      [9, 10, "{})"],
    ],
  });

  it("is put together from what is added, in code points", () => {
    expect(texts.map(({ text }) => text)).toEqual(["Grü", "Grüße 😀", "Grüße! ƒ f()", "Grüße! ƒ f{})"]);
    expect(texts.map(({ before }) => before)).toEqual([0, 3, 5, 10]);
  });

  it("counts an emoji as one character", () => {
    const [, second] = textsOf({
      steps: [
        [1, 0, "😀😀"],
        [2, 1, "a"],
      ],
    });
    expect(second).toEqual({ chunk: 2, text: "😀a", before: 2 });
  });

  it("is that of the last chunk that changed it", () => {
    expect([1, 2, 3, 6, 7, 50].map((chunks) => stepAt(texts, chunks)?.chunk)).toEqual([undefined, 2, 3, 3, 7, 9]);
    expect(stepAt([], 5)).toBeUndefined();
  });
});
