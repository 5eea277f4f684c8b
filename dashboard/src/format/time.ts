/** Timestamps as text, in the viewer's time zone. Timestamps of the API are UTC. */

// Creating a format takes longer than rendering a row.
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const DAY_AND_YEAR = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

const two = (value: number) => String(value).padStart(2, "0");

/** `14:02:27`. */
export function clockTime(timestamp: string): string {
  const at = new Date(timestamp);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** `14:02:27` today, `21 Nov 14:02` on other days of this year, `21 Nov 2025` in other years. */
export function listTime(timestamp: string, now: Date): string {
  const at = new Date(timestamp);
  if (midnight(at) === midnight(now)) return clockTime(timestamp);
  if (at.getFullYear() !== now.getFullYear()) return DAY_AND_YEAR.format(at);
  return `${DAY.format(at)} ${clockTime(timestamp).slice(0, 5)}`;
}

/** `today 14:02:27.482`, `yesterday …`, `19 Nov 2026 …`. */
export function dayAndTime(timestamp: string, now: Date): string {
  const at = new Date(timestamp);
  return `${day(at, now)} ${clockTime(timestamp)}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}

/** `today`, `yesterday`, `19 Nov 2026`. */
export function day(at: Date, now: Date): string {
  const days = Math.round((midnight(now) - midnight(at)) / 86_400_000);
  if (days === 0) return "today";
  if (days === 1) return "yesterday";
  return DAY_AND_YEAR.format(at);
}

/** In UTC, for tooltips: `2026-11-21 13:02:27.482103 UTC`. */
export function utc(timestamp: string): string {
  return `${timestamp.replace("T", " ").replace(/Z$|\+00:00$/, "")} UTC`;
}

/** For documents, in the viewer's time zone and in UTC: `2026-11-21 22:02:27 +09:00 (2026-11-21 13:02:27 UTC)`. */
export function absoluteTime(timestamp: string): string {
  const at = new Date(timestamp);
  const inUtc = `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
  const minutes = -at.getTimezoneOffset();
  if (minutes === 0) return inUtc;
  const date = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
  const hours = two(Math.floor(Math.abs(minutes) / 60));
  const offset = `${minutes < 0 ? "-" : "+"}${hours}:${two(Math.abs(minutes) % 60)}`;
  return `${date} ${clockTime(timestamp)} ${offset} (${inUtc})`;
}

/** `now`, `2 s ago`, `3 min ago`, `5 h ago`, `2 days ago`. */
export function ago(timestamp: string, now: Date): string {
  const seconds = Math.max(0, Math.round((now.getTime() - new Date(timestamp).getTime()) / 1000));
  if (seconds < 1) return "now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  const days = Math.floor(seconds / 86_400);
  return `${days} ${days === 1 ? "day" : "days"} ago`;
}

/** The start of the day, in milliseconds. */
export function midnight(at: Date): number {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();
}
