/** The last 24 hours of values, by the hour, as an answer of `/api/stats` tells them. Pure. */

import { bucketsOf } from "~/api/stats";
import { plural } from "~/format/number";
import { clockTime } from "~/format/time";
import type { StatsGroup, StatsResponse } from "~/generated/api-types";

/** `hours`: requests in each, the earliest first. */
export type Spark = { readonly hours: readonly number[]; readonly words: string };

/** By value. Of values that are not there nobody knows anything: the API tells the largest groups, and not all apart. */
export function sparksOf(answer: StatsResponse): ReadonlyMap<string, Spark> {
  const begins = bucketsOf(answer);
  const sparks = new Map<string, Spark>();
  for (const group of answer.groups) {
    const value = Object.values(group.by)[0] ?? null;
    if (value === null) continue;
    const requests = new Map(group.points.map((point) => [new Date(point.at).getTime(), point.requests]));
    sparks.set(value, { hours: begins.map((begin) => requests.get(begin) ?? 0), words: inWords(group) });
  }
  return sparks;
}

/** `42 requests in the last 24 hours, most at 14:00`. */
function inWords({ points, total }: StatsGroup): string {
  const words = `${plural(total.requests, "request")} in the last 24 hours`;
  const most = points.reduce<(typeof points)[number] | undefined>(
    (top, point) => (top === undefined || point.requests > top.requests ? point : top),
    undefined,
  );
  if (most === undefined) return words;
  const how = total.requests === 1 ? "" : most.requests === total.requests ? "all " : "most ";
  return `${words}, ${how}at ${clockTime(most.at).slice(0, 5)}`;
}
