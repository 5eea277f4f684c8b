/** Settings as people write them, like `relaybook config` does. Pure. */

const SIZES = /_bytes$|^(min_free|max_journal|keep_other_bodies|disk_budget)$/;
const DURATIONS = /_timeout$|^upstream_idle$/;

/** `1 GiB`, `600 s`, `Service, Relaybook`; nothing set is `–`. */
export function settingWords(name: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.join(", ");
  if (typeof value === "number" && SIZES.test(name)) return size(value);
  if (typeof value === "number" && DURATIONS.test(name)) return `${value} s`;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function size(value: number): string {
  for (const [unit, name] of [
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
  ] as const) {
    if (value >= unit && value % unit === 0) return `${value / unit} ${name}`;
  }
  return `${value} bytes`;
}
