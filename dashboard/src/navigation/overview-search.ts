/** Search parameters of the overview, and navigation to it. */

import { useLocation, useRouter } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { PAGE } from "~/api/page-config";
import { formatPairs, type LogSearch, parseSearch, toApiParams } from "~/domain/log-search";

/** The search of the log, and the field that the charts are grouped by. */
export type Overview = { readonly search: LogSearch; readonly by: string | undefined };

/**
 * Move `by` out of the filter, because `parseSearch` returns `by` as a term of the filter. Only the log can be paused.
 */
export function readOverview({ live: _, ...search }: LogSearch): Overview {
  return {
    search: { ...search, filter: search.filter.filter((term) => term.name !== "by") },
    by: search.filter.find((term) => term.name === "by")?.values[0],
  };
}

/** Search parameters as text with a leading question mark, or an empty text. */
export function formatOverview(search: LogSearch, by: string | undefined): string {
  const pairs = toApiParams(search);
  if (by !== undefined) pairs.push(["by", by]);
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
