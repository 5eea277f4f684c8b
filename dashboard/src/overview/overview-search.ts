/** What the URL of the overview says: the log's filter and time, and by what requests are parted. Pure. */

import type { TimeRange } from "~/domain/filter";
import { apiPairs, formatPairs, type LogSearch } from "~/domain/log-search";

/** `isUsual`: no time was named, so it is that of the last 24 hours. */
export type Overview = { readonly search: LogSearch; readonly by: string | undefined; readonly isUsual: boolean };

export const USUAL_RANGE: TimeRange = { from: "-24h" };

/** Parameters that the log has not; a URL read as the log's has them among the terms of its filter. */
const OWN = ["by", "time"];

export function readOverview(found: LogSearch): Overview {
  const own = (name: string) => found.filter.find((term) => term.name === name)?.values[0];
  const isUsual = Object.keys(found.range).length === 0 && own("time") !== "all";
  return {
    search: {
      ...found,
      filter: found.filter.filter((term) => !OWN.includes(term.name)),
      range: isUsual ? USUAL_RANGE : found.range,
    },
    by: own("by"),
    isUsual,
  };
}

/** Search parameters as text. All time has to be named, for without a time the last 24 hours are meant. */
export function formatOverview(search: LogSearch, by: string | undefined): string {
  const pairs = apiPairs(search);
  if (Object.keys(search.range).length === 0) pairs.push(["time", "all"]);
  if (by !== undefined) pairs.push(["by", by]);
  if (search.live === false) pairs.push(["live", "off"]);
  return formatPairs(pairs);
}
