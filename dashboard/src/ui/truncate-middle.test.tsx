import { fireEvent, render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { TruncateMiddle } from "./truncate-middle";

it("the selected part of a long name is copied without a line break", () => {
  render(<TruncateMiddle text="user-15b62ac9" />);
  vi.spyOn(document, "getSelection").mockReturnValue({ toString: () => "user-15\nb62ac9" } as Selection);
  const setData = vi.fn();
  fireEvent.copy(screen.getByText("user-15"), { clipboardData: { setData } });
  expect(setData).toHaveBeenCalledWith("text/plain", "user-15b62ac9");
});

it("a selection of several rows that starts in a long name keeps its line breaks", () => {
  render(<TruncateMiddle text="user-15b62ac9" />);
  vi.spyOn(document, "getSelection").mockReturnValue({
    toString: () => "user-15\nb62ac9\ngpt-4o\n14:02:27",
  } as Selection);
  const setData = vi.fn();
  // The browser itself copies the selection.
  expect(fireEvent.copy(screen.getByText("user-15"), { clipboardData: { setData } })).toBe(true);
  expect(setData).not.toHaveBeenCalled();
});
