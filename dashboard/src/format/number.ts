/** Counts, sizes, tokens and long names as text. */

const WHOLE = new Intl.NumberFormat("en-US");

/** `1,204`. */
export function count(value: number | null): string {
  return value === null ? "–" : WHOLE.format(value);
}

/** At most four characters: `310`, `12.4k`, `1.2M`. */
export function shortCount(value: number): string {
  for (const [size, unit] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ] as const) {
    if (value >= size) {
      const scaled = value / size;
      return scaled < 99.95 ? `${trim(scaled.toFixed(1))}${unit}` : `${Math.floor(scaled)}${unit}`;
    }
  }
  return String(value);
}

/** Decimal units: `1.4 kB`, `4.2 GB`. */
export function bytes(value: number | null): string {
  if (value === null) return "–";
  for (const [size, unit] of [
    [1e12, "TB"],
    [1e9, "GB"],
    [1e6, "MB"],
    [1e3, "kB"],
  ] as const) {
    if (value >= size)
      return `${value / size < 9.95 ? trim((value / size).toFixed(1)) : Math.round(value / size)} ${unit}`;
  }
  return `${value} B`;
}

/** `1 request`, `2 requests`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

function trim(text: string): string {
  return text.replace(/\.0$/, "");
}

/** `312 → 118`; both are estimated where one is: `≈48 → ≈9`. Unknown is `–`. */
export function tokens(input: number | null, output: number | null, estimated: boolean): string {
  if (input === null && output === null) return "–";
  const told = (tokens: number | null) => `${estimated && tokens !== null ? "≈" : ""}${count(tokens)}`;
  return `${told(input)} → ${told(output)}`;
}

/** Keeps both ends: `user-8f3a…c91e`. Counts characters people see as one as one, roughly (code points). */
export function shortenMiddle(text: string, most = 18): string {
  const letters = [...text];
  if (letters.length <= most) return text;
  const head = Math.ceil((most - 1) * 0.6);
  return `${letters.slice(0, head).join("")}…${letters.slice(letters.length - (most - 1 - head)).join("")}`;
}
