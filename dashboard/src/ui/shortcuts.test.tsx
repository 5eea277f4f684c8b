import { fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { useShortcuts } from "./shortcuts";

const close = vi.fn();
const handleKey = vi.fn();
beforeEach(() => vi.clearAllMocks());

function Page() {
  useShortcuts(({ key }) => key === "Escape" && close);
  return (
    <>
      <button type="button" onKeyDown={handleKey}>
        Button
      </button>
      <input />
    </>
  );
}

it("a key alone runs its action, other keys do nothing", () => {
  render(<Page />);
  expect(fireEvent.keyDown(document.body, { key: "Escape" })).toBe(false);
  expect(fireEvent.keyDown(document.body, { key: "x" })).toBe(true);
  expect(close).toHaveBeenCalledOnce();
});

it.each([{ ctrlKey: true }, { metaKey: true }, { altKey: true }, { isComposing: true }])(
  "a key with %o runs no action",
  (state) => {
    render(<Page />);
    fireEvent.keyDown(document.body, { key: "Escape", ...state });
    expect(close).not.toHaveBeenCalled();
  },
);

it("no action runs in a text field, or if a component handled the key", () => {
  render(<Page />);
  fireEvent.keyDown(screen.getByRole("textbox"), { key: "Escape" });
  handleKey.mockImplementationOnce((event: KeyboardEvent) => event.preventDefault());
  fireEvent.keyDown(screen.getByRole("button"), { key: "Escape" });
  expect(close).not.toHaveBeenCalled();
});

it("no action runs for the key that closes a menu", () => {
  render(<Page />);
  const menu = document.body.appendChild(document.createElement("div"));
  menu.setAttribute("role", "menu");
  handleKey.mockImplementationOnce(() => menu.remove());
  fireEvent.keyDown(screen.getByRole("button"), { key: "Escape" });
  expect(close).not.toHaveBeenCalled();
  fireEvent.keyDown(screen.getByRole("button"), { key: "Escape" });
  expect(close).toHaveBeenCalledOnce();
});
