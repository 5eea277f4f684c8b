/** Counts, sizes, tokens and long names as text. */

const WHOLE = new Intl.NumberFormat("en-US");

/** `1,204`. `null` is a dash. */
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

/** With decimal units: `1.4 kB`, `4.2 GB`. `null` is a dash. */
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

/** Tokens per second: `7.4`, `52`, `1,204`, estimated `≈52`. `null` is a dash. */
export function rate(perSecond: number | null, estimated = false): string {
  if (perSecond === null) return "–";
  return `${estimated ? "≈" : ""}${perSecond < 9.95 ? trim(perSecond.toFixed(1)) : count(Math.round(perSecond))}`;
}

/** A share from 0 to 1: `0 %`, `<1 %`, `7.1 %`, `82 %`. `null` is a dash. Only all of something is `100 %`. */
export function share(fraction: number | null): string {
  if (fraction === null) return "–";
  const percents = fraction * 100;
  if (percents === 0 || percents === 100) return `${percents} %`;
  if (percents < 0.1) return "<0.1 %";
  if (percents < 9.95) return `${trim(percents.toFixed(1))} %`;
  return `${Math.min(99, Math.round(percents))} %`;
}

/** `1 request`, `2 requests`. */
export function plural(value: number, singular: string, pluralForm = `${singular}s`): string {
  return `${count(value)} ${value === 1 ? singular : pluralForm}`;
}

/** `84 tokens/s`, estimated `≈8.4 tokens/s`. */
export function perSecond(tokens: number, estimated: boolean): string {
  return `${rate(tokens, estimated)} tokens/s`;
}

/** `32 %`, rounded down, and never more than `100 %`. */
export function percent(part: number, whole: number): string {
  return `${whole === 0 ? 0 : Math.min(100, Math.floor((100 * part) / whole))} %`;
}

function trim(text: string): string {
  return text.replace(/\.0$/, "");
}

/** Input and output tokens: `312 → 118`, estimated `≈48 → ≈9`. `null` is a dash. */
export function tokens(input: number | null, output: number | null, estimated: boolean): string {
  if (input === null && output === null) return "–";
  const format = (tokens: number | null) => `${estimated && tokens !== null ? "≈" : ""}${count(tokens)}`;
  return `${format(input)} → ${format(output)}`;
}

/** Shorten to `maxLength` code points, keeping both ends: `user-8f3a…c91e`. */
export function shortenMiddle(text: string, maxLength = 18): string {
  const characters = [...text];
  if (characters.length <= maxLength) return text;
  const head = Math.ceil((maxLength - 1) * 0.6);
  return `${characters.slice(0, head).join("")}…${characters.slice(characters.length - (maxLength - 1 - head)).join("")}`;
}
