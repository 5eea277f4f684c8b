/** Chunks of a stream as bars on a timeline. Pure. */

/** Milliseconds since the request's head, and bytes, of each piece. */
export type Timeline = readonly (readonly [number, number])[];

export type Gaps = { median: number; longest: number /** The longest follows this piece, from 1. */; after: number };

/** The gaps between pieces; undefined for fewer than two. */
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
  const sorted = [...gaps].sort((one, other) => one - other);
  const median = sorted[Math.floor(sorted.length / 2)];
  return median === undefined ? undefined : { median, longest, after };
}

/** Pieces that fall on one column of the picture. */
export type Bin = { column: number; bytes: number };

/** At most one bin per column, however many pieces; columns without a piece have none. */
export function binsOf(timeline: Timeline, totalMs: number, columns: number): Bin[] {
  const bins = new Map<number, number>();
  for (const [at, size] of timeline) {
    const column = Math.min(columns - 1, Math.max(0, Math.floor((at / Math.max(totalMs, 1e-6)) * columns)));
    bins.set(column, (bins.get(column) ?? 0) + size);
  }
  return [...bins].map(([column, bytes]) => ({ column, bytes }));
}

/** Bins as one SVG path of bars that stand on the ground, one unit wide; higher for more bytes. */
export function bars(bins: readonly Bin[], height: number): string {
  const most = Math.log1p(Math.max(1, ...bins.map((bin) => bin.bytes)));
  return bins
    .map(({ column, bytes }) => {
      const tall = (height * (0.35 + (0.65 * Math.log1p(bytes)) / most)).toFixed(1);
      return `M${column} ${height}v-${tall}h1v${tall}z`;
    })
    .join("");
}

/** The piece that came nearest to a moment; -1 when there is none. */
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
