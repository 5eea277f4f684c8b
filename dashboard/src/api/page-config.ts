/** Values that the server writes into the page. They are read once, at start. */

const root = document.getElementById("root");

/** `base`: the path that the page is served at, without a slash at the end. `build`: identifies the build. */
export const PAGE = {
  base: told("base"),
  build: told("build"),
  nonce: told("nonce"),
};

/** The value that replaced the placeholder. Empty if no server did, as in development and tests. */
function told(name: "base" | "build" | "nonce"): string {
  const value = root?.dataset[name] ?? "";
  return value === `__${name.toUpperCase()}__` ? "" : value;
}
