import { afterEach, expect, it, vi } from "vitest";

afterEach(() => {
  // The property of the prototype is then visible again.
  Reflect.deleteProperty(navigator, "language");
});

it.each([
  ["C", "en-US"],
  ["de-DE", "de-DE"],
])("the language %s is %s for uPlot", async (language, expected) => {
  Object.defineProperty(navigator, "language", { value: language, configurable: true });
  vi.resetModules();
  await import("./valid-language");
  expect(navigator.language).toBe(expected);
  const { default: uPlot } = await import("uplot");
  expect(uPlot).toBeTypeOf("function");
});
