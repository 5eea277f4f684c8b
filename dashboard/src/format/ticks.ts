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

/** A tick of durations: `0`, `500 ms`, `2 s`, `1,000 s`. Round seconds are not round minutes, so there are no minutes. */
export function durationTick(ms: number): string {
  if (ms === 0) return "0";
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toLocaleString("en-US")} s`;
}

/** The labels of an axis with the same number of decimals for each unit: `$0.10` beside `$0.15`. */
export function sameDecimals(labels: readonly string[]): string[] {
  const parsed = labels.map(
    (label) => /^(?<sign>\D*)(?<whole>[\d,]+)(?:\.(?<decimals>\d+))?(?<unit>\D*)$/u.exec(label)?.groups,
  );
  return labels.map((label, at) => {
    const { sign, whole, decimals = "", unit } = parsed[at] ?? {};
    if (Number(whole) === 0 && decimals === "") return label;
    const same = parsed.filter((other) => other?.sign === sign && other?.unit === unit);
    const digits = Math.max(0, ...same.map((other) => other?.decimals?.length ?? 0));
    return digits === 0 ? label : `${sign}${whole}.${decimals.padEnd(digits, "0")}${unit}`;
  });
}
