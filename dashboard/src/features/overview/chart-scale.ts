/** Ticks and scales of the charts. Pure. */

import { shortCount } from "~/format/number";
import { linearTicks } from "~/format/ticks";
import { type Series, stackedValues } from "./series";

/** The vertical scale of a chart. The ticks are in ascending order, and the highest tick is above all values. */
export type Scale = { readonly ticks: readonly number[]; readonly isLog: boolean };

/**
 * If the highest value is at least this many times the median of the lowest line, a linear scale would flatten this
 * line.
 */
const LOG_RATIO = 10;

/**
 * The scale of a chart, with at least three ticks, or without ticks if there are no values. A chart of lines has a
 * logarithmic scale if `LOG_RATIO` is reached.
 */
export function scaleOf(seriesList: readonly Series[], heights: readonly (number | null)[], isWhole: boolean): Scale {
  const lines = seriesList.filter(({ shape }) => shape === "line").map(({ values }) => positive(values));
  if (heights.every((height) => height === null)) return { isLog: false, ticks: [] };
  const most = Math.max(0, ...positive(heights));
  const typical = lines.filter((values) => values.length > 0).map(median);
  const isLog = !isWhole && lines.length === seriesList.length && most >= LOG_RATIO * Math.min(...typical);
  return { isLog, ticks: isLog ? logTicks(Math.min(...lines.flat()), most) : linearTicks(most, isWhole) };
}

/** Whether a chart of these series is drawn on a logarithmic scale. */
export function isLogScale(seriesList: readonly Series[], isWhole: boolean): boolean {
  const heights = stackedValues(seriesList).flatMap(({ values }) => values);
  return scaleOf(seriesList, heights, isWhole).isLog;
}

/** Ticks at powers of ten. */
function logTicks(least: number, most: number): number[] {
  const top = Math.floor(Math.log10(most)) + 1;
  const bottom = Math.min(Math.floor(Math.log10(least)), top - 2);
  return Array.from({ length: top - bottom + 1 }, (_, at) => Number((10 ** (bottom + at)).toPrecision(12)));
}

function positive(values: readonly (number | null)[]): number[] {
  return values.filter((value): value is number => value !== null && value > 0);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** A tick of costs: `$0.02`, `$40`. */
export function dollarTick(value: number): string {
  return `$${value < 1000 ? value.toLocaleString("en-US", { maximumSignificantDigits: 3 }) : shortCount(value)}`;
}
