import { describe, expect, it } from "vitest";
import { readTyped } from "./typed-terms";

describe("the query box", () => {
  it("reads names and values, excluded ones, quoted ones and the time", () => {
    expect(readTyped('namespace:production -model:gpt-4o property.user-id:"a b" from:-1h', [], {})).toEqual({
      filter: [
        { name: "namespace", values: ["production"], negated: false },
        { name: "model", values: ["gpt-4o"], negated: true },
        { name: "property.user-id", values: ["a b"], negated: false },
      ],
      range: { from: "-1h" },
    });
  });

  it("takes a value with colons whole", () => {
    expect(readTyped("user:a:b", [], {})).toMatchObject({ filter: [{ values: ["a:b"] }] });
  });

  it.each(["0199a3b2-1111-7222-8333-444455556666", "chatcmpl-9xYz", "req_7c1"])(
    "opens the request of an id: %s",
    (id) => {
      expect(readTyped(id, [], {})).toEqual({ id });
    },
  );

  it.each(["refund", "namspace:x", "namespace:", '"two words"'])("says what is wrong with %s", (text) => {
    const typed = readTyped(text, [], {});
    expect("wrong" in typed && typed.wrong).toContain(text.split(":")[0]?.replaceAll('"', "").split(" ")[0]);
  });
});
