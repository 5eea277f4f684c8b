import { afterEach, expect, it, vi } from "vitest";
import { toClipboard } from "./clipboard";

afterEach(() => vi.unstubAllGlobals());

/** A browser over plain http: no clipboard but by the command, which copies what a listener says. */
function withoutClipboard(allows: boolean): { copied: string } {
  const found = { copied: "" };
  vi.stubGlobal("navigator", {});
  document.execCommand = () => {
    if (!allows) return false;
    const event = new Event("copy", { bubbles: true });
    Object.assign(event, { clipboardData: { setData: (_: string, text: string) => (found.copied = text) } });
    document.dispatchEvent(event);
    return true;
  };
  return found;
}

it("copies the old way where the browser gives no clipboard", async () => {
  const found = withoutClipboard(true);
  await toClipboard(Promise.resolve("user-15b62ac9"));
  expect(found.copied).toBe("user-15b62ac9");
});

it("says so where the browser allows neither", async () => {
  withoutClipboard(false);
  await expect(toClipboard(Promise.resolve("x"))).rejects.toThrow("gives no clipboard");
});
