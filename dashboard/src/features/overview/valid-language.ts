/**
 * Make `navigator.language` a valid language tag. WebKitGTK returns "C" if the locale of the system is C, and uPlot
 * throws an error for this value when it is imported. So import this module before uPlot.
 */

export {};

try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, "language", { value: "en-US", configurable: true });
}
