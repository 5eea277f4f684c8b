import { expect, it } from "vitest";
import { needsReload } from "./client";

it.each([
  [401, "basic", 60_000, true],
  [0, "opaqueredirect", 60_000, true],
  [404, "basic", 60_000, false],
  [401, "basic", 500, false],
  [0, "opaqueredirect", 500, false],
] as const)("a %s %s response %s ms after loading reloads the page: %s", (status, type, loadedMs, expected) => {
  expect(needsReload({ status, type }, loadedMs)).toBe(expected);
});
