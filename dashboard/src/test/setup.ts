/** Browser APIs that jsdom lacks. */

import "@testing-library/jest-dom/vitest";
import { cleanup } from "@testing-library/react";
import { afterEach, vi } from "vitest";

afterEach(cleanup);

vi.stubGlobal("matchMedia", (query: string) => ({
  matches: false,
  media: query,
  addEventListener: () => {},
  removeEventListener: () => {},
}));

// jsdom has no layout, so nothing is ever resized. Not a stub: `vi.unstubAllGlobals` of a test would remove it.
window.ResizeObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
};
