/** Values that the server writes into the page. They are read once, at start. */

const root = document.getElementById("root");

/** `base`: the sub-path the page lies under, without a slash at its end. `build`: which page this is. */
export const PAGE = {
  base: told("base"),
  build: told("build"),
  nonce: told("nonce"),
};

/** The value the server put in place of the placeholder; nothing where no server did (development, tests). */
function told(name: "base" | "build" | "nonce"): string {
  const value = root?.dataset[name] ?? "";
  return value === `__${name.toUpperCase()}__` ? "" : value;
}
