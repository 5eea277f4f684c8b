import { expect, it } from "vitest";
import { parsedExactly, pretty } from "./json";

it("shows numbers as they are written in the JSON text", () => {
  const text = '{"id":1234567890123456789,"price":1.0,"small":1e-7,"n":7,"text":"1.0"}';
  expect(pretty(parsedExactly(text)).replace(/\s/g, "")).toBe(text);
  expect(parsedExactly("no JSON")).toBeUndefined();
});
