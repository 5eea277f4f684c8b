/** Durations as text. */

/** At most three digits, with the unit: `<0.1 ms`, `0.3 ms`, `412 ms`, `2.41 s`, `3 min 20 s`. `null` is a dash. */
export function duration(ms: number | null): string {
  if (ms === null) return "–";
  if (ms < 0.05) return "<0.1 ms";
  if (ms < 9.95) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.995) return `${seconds.toFixed(2)} s`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const total = Math.round(seconds);
  if (total < 3600) return `${Math.floor(total / 60)} min ${total % 60} s`;
  return `${Math.floor(total / 3600)} h ${Math.floor((total % 3600) / 60)} min`;
}

/**
 * A duration for columns. From 10 ms to a minute, it is in seconds with two decimals, `0.92 s`. Otherwise it is like
 * `duration`.
 */
export function seconds(ms: number | null): string {
  if (ms === null) return "–";
  return ms >= 9.95 && ms < 59_995 ? `${(ms / 1000).toFixed(2)} s` : duration(ms);
}
