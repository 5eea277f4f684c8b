import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { parsedExactly } from "~/domain/json";
import { HighlightContext } from "./highlight";
import { JsonTree } from "./json-tree";

const show = (text: string, maxLines = 20, pattern?: RegExp) =>
  render(
    <HighlightContext value={pattern}>
      <JsonTree value={parsedExactly(text) as object[]} maxLines={maxLines} />
    </HighlightContext>,
  );

describe("a tree of JSON", () => {
  it("shows small objects on one line, and numbers as they were sent", () => {
    show('{"a": {"x": 1.50, "y": 12345678901234567890}, "b": [], "c": null, "d": [[1], {}]}');
    expect(document.body).toHaveTextContent(
      '{"a": { "x": 1.50, "y": 12345678901234567890 },"b": [],"c": null,"d": [[1],{}]}',
    );
  });

  it("opens outer objects first, and folds what does not fit", async () => {
    const inner = JSON.stringify(Array.from({ length: 30 }, (_, at) => `number ${at}`));
    show(`{"long": ${inner}, "small": {"a": [1, 2], "b": "${"x".repeat(60)}"}}`);
    expect(document.body).toHaveTextContent('{"long": […],30 items"small": {"a": [1, 2],"b": "xx');
    await userEvent.click(screen.getByRole("button", { name: /"long"/ }));
    expect(document.body).toHaveTextContent('"number 29"');
    await userEvent.click(screen.getByRole("button", { name: /"long"/ }));
    expect(document.body).not.toHaveTextContent('"number 29"');
  });

  it("shows long lists in steps", async () => {
    show(JSON.stringify(Array.from({ length: 250 }, (_, at) => `n${at}`)));
    expect(document.body).not.toHaveTextContent('"n100"');
    await userEvent.click(screen.getByRole("button", { name: "… Show 100 more of 150 items" }));
    expect(document.body).toHaveTextContent('"n199"');
  });

  it("shows JSON inside strings as JSON, and line breaks as line breaks", () => {
    show(JSON.stringify({ body: '{"a": {"b": [1, 2, 3]}}', code: "one\ntwo", plain: "\t" }));
    expect(document.body).toHaveTextContent('"body": text with JSON{"a": {"b": [1, 2, 3]}}');
    expect(screen.getByText(/^one\ntwo$/, { normalizer: (text) => text })).toBeVisible();
    expect(document.body).toHaveTextContent(/"plain": "\\t"/);
  });

  it("opens objects with a match of the search, and marks it", () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`key${at}`, "long ".repeat(4)]));
    show(JSON.stringify([many, { ...many, deep: "the needle" }]), 20, /needle/giu);
    expect(screen.getByText("needle", { selector: "mark" })).toBeVisible();
  });
});
