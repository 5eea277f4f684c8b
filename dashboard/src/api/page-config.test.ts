import { beforeEach, expect, test, vi } from "vitest";

beforeEach(() => vi.resetModules());

/** The facts as the page reads them where its root carries `data`. */
async function factsOf(data: Record<string, string>) {
  const root = document.createElement("div");
  root.id = "root";
  Object.assign(root.dataset, data);
  document.body.replaceChildren(root);
  return (await import("./page-config")).PAGE;
}

test("what the server wrote is taken as it stands, also where a nonce begins as a placeholder does", async () => {
  const facts = { base: "/log", build: "0123456789abcdef", nonce: "__38efKV7dUFvHc0hhOxfw" };
  expect(await factsOf(facts)).toEqual(facts);
});

test("a placeholder that no server filled in says nothing", async () => {
  const nothing = { base: "", build: "", nonce: "" };
  expect(await factsOf({ base: "__BASE__", build: "__BUILD__", nonce: "__NONCE__" })).toEqual(nothing);
  expect(await factsOf({})).toEqual(nothing);
});
