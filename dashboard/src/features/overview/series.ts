/** Series of the charts, stacked or side by side. Pure. */

import type { StatsPoint, StatsResponse } from "~/generated/api-types";
import { failedShare, type Group, groupName } from "./groups";

/**
 * With the shape `stack`, the series is drawn as bars on top of the bars of other series. With `part`, it is drawn as
 * bars that start at zero, in front of the stacked bars. With `line`, it is drawn as a line. `values` has one value for
 * each bucket, `null` if it is unknown. `group` is `undefined` if the series covers several groups.
 */
export type Series = {
  name: string;
  color: string;
  shape: "stack" | "part" | "line";
  values: (number | null)[];
  group?: Group;
};

export type Percentile = "p50" | "p95";
type Figure = (point: StatsPoint) => number | null;

/**
 * Start and length of the buckets (milliseconds), the groups in the order of the table, and the field of the groups.
 */
export type GroupedStats = {
  buckets: readonly number[];
  step: number;
  groups: readonly Group[];
  by: string | undefined;
};

export function requestSeries(grouped: GroupedStats): Series[] {
  const failed = sumOver(grouped, grouped.groups, (point) => point.failed);
  const shape = grouped.by === undefined ? "part" : "line";
  return [
    ...stacked(grouped, (point) => point.requests),
    { name: "failed", color: "--color-error", shape, values: failed },
  ];
}

export function tokenSeries(grouped: GroupedStats): Series[] {
  if (grouped.by !== undefined) return stacked(grouped, (point) => point.input_tokens + point.output_tokens);
  return [
    {
      name: "input",
      color: "--series1",
      shape: "stack",
      values: sumOver(grouped, grouped.groups, (p) => p.input_tokens),
    },
    {
      name: "output",
      color: "--series8",
      shape: "stack",
      values: sumOver(grouped, grouped.groups, (p) => p.output_tokens),
    },
  ];
}

export function costSeries(grouped: GroupedStats): Series[] {
  return stacked(grouped, (point) => point.cost_usd);
}

/** Sizes of buckets that the API supports, in seconds. */
const BUCKET_SECONDS = [60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, 86_400];
/** Percentiles of fewer requests are not meaningful. */
const MIN_PERCENTILE_REQUESTS = 20;
const MIN_BUCKETS = 4;

/** The size of buckets, in seconds, in which the largest group has enough requests for percentiles. */
export function percentileBucketOf({ bucket_seconds, from, to, groups }: StatsResponse): number {
  const largest = groups.reduce(
    (most, group) => (group.total.requests > most.total.requests ? group : most),
    groups[0] ?? NONE,
  );
  const seconds =
    (largest.points.length * bucket_seconds * 2 * MIN_PERCENTILE_REQUESTS) / Math.max(1, largest.total.requests);
  const most = (new Date(to).getTime() - new Date(from).getTime()) / 1000 / MIN_BUCKETS;
  const fitting = BUCKET_SECONDS.filter((size) => size > bucket_seconds && size <= most);
  if (seconds <= bucket_seconds) return bucket_seconds;
  return fitting.find((size) => size >= seconds) ?? fitting.at(-1) ?? bucket_seconds;
}

const NONE = { points: [], total: { requests: 0 } };

/**
 * Without groups, a series for each of the two percentiles. With groups, a series with the `chosen` percentile of each
 * group that has a color. The other groups have no series, because percentiles cannot be combined. Points of a group
 * with few requests are left out.
 */
export function durationSeries(
  grouped: GroupedStats,
  field: "duration_ms" | "first_token_ms" | "tokens_per_second",
  chosen: Percentile,
): Series[] {
  const line = (name: string, color: string, group: Group, percentile: Percentile): Series => {
    const least = grouped.by === undefined ? 1 : MIN_PERCENTILE_REQUESTS;
    const points = group.points.filter(({ requests }) => requests >= least);
    const values = aligned(grouped.buckets, points, (point) => point[field][percentile], null);
    return { name, color, shape: "line", values, group };
  };
  const [all] = grouped.groups;
  if (grouped.by === undefined && field === "tokens_per_second") {
    return all === undefined ? [] : [line("p50", "--series1", all, "p50")];
  }
  if (grouped.by === undefined) {
    return all === undefined ? [] : [line("p50", "--series1", all, "p50"), line("p95", "--series3", all, "p95")];
  }
  return grouped.groups
    .filter((group) => group.colorIndex > 0)
    .map((group) => line(groupName(group, grouped.by), colorOf(group), group, chosen));
}

/** The share of failed requests in percent. */
export function failedShareSeries(grouped: GroupedStats): Series[] {
  return shareSeries(grouped, "failed", "--color-error", (point) => failedShare(point) ?? 0);
}

/** The share of the input tokens that were read from the provider's cache, in percent. */
export function cachedShareSeries(grouped: GroupedStats): Series[] {
  return shareSeries(grouped, "cached", "--series1", (point) => point.cached_share);
}

/**
 * A share in percent, as a line for all requests or for each group that has a color. Points of a group with few requests
 * are left out.
 */
function shareSeries(grouped: GroupedStats, ofAll: string, color: string, figure: Figure): Series[] {
  const isGrouped = grouped.by !== undefined;
  return grouped.groups
    .filter((group) => group.colorIndex > 0)
    .map((group) => {
      const points = group.points.filter(({ requests }) => !isGrouped || requests >= MIN_PERCENTILE_REQUESTS);
      const percent = (point: StatsPoint) => {
        const share = figure(point);
        return share === null ? null : 100 * share;
      };
      const values = aligned(grouped.buckets, points, percent, null);
      const name = isGrouped ? groupName(group, grouped.by) : ofAll;
      return { name, color: isGrouped ? colorOf(group) : color, shape: "line", values, group };
    });
}

export function colorOf(group: Group): string {
  return group.colorIndex === 0 ? "--series0" : `--series${group.colorIndex}`;
}

function stacked(grouped: GroupedStats, figure: Figure): Series[] {
  const own = grouped.groups.filter((group) => group.colorIndex > 0);
  const rest = grouped.groups.filter((group) => group.colorIndex === 0);
  const seriesList: Series[] = own.map((group) => ({
    name: groupName(group, grouped.by),
    color: colorOf(group),
    shape: "stack",
    values: sumOver(grouped, [group], figure),
    group,
  }));
  if (rest.length === 0) return seriesList;
  const only = rest.length === 1 && rest[0]?.kind !== "other" ? rest[0] : undefined;
  const name = only === undefined ? "other" : groupName(only, grouped.by);
  const values = sumOver(grouped, rest, figure);
  return [...seriesList, { name, color: "--series0", shape: "stack", values, ...(only && { group: only }) }];
}

/**
 * The sum in each bucket. It is 0 if the bucket has no requests, and `null` if the value is unknown for all its
 * requests.
 */
function sumOver({ buckets }: GroupedStats, groups: readonly Group[], figure: Figure): (number | null)[] {
  const each = groups.map((group) => aligned(buckets, group.points, figure, 0));
  return buckets.map((_, at) => {
    const told = each.map((values) => values[at] ?? null);
    const known = told.filter((value) => value !== null);
    return known.length === 0 || (told.includes(null) && known.every((value) => value === 0))
      ? null
      : known.reduce((sum, value) => sum + value, 0);
  });
}

function aligned(buckets: readonly number[], points: readonly StatsPoint[], figure: Figure, absent: number | null) {
  const found = new Map(points.map((point) => [new Date(point.at).getTime(), figure(point)]));
  return buckets.map((at) => (found.has(at) ? (found.get(at) ?? null) : absent));
}

/** A series with the values that are drawn. */
export type Drawn = { series: Series; values: (number | null)[] };

/** The series in drawing order. Each bar starts at zero, and later bars cover earlier bars. */
export function stackedValues(seriesList: readonly Series[]): Drawn[] {
  const heights: Drawn[] = [];
  let below: number[] = [];
  for (const series of seriesList.filter(({ shape }) => shape === "stack")) {
    const top = series.values.map((value, at) => (below[at] ?? 0) + (value ?? 0));
    heights.push({ series, values: top.map((value) => (value === 0 ? null : value)) });
    below = top;
  }
  const part = (shape: Series["shape"]) =>
    seriesList
      .filter((series) => series.shape === shape)
      .map((series) => ({
        series,
        values: shape === "part" ? series.values.map((value) => value || null) : series.values,
      }));
  return [...heights.reverse(), ...part("part"), ...part("line")];
}

const NEAR_PX = 14;

/**
 * The series at a height of the chart: the bar at this height, or the closest line. `toY` returns pixels from the top.
 */
export function nearestSeries(
  seriesList: readonly Series[],
  at: number,
  y: number,
  toY: (value: number) => number,
): Series | undefined {
  let top = 0;
  for (const series of seriesList) {
    if (series.shape !== "stack") continue;
    top += series.values[at] ?? 0;
    if (y >= toY(top)) return series;
  }
  return seriesList
    .filter(({ shape, group }) => shape === "line" && group !== undefined)
    .map((series) => {
      const value = series.values[at] ?? null;
      return { series, distance: value === null ? NEAR_PX : Math.abs(toY(value) - y) };
    })
    .filter(({ distance }) => distance < NEAR_PX)
    .sort((a, b) => a.distance - b.distance)[0]?.series;
}
