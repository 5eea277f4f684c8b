/** Time limits of all tests, and browser APIs that jsdom lacks. */

import "@testing-library/jest-dom/vitest";
import { cleanup, configure } from "@testing-library/react";
import { afterEach, vi } from "vitest";

afterEach(cleanup);

// Conditions are usually met within milliseconds. A busy machine may need seconds, which is not a failure.
configure({ asyncUtilTimeout: 10_000 });

vi.stubGlobal("matchMedia", (query: string) => ({
  matches: false,
  media: query,
  addEventListener: () => {},
  removeEventListener: () => {},
}));

// jsdom has no layout, so nothing scrolls.
Element.prototype.scrollIntoView = () => {};

// jsdom has no layout, so nothing is resized. `vi.stubGlobal` is not used, because `vi.unstubAllGlobals` in a test
// would remove the class.
window.ResizeObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

// Nothing is near the visible area either, unless a test stubs this class.
window.IntersectionObserver = class {
  readonly root = null;
  readonly rootMargin = "";
  readonly scrollMargin = "";
  readonly thresholds = [];
  observe() {}
  unobserve() {}
  disconnect() {}
  takeRecords() {
    return [];
  }
};
