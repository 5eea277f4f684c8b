/** Buckets of the histogram. Pure. */

import { bucketsOf, formatTimeSpan } from "~/api/stats";
import { duration } from "~/format/duration";
import { money } from "~/format/money";
import { count, plural } from "~/format/number";
import { clockTime, day } from "~/format/time";
import type { Aggregate, StatsResponse } from "~/generated/api-types";

/** `from`, `to` and `p50` are in milliseconds. `p50` is `null` if it is unknown. */
export type Bucket = { from: number; to: number; requests: number; failed: number; p50: number | null };

/** All buckets of an ungrouped answer, including buckets without requests. */
export function barsOf(answer: StatsResponse): Bucket[] {
  const points = new Map(answer.groups[0]?.points.map((point) => [new Date(point.at).getTime(), point]));
  return bucketsOf(answer).map((from) => {
    const point = points.get(from);
    return {
      from,
      to: from + answer.bucket_seconds * 1000,
      requests: point?.requests ?? 0,
      failed: point?.failed ?? 0,
      p50: point?.duration_ms.p50 ?? null,
    };
  });
}

/** The height of the histogram in pixels, with space for a mark above the highest bar. */
export const HISTOGRAM_HEIGHT = 22;
const MARK = { height: 1.5, distance: 1 };
const MAX_BAR = HISTOGRAM_HEIGHT - MARK.height - MARK.distance;
/** Bars are at least this high, so that a single request is visible. */
const MIN_BAR = 2;
/** A lower red part would not be visible. */
const MIN_FAILED = 0.5;

/**
 * Heights in pixels. `failed` is the share of the bar that the failed requests have. If it would be too low to be
 * visible, it is 0 and there is a mark above the bar.
 */
export type BarHeights = { all: number; failed: number; mark?: { bottom: number; height: number } };

export function barHeights(bars: readonly Bucket[]): BarHeights[] {
  const most = bars.reduce((highest, { requests }) => Math.max(highest, requests), 1);
  return bars.map(({ requests, failed }) => {
    const all = requests === 0 ? 0 : Math.max(MIN_BAR, (requests / most) * MAX_BAR);
    const part = requests === 0 ? 0 : (failed / requests) * all;
    if (failed === 0 || part >= MIN_FAILED) return { all, failed: part };
    return { all, failed: 0, mark: { bottom: all + MARK.distance, height: MARK.height } };
  });
}

/** Adjacent buckets as one bucket. The median of more than one bucket is unknown. */
export function mergeBuckets(bars: readonly Bucket[], first: number, last: number): Bucket | undefined {
  const chosen = bars.slice(Math.min(first, last), Math.max(first, last) + 1);
  const [begin, end] = [chosen[0], chosen.at(-1)];
  if (begin === undefined || end === undefined) return undefined;
  return {
    from: begin.from,
    to: end.to,
    requests: chosen.reduce((sum, bar) => sum + bar.requests, 0),
    failed: chosen.reduce((sum, bar) => sum + bar.failed, 0),
    p50: chosen.length === 1 ? begin.p50 : null,
  };
}

/** `14:00 – 14:12 · 120 requests · 3 failed · p50 1.21 s`. */
export function describeBucket(bar: Bucket, now = new Date()): string {
  const words = [formatTimeSpan(bar.from, bar.to, now), plural(bar.requests, "request")];
  if (bar.failed > 0) words.push(`${count(bar.failed)} failed`);
  if (bar.p50 !== null) words.push(`p50 ${duration(bar.p50)}`);
  return words.join(" · ");
}

/** Duration and cost of all requests: `Duration p50 1.21 s · Cost $41.20`. Empty if both are unknown. */
export function describeTotal({ duration_ms: { p50 }, cost_usd }: Aggregate): string {
  const words = p50 === null ? [] : [`Duration p50 ${duration(p50)}`];
  if (cost_usd !== null) words.push(`Cost ${money(cost_usd)}`);
  return words.join(" · ");
}

/** `position` goes from 0, the start of the first bar, to 1, the end of the last bar. */
export type AxisLabel = { position: number; text: string };

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Labels of the time axis: the start, the end and up to three times in between. Long spans have days, short spans have
 * clock times. Spans between them have both, which leaves space only for the start and the end. Spans of less than an
 * hour have seconds, because labels without them would be at the wrong place.
 */
export function axisLabels(bars: readonly Bucket[], now = new Date()): AxisLabel[] {
  const [first, last] = [bars[0], bars.at(-1)];
  if (first === undefined || last === undefined) return [];
  const span = last.to - first.from;
  const hasDays = span >= DAY_MS;
  const hasTimes = span < 4 * DAY_MS;
  const hasSeconds = span < HOUR_MS;
  const positions = hasDays && hasTimes ? [0, 1] : hasSeconds ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
  const labels = positions.map((position) => {
    const at = new Date(first.from + position * span);
    const clock = clockTime(at.toISOString()).slice(0, hasSeconds ? 8 : 5);
    const date = day(at, now).replace(/ \d{4}$/, "");
    return { position, text: [hasDays && date, hasTimes && clock].filter(Boolean).join(" ") };
  });
  return labels.filter(({ text }, at) => text !== labels[at - 1]?.text);
}
