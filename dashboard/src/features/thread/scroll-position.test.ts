import { afterEach, expect, it, vi } from "vitest";
import { ScrollPosition } from "./scroll-position";

afterEach(() => vi.unstubAllGlobals());

type Area = { scroller: HTMLElement; resize: () => void; shrink: () => void; load: (id: string) => void };

/** A scroll area of 200 pixels that contains one turn of 1,000. `load` adds a turn of the same size above it. */
function scrollArea(): Area {
  let resize = () => {};
  let height = 1_000;
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
  turn.getBoundingClientRect = () => new DOMRect(0, -top, 100, height);
  Object.defineProperties(scroller, {
    scrollHeight: { get: () => height },
    clientHeight: { value: 200 },
    scrollTop: {
      get: () => top,
      set: (value: number) => {
        top = Math.min(value, height - 200);
      },
    },
  });
  const shrink = () => {
    height -= 100;
    top = Math.min(top, height - 200);
  };
  const load = (id: string) => {
    const earlier = document.createElement("article");
    earlier.dataset.request = id;
    scroller.prepend(earlier);
    earlier.getBoundingClientRect = () => new DOMRect(0, -top, 100, 1_000);
    turn.getBoundingClientRect = () => new DOMRect(0, 1_000 - top, 100, height - 1_000);
    height += 1_000;
  };
  return { scroller, resize: () => resize(), shrink, load };
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

it("stays at the end when content shrinks", () => {
  const { scroller, resize, shrink } = scrollArea();
  const position = new ScrollPosition(undefined);
  position.mount(scroller);
  shrink();
  resize();
  expect(scroller.scrollTop).toBe(700);
  expect(position.isAtEnd()).toBe(true);
});

it("lets the viewer scroll up although content shrinks before the scroll event", () => {
  const { scroller, resize, shrink } = scrollArea();
  const position = new ScrollPosition(undefined);
  position.mount(scroller);
  shrink();
  scroller.scrollTop = 0;
  resize();
  expect(scroller.scrollTop).toBe(0);
  expect(position.isAtEnd()).toBe(false);
});

it("starts at a request that is loaded later", () => {
  const { scroller, resize, load } = scrollArea();
  const position = new ScrollPosition("0");
  position.mount(scroller);
  expect([scroller.scrollTop, position.isAtEnd()]).toEqual([800, true]);
  load("0");
  resize();
  expect(position.isAtEnd()).toBe(false);
  // Slightly above the turn, which is the first one.
  expect(scroller.scrollTop).toBe(-12);
});

it("does not move a viewer who has scrolled up to a request that is loaded later", () => {
  const { scroller, resize, load } = scrollArea();
  const position = new ScrollPosition("0");
  position.mount(scroller);
  scroller.scrollTop = 300;
  resize();
  load("0");
  resize();
  expect(scroller.scrollTop).toBe(1_300);
});

it("goes to a tool call in its turn as soon as the call is loaded", () => {
  const { scroller, resize } = scrollArea();
  const position = new ScrollPosition(undefined);
  position.mount(scroller);
  position.goTo("1", 1);
  expect(scroller.scrollTop).toBe(-12);
  const response = document.createElement("div");
  response.dataset.response = "";
  scroller.querySelector("article")?.append(response);
  for (const y of [300, 500]) {
    const call = document.createElement("span");
    call.dataset.call = "";
    response.append(call);
    call.getBoundingClientRect = () => new DOMRect(0, y - scroller.scrollTop, 100, 20);
  }
  resize();
  expect(scroller.scrollTop).toBe(488);
});
