/** Round ticks of an axis. Pure. */

/**
 * Ticks from 0 in at most `maxSteps` steps of 1, 2 or 5 times a power of ten. With `isWhole` the steps are whole numbers.
 */
export function linearTicks(most: number, isWhole: boolean, maxSteps = 4): number[] {
  if (most <= 0) return [0, 1, 2];
  const magnitude = 10 ** Math.floor(Math.log10(most / maxSteps));
  const nice = [1, 2, 5, 10].map((factor) => factor * magnitude).find((step) => most / step < maxSteps) ?? most;
  const step = isWhole ? Math.max(1, nice) : nice;
  const steps = Math.floor(most / step) + 1;
  // Whole multiples are rounded so that 3 × 0.1 is 0.3.
  return Array.from({ length: Math.max(2, steps) + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

/** A tick of durations: `0`, `500 ms`, `2 s`, `5 min`. */
export function durationTick(ms: number): string {
  if (ms === 0) return "0";
  if (ms < 1000) return `${ms} ms`;
  return ms < 300_000 ? `${Number((ms / 1000).toPrecision(3))} s` : `${Number((ms / 60_000).toPrecision(3))} min`;
}
