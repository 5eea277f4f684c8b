/** Answers of `/api/stats` for tests. */

import type { Aggregate, StatsPoint, StatsResponse } from "~/generated/api-types";

const UNKNOWN = { p50: null, p95: null, p99: null };
const START = new Date("2026-11-22T14:00:00Z").getTime();

export function sum(requests: number, more: Partial<Aggregate> = {}): Aggregate {
  return {
    requests,
    failed: 0,
    input_tokens: requests * 10,
    output_tokens: requests,
    cost_usd: null,
    duration_ms: UNKNOWN,
    first_token_ms: UNKNOWN,
    ...more,
  };
}

/** The bucket's place among four of ten minutes. */
export function point(at: number, requests: number, more: Partial<Aggregate> = {}): StatsPoint {
  return { ...sum(requests, more), at: new Date(START + at * 600_000).toISOString() };
}

/** Groups by value in their order; `other` by points alone. */
export function statsAnswer(
  by: string | undefined,
  parts: readonly (readonly [string | null, readonly StatsPoint[]])[],
  other: StatsPoint[] | null = null,
): StatsResponse {
  const total = (points: readonly StatsPoint[]) => sum(points.reduce((all, each) => all + each.requests, 0));
  const points = [...parts.flatMap(([, own]) => own), ...(other ?? [])];
  return {
    bucket_seconds: 600,
    from: new Date(START).toISOString(),
    to: new Date(START + 4 * 600_000).toISOString(),
    groups: parts.map(([value, own]) => ({
      by: by === undefined ? {} : { [by]: value },
      points: [...own],
      total: total(own),
    })),
    other: other === null ? null : { points: other, total: total(other) },
    total: total(points),
    source: "rollups",
  };
}
