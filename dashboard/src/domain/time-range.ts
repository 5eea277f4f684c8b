/** Time ranges as text, and parsing of timestamps. Pure. */

import { clockTime, day } from "~/format/time";
import { START_TIMES } from "~/generated/vocabulary";
import type { TimeRange } from "./filter";

export type NamedRange = { readonly name: string; readonly range: TimeRange };

/** The ranges that the user can choose. Ranges of a day are in the viewer's time zone. */
export function namedRanges(now: Date): NamedRange[] {
  const today = midnight(now, 0);
  return [
    { name: "all time", range: {} },
    { name: "today", range: { from: today } },
    { name: "yesterday", range: { from: midnight(now, -1), to: today } },
    ...Object.entries(START_TIMES).map(([from, name]) => ({ name, range: { from } })),
  ];
}

function midnight(now: Date, days: number): string {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days).toISOString();
}

/** `last hour`, `since -90m`, `19 Nov 2026 14:02:00 – 19 Nov 2026 15:00:00`. */
export function formatTimeRange(range: TimeRange, now = new Date()): string {
  const named = namedRanges(now).find(({ range: other }) => other.from === range.from && other.to === range.to);
  if (named !== undefined) return named.name;
  const from = range.from === undefined ? "the beginning" : formatEnd(range.from, now);
  return range.to === undefined ? `since ${from}` : `${from} – ${formatEnd(range.to, now)}`;
}

/** A time range as a title: `Last hour`, `Since -90m`. */
export function timeRangeTitle(range: TimeRange, now = new Date()): string {
  const text = formatTimeRange(range, now);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function formatEnd(text: string, now: Date): string {
  const at = text.startsWith("-") ? undefined : parseTimestamp(text, now);
  return at === undefined ? text : `${day(at, now)} ${clockTime(at.toISOString())}`;
}

/**
 * The range with absolute ends, so that it always selects the same requests. A range without an end, or with an end in
 * the future, ends now. Other absolute ends stay as they are, to the microsecond.
 */
export function fixedRange(range: TimeRange, now: Date): TimeRange {
  const fixed = (text: string) => (text.startsWith("-") ? (parseTimestamp(text, now)?.toISOString() ?? text) : text);
  const end = range.to === undefined ? now : parseTimestamp(range.to, now);
  const to = range.to === undefined || (end !== undefined && end > now) ? now.toISOString() : fixed(range.to);
  return range.from === undefined ? { to } : { from: fixed(range.from), to };
}

const UNITS_MS: Record<string, number> = { s: 1e3, m: 60e3, h: 3600e3, d: 86_400e3, w: 604_800e3 };

const OFFSET = /(z|[+-]\d\d:?\d\d)$/i;

/**
 * Parse one end of a range: RFC 3339, or relative such as `-15m`. A timestamp without a UTC offset is in UTC, as in the
 * API. Returns `undefined` if the text is invalid.
 */
export function parseTimestamp(text: string, now: Date): Date | undefined {
  const [, number = "", unit = ""] = /^-(\d{1,6})([smhdw])$/.exec(text) ?? [];
  const inUtc = text.includes(":") && !OFFSET.test(text) ? `${text}Z` : text;
  const at = number === "" ? new Date(inUtc) : new Date(now.getTime() - Number(number) * (UNITS_MS[unit] ?? 0));
  return text.startsWith("-") === (number !== "") && !Number.isNaN(at.getTime()) ? at : undefined;
}
