import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CopyButton } from "./copy-button";

afterEach(() => vi.restoreAllMocks());

describe("a copy button", () => {
  it("copies the text and announces it", async () => {
    const user = userEvent.setup();
    render(<CopyButton text="http://127.0.0.1:4100/v1" label="base URL" />);
    await user.click(screen.getByRole("button", { name: "Copy base URL" }));
    expect(await navigator.clipboard.readText()).toBe("http://127.0.0.1:4100/v1");
    expect(screen.getByRole("status")).toHaveTextContent("Copied base URL");
  });

  it("shows the text, selected, if the browser has no clipboard API", async () => {
    const user = userEvent.setup({ writeToClipboard: false });
    vi.spyOn(navigator, "clipboard", "get").mockReturnValue(undefined as unknown as Clipboard);
    render(<CopyButton text="sk-1" label="key" />);
    await user.click(screen.getByRole("button", { name: "Copy key" }));
    const shown = await screen.findByRole<HTMLTextAreaElement>("textbox");
    expect(shown).toHaveFocus();
    expect([shown.selectionStart, shown.selectionEnd]).toEqual([0, 4]);
    expect(screen.getByRole("status")).toHaveTextContent("Press Ctrl+C");
  });

  it("shows the text, selected, if the browser blocks copying, until it loses the focus", async () => {
    const user = userEvent.setup();
    vi.spyOn(navigator.clipboard, "writeText").mockRejectedValue(new DOMException("no", "NotAllowedError"));
    render(<CopyButton text="one" label="line" />);
    await user.click(screen.getByRole("button", { name: "Copy line" }));
    expect(await screen.findByRole("textbox")).toHaveValue("one");
    await user.tab();
    expect(screen.queryByRole("textbox")).not.toBeInTheDocument();
  });
});
