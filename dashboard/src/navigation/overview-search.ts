/** Search parameters of the overview, and navigation to it. */

import { useLocation, useRouter } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { PAGE } from "~/api/page-config";
import type { TimeRange } from "~/domain/filter";
import { formatPairs, type LogSearch, parseSearch, toApiParams } from "~/domain/log-search";

/** `isDefaultRange`: the URL has no time range, so the last 24 hours are used. */
export type Overview = {
  readonly search: LogSearch;
  readonly by: string | undefined;
  readonly isDefaultRange: boolean;
};

export const DEFAULT_RANGE: TimeRange = { from: "-24h" };

/** Parameters that only the overview has. `parseSearch` returns them as terms of the filter. */
const OWN = ["by", "time"];

export function readOverview(found: LogSearch): Overview {
  const own = (name: string) => found.filter.find((term) => term.name === name)?.values[0];
  const isDefaultRange = Object.keys(found.range).length === 0 && own("time") !== "all";
  return {
    search: {
      ...found,
      filter: found.filter.filter((term) => !OWN.includes(term.name)),
      range: isDefaultRange ? DEFAULT_RANGE : found.range,
    },
    by: own("by"),
    isDefaultRange,
  };
}

/** Search parameters as text. `time=all` is written for all time, because the default is the last 24 hours. */
export function formatOverview(search: LogSearch, by: string | undefined): string {
  const pairs = toApiParams(search);
  if (Object.keys(search.range).length === 0) pairs.push(["time", "all"]);
  if (by !== undefined) pairs.push(["by", by]);
  if (search.live === false) pairs.push(["live", "off"]);
  return formatPairs(pairs);
}

/** The overview that the URL describes. */
export function useOverview(): Overview {
  const text = useLocation({ select: ({ searchStr }) => searchStr });
  return useMemo(() => readOverview(parseSearch(text)), [text]);
}

/** The address of an overview, for `href`. */
export function overviewHref(search: LogSearch, by: string | undefined): string {
  return `${PAGE.base}/overview${formatOverview(search, by)}`;
}

export function useOverviewNavigate(): (search: LogSearch, by: string | undefined) => void {
  const router = useRouter();
  return useCallback((search, by) => router.history.push(overviewHref(search, by)), [router]);
}
