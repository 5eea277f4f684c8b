/** Time ranges as text, and parsing of timestamps. Pure. */

import { clockTime, day } from "~/format/time";
import type { TimeRange } from "./filter";

export const RANGES: readonly { readonly words: string; readonly range: TimeRange }[] = [
  { words: "all time", range: {} },
  { words: "last 15 minutes", range: { from: "-15m" } },
  { words: "last hour", range: { from: "-1h" } },
  { words: "last 24 hours", range: { from: "-24h" } },
  { words: "last 7 days", range: { from: "-7d" } },
  { words: "last 30 days", range: { from: "-30d" } },
];

/** `last hour`, `since -90m`, `19 Nov 2026 14:02:00 – 19 Nov 2026 15:00:00`. */
export function formatTimeRange(range: TimeRange, now = new Date()): string {
  const known = RANGES.find(({ range: other }) => other.from === range.from && other.to === range.to);
  if (known !== undefined) return known.words;
  const from = range.from === undefined ? "the beginning" : momentInWords(range.from, now);
  return range.to === undefined ? `since ${from}` : `${from} – ${momentInWords(range.to, now)}`;
}

function momentInWords(text: string, now: Date): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) || text.startsWith("-") ? text : `${day(at, now)} ${clockTime(text)}`;
}

const UNITS_MS: Record<string, number> = { s: 1e3, m: 60e3, h: 3600e3, d: 86_400e3, w: 604_800e3 };

/** The moment that one end of a range means, `-15m` among them; undefined where it means none. */
export function parseTimestamp(text: string, now: Date): Date | undefined {
  const [, number = "", unit = ""] = /^-(\d{1,6})([smhdw])$/.exec(text) ?? [];
  const at = number === "" ? new Date(text) : new Date(now.getTime() - Number(number) * (UNITS_MS[unit] ?? 0));
  return text.startsWith("-") === (number !== "") && !Number.isNaN(at.getTime()) ? at : undefined;
}
