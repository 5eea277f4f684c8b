/** Search parameters of the overview, and navigation to it. */

import { useLocation, useRouter } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { PAGE } from "~/api/page-config";
import type { TimeRange } from "~/domain/filter";
import { formatPairs, type LogSearch, parseSearch, toApiParams } from "~/domain/log-search";

/** `isUsual`: no time was named, so it is that of the last 24 hours. */
export type Overview = {
  readonly search: LogSearch;
  readonly by: string | undefined;
  readonly isDefaultRange: boolean;
};

export const DEFAULT_RANGE: TimeRange = { from: "-24h" };

/** Parameters that the log has not; a URL read as the log's has them among the terms of its filter. */
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

/** Search parameters as text. All time has to be named, for without a time the last 24 hours are meant. */
export function formatOverview(search: LogSearch, by: string | undefined): string {
  const pairs = toApiParams(search);
  if (Object.keys(search.range).length === 0) pairs.push(["time", "all"]);
  if (by !== undefined) pairs.push(["by", by]);
  if (search.live === false) pairs.push(["live", "off"]);
  return formatPairs(pairs);
}

/** The overview the URL names, and the way to another. */
export function useOverview(): Overview {
  const text = useLocation({ select: ({ searchStr }) => searchStr });
  return useMemo(() => readOverview(parseSearch(text)), [text]);
}

/** The address of an overview, for a real link. */
export function overviewHref(search: LogSearch, by: string | undefined): string {
  return `${PAGE.base}/overview${formatOverview(search, by)}`;
}

export function useOverviewNavigate(): (search: LogSearch, by: string | undefined) => void {
  const router = useRouter();
  return useCallback((search, by) => router.history.push(overviewHref(search, by)), [router]);
}
