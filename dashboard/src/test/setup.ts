/** Time limits of all tests, and browser APIs that jsdom lacks. */

import "@testing-library/jest-dom/vitest";
import { cleanup, configure } from "@testing-library/react";
import { afterEach, vi } from "vitest";

afterEach(cleanup);

// A condition is met within milliseconds. On a busy machine it may take seconds, and that is no failure.
configure({ asyncUtilTimeout: 10_000 });

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
