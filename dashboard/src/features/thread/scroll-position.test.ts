import { afterEach, expect, it, vi } from "vitest";
import { ScrollPosition } from "./scroll-position";

afterEach(() => vi.unstubAllGlobals());

/** A scroll area of 200 pixels that contains one turn of 1,000. */
function scrollArea(): { scroller: HTMLElement; resize: () => void } {
  let resize = () => {};
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(onResize: () => void) {
        resize = onResize;
      }
      observe() {}
    },
  );
  const scroller = document.createElement("div");
  const turn = document.createElement("article");
  turn.dataset.request = "1";
  scroller.append(turn);
  let top = 0;
  turn.getBoundingClientRect = () => new DOMRect(0, -top, 100, 1_000);
  Object.defineProperties(scroller, {
    scrollHeight: { value: 1_000 },
    clientHeight: { value: 200 },
    scrollTop: {
      get: () => top,
      set: (value: number) => {
        top = Math.min(value, 800);
      },
    },
  });
  return { scroller, resize: () => resize() };
}

it("starts at the end, and stays there when content grows", () => {
  const { scroller, resize } = scrollArea();
  new ScrollPosition(undefined).mount(scroller);
  resize();
  expect(scroller.scrollTop).toBe(800);
});

it("lets the viewer scroll up although content grows before the scroll event", () => {
  const { scroller, resize } = scrollArea();
  const position = new ScrollPosition(undefined);
  position.mount(scroller);
  scroller.scrollTop = 0;
  resize();
  expect(scroller.scrollTop).toBe(0);
  expect(position.isAtEnd()).toBe(false);
});
