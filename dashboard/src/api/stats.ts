/** Queries for aggregates over time. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { ApiError } from "~/domain/api-error";
import type { LogSearch } from "~/domain/log-search";
import { parseTimestamp } from "~/domain/time-range";
import { clockTime, day } from "~/format/time";
import type { StatsResponse } from "~/generated/api-types";
import { apiUrl, getJson, serverTime } from "./client";
import { askedOf, untilTick } from "./requests";

const FRESH_MS = 10_000;
const HOURLY_FRESH_MS = 60_000;
const RETRY_MS = 60_000;

/**
 * Aggregates over time, grouped by a field or `property.<name>`. Without `bucketSeconds`, the API returns about 120
 * buckets. With `isCompared`, the response also has the same span before, if the time range has a start.
 */
export function statsQuery(search: LogSearch, by?: string, bucketSeconds?: number, isCompared = false) {
  const params = askedOf(search);
  if (by !== undefined) params.push(["by", by]);
  if (bucketSeconds !== undefined) params.push(["bucket", String(bucketSeconds)]);
  if (isCompared && search.range.from !== undefined) params.push(["previous", "true"]);
  return queryOptions({
    queryKey: ["stats", params],
    queryFn: ({ signal }) => getJson<StatsResponse>(apiUrl("stats", params), signal),
    staleTime: FRESH_MS,
    refetchInterval: ({ state }) => {
      if (search.live === false || isPast(search.range.to)) return false;
      if (isDeadlineError(state.error)) return retryInterval(state.data);
      // Aggregates that are not precomputed take longer.
      return untilTick(state.data?.source === "rollups" ? undefined : FRESH_MS);
    },
    placeholderData: keepPreviousData,
  });
}

/** Requests that started before the end of the time range may end this much later. */
const LATE_MS = 900_000;

/** Whether the end of a time range is so long ago that no more requests of the range are recorded. */
function isPast(to: string | undefined, now = serverTime()): boolean {
  const end = to === undefined || to.startsWith("-") ? undefined : parseTimestamp(to, now);
  return end !== undefined && end.getTime() + LATE_MS < now.getTime();
}

/** Aggregates for each of the last 24 hours, grouped by a field. With `values`, only requests with these values count. */
export function hourlyQuery(by: string, values: readonly string[] = []) {
  const params: [string, string][] = [
    ...values.map((value): [string, string] => [by, value]),
    ["by", by],
    ["from", "-24h"],
    ["bucket", "3600"],
  ];
  return queryOptions({
    queryKey: ["hourly", by, values],
    queryFn: ({ signal }) => getJson<StatsResponse>(apiUrl("stats", params), signal),
    staleTime: HOURLY_FRESH_MS,
    refetchInterval: ({ state }) => (isDeadlineError(state.error) ? retryInterval(state.data) : HOURLY_FRESH_MS),
  });
}

/**
 * Milliseconds until a query that exceeded the deadline is repeated. If the query has data, it met the deadline earlier
 * and may meet it again. If the query has no data, it is not repeated.
 */
function retryInterval(data: StatsResponse | undefined): number | false {
  return data === undefined ? false : RETRY_MS;
}

/** Whether the aggregation exceeded the server's deadline. */
export function isDeadlineError(error: Error | null): boolean {
  return error instanceof ApiError && error.code === "deadline";
}

/** Start of each bucket in milliseconds, including buckets without requests, which the response omits. */
export function bucketsOf({ from, to, bucket_seconds }: StatsResponse): number[] {
  const [start, step] = [new Date(from).getTime(), bucket_seconds * 1000];
  const count = Math.max(0, Math.round((new Date(to).getTime() - start) / step));
  return Array.from({ length: count }, (_, at) => start + at * step);
}

/** `14:00 – 14:12`, with the day if it is not today. */
export function formatTimeSpan(from: number, to: number, now = new Date()): string {
  const [first, last] = [dayAndClock(from, now), dayAndClock(to, now)];
  const isSameDay = first.day === last.day;
  return `${first.day}${first.clock} – ${isSameDay ? "" : last.day || "today "}${last.clock}`;
}

function dayAndClock(at: number, now: Date): { day: string; clock: string } {
  const name = day(new Date(at), now);
  return { day: name === "today" ? "" : `${name} `, clock: clockTime(new Date(at).toISOString()).slice(0, 5) };
}
