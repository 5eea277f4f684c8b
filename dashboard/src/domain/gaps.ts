/** Gaps in the log as text. Pure. */

import { plural } from "~/format/number";
import { clockTime, day } from "~/format/time";
import type { LogGap } from "~/generated/api-types";

/** The number of lost requests or journal frames: `137 requests`. */
export function gapCount(gap: Pick<LogGap, "count" | "reason">): string {
  return plural(gap.count, gap.reason === "damaged" ? "journal frame" : "request");
}

/** `14:01:02 – 14:01:09`, with the day if it is not today. */
export function gapSpan(gap: Pick<LogGap, "from_at" | "to_at">, now: Date): string {
  const from = formatTime(gap.from_at, now);
  if (gap.to_at === gap.from_at) return from;
  const isOneDay = day(new Date(gap.from_at), now) === day(new Date(gap.to_at), now);
  return `${from} – ${isOneDay ? clockTime(gap.to_at) : formatTime(gap.to_at, now)}`;
}

function formatTime(at: string, now: Date): string {
  const name = day(new Date(at), now);
  return name === "today" ? clockTime(at) : `${name} ${clockTime(at)}`;
}
