import { beforeEach, expect, test, vi } from "vitest";

beforeEach(() => vi.resetModules());

/** The values that the page reads if its root element has this `data`. */
async function configOf(data: Record<string, string>) {
  const root = document.createElement("div");
  root.id = "root";
  Object.assign(root.dataset, data);
  document.body.replaceChildren(root);
  return (await import("./page-config")).PAGE;
}

test("values of the server are used unchanged, even if a nonce starts like a placeholder", async () => {
  const config = { base: "/log", build: "0123456789abcdef", nonce: "__38efKV7dUFvHc0hhOxfw" };
  expect(await configOf(config)).toEqual(config);
});

test("a placeholder that was not replaced is an empty value", async () => {
  const empty = { base: "", build: "", nonce: "" };
  expect(await configOf({ base: "__BASE__", build: "__BUILD__", nonce: "__NONCE__" })).toEqual(empty);
  expect(await configOf({})).toEqual(empty);
});
