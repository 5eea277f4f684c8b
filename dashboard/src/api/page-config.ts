/** Values that the server writes into the page. They are read once, when the page starts. */

const root = document.getElementById("root");

/** `base` is the path at which the page is served, without a slash at the end. `build` identifies the build. */
export const PAGE = {
  base: readValue("base"),
  build: readValue("build"),
  nonce: readValue("nonce"),
};

/** The value that replaced the placeholder. Empty if the placeholder was not replaced, as in development and tests. */
function readValue(name: "base" | "build" | "nonce"): string {
  const value = root?.dataset[name] ?? "";
  return value === `__${name.toUpperCase()}__` ? "" : value;
}
