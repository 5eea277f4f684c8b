/** Timestamps in the viewer's time zone, and the current time, from which relative timestamps are computed. */

import { useSyncExternalStore } from "react";
import { ago, clockTime, day, dayAndTime, midnight, utc } from "~/format/time";

type TimestampProps = {
  /** An RFC 3339 timestamp. `null` is shown as a dash. */
  at: string | null;
  /** `seconds`: date and time. `milliseconds`: the same with milliseconds. `ago`: relative to now. */
  format?: "seconds" | "milliseconds" | "ago";
  /**
   * An earlier timestamp that is shown before this timestamp. If both have the same date, this timestamp is shown
   * without it.
   */
  after?: string;
};

/** A timestamp in the viewer's time zone. The title shows it in UTC. */
export function Timestamp({ at, format = "seconds", after }: TimestampProps) {
  const now = useNow();
  if (at === null) return "–";
  return (
    <time dateTime={at} title={utc(at)}>
      {format === "ago" ? ago(at, now) : format === "milliseconds" ? dayAndTime(at, now) : dateAndTime(at, now, after)}
    </time>
  );
}

function dateAndTime(at: string, now: Date, after?: string): string {
  const date = day(new Date(at), now);
  const isSameDay = after !== undefined && day(new Date(after), now) === date;
  return isSameDay ? clockTime(at) : `${date} ${clockTime(at)}`;
}

const listeners = new Set<() => void>();
let now = new Date();
let timer: ReturnType<typeof setInterval> | undefined;

/** The current time, updated every second. All components share one timer. */
export function useNow(): Date {
  return useSyncExternalStore(listen, () => now);
}

/** The start of the current day. The component renders again at midnight, in the viewer's time zone. */
export function useToday(): Date {
  return new Date(useSyncExternalStore(listen, () => midnight(now)));
}

function listen(listener: () => void): () => void {
  if (timer === undefined) {
    now = new Date();
    timer = setInterval(tick, 1000);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  now = new Date();
  for (const listener of listeners) listener();
}
