/** Chunks of a stream as bars on a timeline. Pure. */

import { linearTicks } from "~/format/ticks";

/** For each chunk: milliseconds since the request's headers arrived, and bytes. */
export type Timeline = readonly (readonly [number, number])[];

export type Gaps = {
  median: number;
  longest: number;
  /** The number of the chunk before the longest gap, from 1. */
  after: number;
};

/** The gaps between chunks. Undefined if there are fewer than two chunks. */
export function gapsOf(timeline: Timeline): Gaps | undefined {
  const gaps = timeline.slice(1).map(([at], index) => at - (timeline[index]?.[0] ?? at));
  let after = 0;
  let longest = -1;
  gaps.forEach((gap, index) => {
    if (gap > longest) {
      longest = gap;
      after = index + 1;
    }
  });
  const sorted = [...gaps].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  return median === undefined ? undefined : { median, longest, after };
}

/** A pause in a stream that is far longer than the others. */
export type Stall = { from: number; to: number; after: number };

/** A pause is a stall if it takes half a second or more, and ten times as long as the median pause. */
const STALL_MS = 500;
const STALL_FACTOR = 10;

/** The stalls, longest first. `after` is the number of the chunk before the stall, from 1. */
export function stallsOf(timeline: Timeline, medianMs: number): Stall[] {
  const limit = Math.max(STALL_MS, STALL_FACTOR * medianMs);
  return timeline
    .slice(1)
    .map(([to], index) => ({ from: timeline[index]?.[0] ?? to, to, after: index + 1 }))
    .filter(({ from, to }) => to - from >= limit)
    .sort((a, b) => b.to - b.from - (a.to - a.from));
}

/** The rate over time: bytes per second in each of `columns` equal parts of the time. */
export function ratesOf(timeline: Timeline, totalMs: number, columns: number): number[] {
  const rates = new Array<number>(columns).fill(0);
  const seconds = Math.max(totalMs, 1e-6) / columns / 1000;
  for (const { column, bytes } of binsOf(timeline, totalMs, columns)) rates[column] = bytes / seconds;
  return rates;
}

/**
 * An SVG path of the area below the rates, on a square-root scale, so that a burst after a stall does not hide the rest.
 * The highest rate is `height` high.
 */
export function area(rates: readonly number[], width: number, height: number): string {
  const highest = Math.max(...rates, 1e-6);
  const step = width / rates.length;
  const points = rates.map(
    (rate, column) => `H${(column * step).toFixed(1)}V${(height * (1 - Math.sqrt(rate / highest))).toFixed(1)}`,
  );
  return `M0 ${height}${points.join("")}H${width}V${height}z`;
}

/** The chunks in one column of the chart. */
export type Bin = { column: number; bytes: number };

/** At most one bin per column. Columns without chunks have no bin. */
export function binsOf(timeline: Timeline, totalMs: number, columns: number): Bin[] {
  const bins = new Map<number, number>();
  for (const [at, size] of timeline) {
    const column = Math.min(columns - 1, Math.max(0, Math.floor((at / Math.max(totalMs, 1e-6)) * columns)));
    bins.set(column, (bins.get(column) ?? 0) + size);
  }
  return [...bins].map(([column, bytes]) => ({ column, bytes }));
}

/** An SVG path with one bar for each bin. A bar is one unit wide, and more bytes make the bar higher. */
export function bars(bins: readonly Bin[], height: number): string {
  const maxBytes = Math.log1p(Math.max(1, ...bins.map((bin) => bin.bytes)));
  return bins
    .map(({ column, bytes }) => {
      const barHeight = (height * (0.35 + (0.65 * Math.log1p(bytes)) / maxBytes)).toFixed(1);
      return `M${column} ${height}v-${barHeight}h1v${barHeight}z`;
    })
    .join("");
}

/** The ticks of the time axis, in milliseconds. After five minutes they are round in minutes. */
export function ticksOf(totalMs: number): number[] {
  const unit = totalMs < 300_000 ? 1 : 60_000;
  return linearTicks(totalMs / unit, false, 5)
    .map((tick) => tick * unit)
    .filter((ms) => ms <= totalMs);
}

/** The index of the chunk nearest to a time, or -1 if there are no chunks. */
export function nearest(timeline: Timeline, ms: number): number {
  let low = 0;
  let high = timeline.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((timeline[middle]?.[0] ?? 0) < ms) low = middle + 1;
    else high = middle;
  }
  const before = timeline[low - 1]?.[0];
  const here = timeline[low]?.[0];
  return before !== undefined && here !== undefined && ms - before < here - ms
    ? low - 1
    : timeline.length === 0
      ? -1
      : low;
}
