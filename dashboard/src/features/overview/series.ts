/** Series of the charts, stacked or side by side. Pure. */

import type { StatsPoint } from "~/generated/api-types";
import { type Group, groupName } from "./groups";

/**
 * `stack`: bars one upon the other. `part`: a part of the bars, at their foot. `line`: by itself.
 * `values`: one for each bucket; null: unknown. `group`: whose figures they are; undefined: not of one alone.
 */
export type Curve = {
  name: string;
  colour: string;
  shape: "stack" | "part" | "line";
  values: (number | null)[];
  group?: Group;
};

export type Percentile = "p50" | "p95";
type Figure = (point: StatsPoint) => number | null;

/** When each bucket begins (milliseconds), the groups in the order of the table, and by what they are parted. */
export type Parted = { buckets: readonly number[]; groups: readonly Group[]; by: string | undefined };

export function requestCurves(parted: Parted): Curve[] {
  const failed = sumOver(parted, parted.groups, (point) => point.failed);
  const shape = parted.by === undefined ? "part" : "line";
  return [...stacked(parted, (point) => point.requests), { name: "failed", colour: "--bad", shape, values: failed }];
}

export function tokenCurves(parted: Parted): Curve[] {
  if (parted.by !== undefined) return stacked(parted, (point) => point.input_tokens + point.output_tokens);
  return [
    {
      name: "input",
      colour: "--series1",
      shape: "stack",
      values: sumOver(parted, parted.groups, (p) => p.input_tokens),
    },
    {
      name: "output",
      colour: "--series8",
      shape: "stack",
      values: sumOver(parted, parted.groups, (p) => p.output_tokens),
    },
  ];
}

export function costCurves(parted: Parted): Curve[] {
  return stacked(parted, (point) => point.cost_usd);
}

/** Both percentiles, or one of them for each group that has a colour: those of the rest cannot be added up. */
export function timeCurves(parted: Parted, field: "duration_ms" | "first_token_ms", chosen: Percentile): Curve[] {
  const line = (name: string, colour: string, group: Group, percentile: Percentile): Curve => {
    const values = aligned(parted.buckets, group.points, (point) => point[field][percentile], null);
    return { name, colour, shape: "line", values, group };
  };
  const [all] = parted.groups;
  if (parted.by === undefined) {
    return all === undefined ? [] : [line("p50", "--series1", all, "p50"), line("p95", "--series3", all, "p95")];
  }
  return parted.groups
    .filter((group) => group.slot > 0)
    .map((group) => line(groupName(group, parted.by), colourOf(group), group, chosen));
}

export function colourOf(group: Group): string {
  return group.slot === 0 ? "--series0" : `--series${group.slot}`;
}

function stacked(parted: Parted, figure: Figure): Curve[] {
  const own = parted.groups.filter((group) => group.slot > 0);
  const rest = parted.groups.filter((group) => group.slot === 0);
  const curves: Curve[] = own.map((group) => ({
    name: groupName(group, parted.by),
    colour: colourOf(group),
    shape: "stack",
    values: sumOver(parted, [group], figure),
    group,
  }));
  if (rest.length === 0) return curves;
  const name = rest.length === 1 && rest[0] !== undefined ? groupName(rest[0], parted.by) : "all others";
  return [...curves, { name, colour: "--series0", shape: "stack", values: sumOver(parted, rest, figure) }];
}

/** In a bucket without a request it is 0; unknown only where requests are and none of them tells. */
function sumOver({ buckets }: Parted, groups: readonly Group[], figure: Figure): (number | null)[] {
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

/** Bars one upon the other: what is drawn for them, and which one is at a height. Pure. */
export type Drawn = { curve: Curve; values: (number | null)[] };

/** In the order of drawing: each bar begins at the foot, and those drawn later lie over it. */
export function stackedValues(curves: readonly Curve[]): Drawn[] {
  const heights: Drawn[] = [];
  let below: number[] = [];
  for (const curve of curves.filter(({ shape }) => shape === "stack")) {
    const top = curve.values.map((value, at) => (below[at] ?? 0) + (value ?? 0));
    heights.push({ curve, values: top.map((value) => (value === 0 ? null : value)) });
    below = top;
  }
  const part = (shape: Curve["shape"]) =>
    curves
      .filter((curve) => curve.shape === shape)
      .map((curve) => ({
        curve,
        values: shape === "part" ? curve.values.map((value) => value || null) : curve.values,
      }));
  return [...heights.reverse(), ...part("part"), ...part("line")];
}

const NEAR = 0.08;

/** The curve at a height of the chart: the bar that is there, or the line that is near. */
export function nearestCurve(curves: readonly Curve[], at: number, height: number, most: number): Curve | undefined {
  let top = 0;
  for (const curve of curves) {
    if (curve.shape !== "stack") continue;
    top += curve.values[at] ?? 0;
    if (height <= top) return curve;
  }
  const near = curves
    .filter((curve) => curve.shape === "line" && curve.group !== undefined)
    .map((curve) => ({ curve, away: Math.abs((curve.values[at] ?? Number.POSITIVE_INFINITY) - height) }))
    .sort((a, b) => a.away - b.away)[0];
  return near !== undefined && near.away < most * NEAR ? near.curve : undefined;
}
