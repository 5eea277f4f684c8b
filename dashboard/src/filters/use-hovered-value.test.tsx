import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ValueHover } from "./use-hovered-value";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const mouse = { pointerType: "mouse" };

/** Hover the link. */
function hoverLink() {
  const hover = new ValueHover();
  const page = (hasLink: boolean) => (
    <div {...hover.handlers}>
      {hasLink && (
        <a href="/" data-field="model" data-value="o1">
          o1
        </a>
      )}
      <p>text</p>
    </div>
  );
  const { rerender } = render(page(true));
  fireEvent.pointerOver(screen.getByRole("link"), mouse);
  act(() => void vi.advanceTimersByTime(200));
  expect(hover.hovered?.value).toBe("o1");
  expect(hover.hovered?.hasMenu).toBe(false);
  return { hover, removeLink: () => rerender(page(false)) };
}

it("a removed link is no longer hovered when the pointer is over something else", () => {
  const { hover, removeLink } = hoverLink();
  removeLink();
  fireEvent.pointerOver(screen.getByText("text"), mouse);
  act(() => void vi.advanceTimersByTime(200));
  expect(hover.hovered).toBeUndefined();
});

it("moving the pointer over other elements does not delay the end of the hover", () => {
  const { hover } = hoverLink();
  fireEvent.pointerOut(screen.getByRole("link"), mouse);
  act(() => void vi.advanceTimersByTime(100));
  fireEvent.pointerOver(screen.getByText("text"), mouse);
  act(() => void vi.advanceTimersByTime(100));
  expect(hover.hovered).toBeUndefined();
});

it("a menu that was opened by key is not replaced by that of the value under the pointer", () => {
  const { hover } = hoverLink();
  const row = document.createElement("a");
  act(() => hover.openInRow(row, "namespace", "staging"));
  act(() => void vi.advanceTimersByTime(1_000));
  expect(hover.hovered).toMatchObject({ value: "staging", menu: true });
});

it("the menu opens only if the pointer rests on the value", () => {
  const { hover } = hoverLink();
  act(() => void vi.advanceTimersByTime(500));
  expect(hover.hovered?.hasMenu).toBe(true);
});

it("after a click, a value that appears under the pointer is not hovered until the pointer moves", () => {
  const { hover } = hoverLink();
  const at = { ...mouse, clientX: 10, clientY: 10 };
  fireEvent.pointerDown(screen.getByText("text"), at);
  fireEvent.pointerOver(screen.getByRole("link"), at);
  act(() => void vi.advanceTimersByTime(1_000));
  expect(hover.hovered).toBeUndefined();
  fireEvent.pointerMove(screen.getByRole("link"), { ...at, clientX: 20 });
  act(() => void vi.advanceTimersByTime(1_000));
  expect(hover.hovered?.hasMenu).toBe(true);
});
