import { describe, expect, it } from "vitest";
import type { Filter } from "./filter";
import { readTyped } from "./typed-terms";

/** What the URL would say. */
function read(text: string, filter: Filter = []) {
  const typed = readTyped(text, filter, {});
  if ("id" in typed) return typed.id;
  return typed.filter.map((term) => `${term.negated ? "not." : ""}${term.name}=${term.values.join(" ")}`);
}

describe("the query box", () => {
  it("makes filters of values of names, excluded ones and quoted ones, and a time range", () => {
    expect(readTyped('namespace:production -model:gpt-4o property.user-id:"a b" from:-1h', [], {})).toEqual({
      filter: [
        { name: "namespace", values: ["production"], negated: false },
        { name: "model", values: ["gpt-4o"], negated: true },
        { name: "property.user-id", values: ["a b"], negated: false },
      ],
      range: { from: "-1h" },
    });
  });

  it("leaves the rest to the query language, as it was written", () => {
    expect(read('refund namespace:staging -"not yet" model:gpt-4o* duration:>2s -cost:>0.01 refun*')).toEqual([
      "namespace=staging",
      'q=refund -"not yet" model:gpt-4o* duration:>2s -cost:>0.01 refun*',
    ]);
  });

  it("adds to what was typed before", () => {
    expect(read("late", [{ name: "q", values: ["refund"], negated: false }])).toEqual(["q=refund late"]);
  });

  it.each(["namspace:x", "namespace:", 'namespace:"x', "-from:-1h", "--x", "a:b*"])(
    "lets the API judge what it does not know: %s",
    (text) => {
      expect(read(text)).toEqual([`q=${text}`]);
    },
  );

  it("keeps values of one field in one place, so that they mean any of them", () => {
    expect(read("model:gpt-4o* model:o1")).toEqual(["q=model:gpt-4o* model:o1"]);
    expect(read("model:gpt-4o*", [{ name: "model", values: ["o1", "my model"], negated: false }])).toEqual([
      'q=model:o1 model:"my model" model:gpt-4o*',
    ]);
    expect(read("model:o1", [{ name: "q", values: ["model:gpt-4o*"], negated: false }])).toEqual([
      "q=model:gpt-4o* model:o1",
    ]);
    expect(read("-model:o1", [{ name: "q", values: ["model:gpt-4o*"], negated: false }])).toEqual([
      "q=model:gpt-4o*",
      "not.model=o1",
    ]);
  });

  it("takes a value whole: with colons, or ending in a star of its own", () => {
    expect(read("user:a:b")).toEqual(["user=a:b"]);
    expect(read('namespace:"all*"')).toEqual(["namespace=all*"]);
  });

  it.each(["0199a3b2-1111-7222-8333-444455556666", "chatcmpl-9xYz", "req_7c1"])(
    "opens the request of an id: %s",
    (id) => {
      expect(read(id)).toBe(id);
    },
  );
});
