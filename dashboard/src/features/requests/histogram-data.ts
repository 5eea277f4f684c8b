/** Buckets of the histogram. Pure. */

import { bucketsOf, formatTimeSpan } from "~/api/stats";
import { duration } from "~/format/duration";
import { money } from "~/format/money";
import { count, plural } from "~/format/number";
import type { Aggregate, StatsResponse } from "~/generated/api-types";

/** `from`, `to`: milliseconds. `p50`: milliseconds; null: unknown. */
export type Bucket = { from: number; to: number; requests: number; failed: number; p50: number | null };

/** So many bars a log has that is shown from its beginning: its first minute is no wall. */
export const MIN_BARS = 30;

/** All buckets of an answer that parts nothing, those without a request too; before them empty ones, up to `least`. */
export function barsOf(answer: StatsResponse, least = 0): Bucket[] {
  const told = toldBy(answer);
  const step = answer.bucket_seconds * 1000;
  const first = told[0]?.from ?? 0;
  const lacking = told.length === 0 ? 0 : Math.max(0, least - told.length);
  const before = Array.from({ length: lacking }, (_, at) => first - (lacking - at) * step);
  return [...before.map((from) => ({ from, to: from + step, requests: 0, failed: 0, p50: null })), ...told];
}

function toldBy(answer: StatsResponse): Bucket[] {
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

/** Neighbouring buckets as one. The medians of several say nothing about that of all. */
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

/** What the whole comes to, besides how many requests there are: `p50 1.21 s · $41.20`. Empty where all is unknown. */
export function describeTotal({ duration_ms: { p50 }, cost_usd }: Aggregate): string {
  const words = p50 === null ? [] : [`p50 ${duration(p50)}`];
  if (cost_usd !== null) words.push(money(cost_usd));
  return words.join(" · ");
}
