import { describe, expect, it } from "vitest";
import { listedField, partBefore, suggestionsFor, withSuggestion } from "./query-proposals";

const IOS = { value: "iOS app", requests: 2100 };

/** What could stand at the end of a text. */
function shown(text: string, values = [IOS], properties = [{ value: "channel", requests: 3 }]) {
  return suggestionsFor(partBefore(text, text.length), properties, values).map((each) => each.shown);
}

describe("completion", () => {
  it("offers names by how they begin, each with a word on what it is, and properties by theirs", () => {
    expect(shown("")).toContain("property.channel:");
    expect(shown("refund mod")).toEqual(["model:"]);
    expect(shown("-chan")).toEqual(["-property.channel:"]);
    expect(suggestionsFor(partBefore("mod", 3), [], [])).toEqual([
      { written: "model:", shown: "model:", words: "the model asked for" },
    ]);
    expect(shown("fro")).toEqual(["from:"]);
    expect(shown("-fro")).toEqual([]);
  });

  it("offers no name that cannot be said before a colon", () => {
    const odd = ["tenant id", "a:b", "größe"].map((value) => ({ value, requests: 1 }));
    expect(shown("property.", [IOS], odd)).toEqual(["property.größe:"]);
  });

  it("offers nothing inside a phrase, and nothing for a word that is no name's beginning", () => {
    expect(shown('"mod')).toEqual([]);
    expect(shown("refund")).toEqual([]);
  });

  it("offers the values the log has, quoted where they must be, and their common beginning", () => {
    expect(suggestionsFor(partBefore("-namespace:i", 12), [], [IOS, { value: "x", requests: 1 }])).toEqual([
      { written: '-namespace:"iOS app"', shown: "iOS app", requests: 2100 },
    ]);
    const models = ["gpt-4o", "gpt-5"].map((value) => ({ value, requests: 1 }));
    expect(shown("model:gpt", models)).toEqual(["gpt-4o", "gpt-5", "gpt*"]);
    expect(shown('model:"gpt', models)).toEqual(["gpt-4o", "gpt-5"]);
  });

  it("asks for the values of those fields alone whose values are listed", () => {
    expect(listedField(partBefore("-property.channel:x", 19))).toBe("property.channel");
    expect(listedField(partBefore("status:4", 8))).toBeUndefined();
    expect(listedField(partBefore("namespace", 9))).toBeUndefined();
  });

  it("offers what is the same in every log", () => {
    expect(shown("status:4")).toEqual(["4xx", "400", "401", "404", "429"].sort());
    expect(shown("failed:")).toEqual(["true", "false"]);
  });

  it("offers bounds, and the units a number can have", () => {
    expect(shown("duration:")).toContain(">2s");
    expect(shown("duration:>3")).toEqual([">3s", ">3ms", ">3m"]);
    expect(shown("duration:3")).toEqual([">3s", ">3ms", ">3m", "<3s", "<3ms", "<3m"]);
    expect(shown("cost:0.5")).toEqual([">0.5", "<0.5"]);
    expect(shown("cost:")).toContain(">0.01");
  });

  it("puts what was chosen in the place of what was typed, and nothing else changes", () => {
    const model = { written: "model:", shown: "model:" };
    expect(withSuggestion("refund mo", 9, model)).toEqual({ text: "refund model:", caret: 13 });
    expect(withSuggestion("refund modxx late", 10, model)).toEqual({ text: "refund model: late", caret: 13 });
    const value = { written: "model:o1", shown: "o1" };
    expect(withSuggestion("model: late", 6, value)).toEqual({ text: "model:o1 late", caret: 9 });
    expect(withSuggestion("late ", 5, value)).toEqual({ text: "late model:o1 ", caret: 14 });
  });
});
