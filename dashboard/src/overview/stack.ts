/** Bars one upon the other: what is drawn for them, and which one is at a height. Pure. */

import type { Curve } from "./curves";

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
