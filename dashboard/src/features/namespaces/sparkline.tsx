/** Requests per hour of the last 24 hours, as a small bar chart. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { bucketsOf, hourlyQuery } from "~/api/stats";
import { useLabels } from "~/filters/labels";
import { plural } from "~/format/number";
import { clockTime, day } from "~/format/time";
import type { StatsGroup, StatsResponse } from "~/generated/api-types";
import css from "./namespace-table.module.css";

const HEIGHT = 18;
/** Bars are at least this high, so that a single request is visible. */
const MIN_HEIGHT = 2;
const GAP = 0.2;

/** A bar for each of the last 24 hours, with failed requests in red. The highest bar has the full height. */
export function Sparkline({ spark: { hours, failed, words } }: { spark: HourlyCounts }) {
  const most = Math.max(1, ...hours);
  const heights = hours.map((requests) => (requests === 0 ? 0 : Math.max(MIN_HEIGHT, (requests / most) * HEIGHT)));
  const bar = (height: number, at: number) =>
    height === 0 ? "" : `M${at + GAP / 2} ${HEIGHT}v${-height.toFixed(1)}h${1 - GAP}V${HEIGHT}z`;
  // The failed part is never larger than the share of the failed requests.
  const failures = heights.map((height, at) => (height * (failed[at] ?? 0)) / Math.max(1, hours[at] ?? 0));
  return (
    <svg className={css.spark} viewBox={`0 0 ${hours.length} ${HEIGHT}`} preserveAspectRatio="none" role="img">
      <title>{words}</title>
      <path d={heights.map(bar).join("")} />
      <path className={css.sparkFailed} d={failures.map(bar).join("")} />
    </svg>
  );
}

/**
 * Counts by value. They are empty during loading and after errors. With `isWanted: false`, nothing is read, but cached
 * counts are returned.
 */
export function useHourlyCounts(by: string, isWanted = true): ReadonlyMap<string, HourlyCounts> {
  const { data } = useQuery({ ...hourlyQuery(by), enabled: isWanted });
  return useMemo(() => (data === undefined ? NONE : hourlyCountsByValue(data)), [data]);
}

/** Counts by namespace. Pinned namespaces have counts even if many others are busier. */
export function useHourlyCountsOfNamespaces(): ReadonlyMap<string, HourlyCounts> {
  const busiest = useHourlyCounts("namespace");
  const missing = [...useLabels().keys()].filter((name) => !busiest.has(name)).sort();
  const { data } = useQuery({
    ...hourlyQuery("namespace", missing),
    enabled: busiest.size > 0 && missing.length > 0,
    placeholderData: keepPreviousData,
  });
  return useMemo(
    () => (data === undefined ? busiest : new Map([...hourlyCountsByValue(data), ...busiest])),
    [data, busiest],
  );
}

const NONE: ReadonlyMap<string, HourlyCounts> = new Map();

/** `hours` has the number of requests in each hour, earliest first, and `failed` the number of failed requests. */
export type HourlyCounts = {
  readonly hours: readonly number[];
  readonly failed: readonly number[];
  readonly words: string;
};

/**
 * Counts by value. Values outside of the largest groups are missing, because the API does not return them separately.
 */
export function hourlyCountsByValue(answer: StatsResponse, now = new Date()): ReadonlyMap<string, HourlyCounts> {
  const begins = bucketsOf(answer);
  // The first hour began more than 24 hours ago.
  const since = `since ${day(new Date(answer.from), now)} ${hour(answer.from)}`;
  const sparks = new Map<string, HourlyCounts>();
  for (const group of answer.groups) {
    const value = Object.values(group.by)[0] ?? null;
    if (value === null) continue;
    const points = new Map(group.points.map((point) => [new Date(point.at).getTime(), point]));
    sparks.set(value, {
      hours: begins.map((begin) => points.get(begin)?.requests ?? 0),
      failed: begins.map((begin) => points.get(begin)?.failed ?? 0),
      words: inWords(group, since),
    });
  }
  return sparks;
}

/** `42 requests since yesterday 13:00, peak at 14:00`. */
function inWords({ points, total }: StatsGroup, since: string): string {
  const words = `${plural(total.requests, "request")} ${since}`;
  const most = points.reduce<(typeof points)[number] | undefined>(
    (top, point) => (top === undefined || point.requests > top.requests ? point : top),
    undefined,
  );
  if (most === undefined) return words;
  const how = total.requests === 1 ? "" : most.requests === total.requests ? "all " : "peak ";
  return `${words}, ${how}at ${hour(most.at)}`;
}

function hour(timestamp: string): string {
  return clockTime(timestamp).slice(0, 5);
}
