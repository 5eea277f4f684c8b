import { afterEach, expect, it, vi } from "vitest";
import { toClipboard } from "./clipboard";

afterEach(() => vi.unstubAllGlobals());

/** A browser without the clipboard API. The copy command copies what a `copy` listener sets, if it is allowed. */
function withoutClipboard(isAllowed: boolean): { copied: string } {
  const result = { copied: "" };
  vi.stubGlobal("navigator", {});
  document.execCommand = () => {
    if (!isAllowed) return false;
    const event = new Event("copy", { bubbles: true });
    Object.assign(event, { clipboardData: { setData: (_: string, text: string) => (result.copied = text) } });
    document.dispatchEvent(event);
    return true;
  };
  return result;
}

it("uses the copy command if the browser has no clipboard API", async () => {
  const result = withoutClipboard(true);
  await toClipboard(Promise.resolve("user-15b62ac9"));
  expect(result.copied).toBe("user-15b62ac9");
});

it("rejects if the browser allows neither", async () => {
  withoutClipboard(false);
  await expect(toClipboard(Promise.resolve("x"))).rejects.toThrow("does not allow copying");
});
