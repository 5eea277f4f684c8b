/** Durations for people. */

/** Three figures at most, with the unit: `0.3 ms`, `412 ms`, `2.41 s`, `3 min 20 s`; unknown is `–`. */
export function duration(ms: number | null): string {
  if (ms === null) return "–";
  if (ms < 9.95) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.995) return `${seconds.toFixed(2)} s`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** For a column: seconds with two decimals below a minute, and milliseconds below 10 ms. */
export function seconds(ms: number | null): string {
  if (ms === null) return "–";
  return ms >= 9.95 && ms < 59_995 ? `${(ms / 1000).toFixed(2)} s` : duration(ms);
}
