/** The overview the URL names, and the way to another. */

import { useLocation, useRouter } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { PAGE } from "~/api/page-facts";
import { type LogSearch, parseSearch } from "~/domain/log-search";
import { formatOverview, type Overview, readOverview } from "./overview-search";

export function useOverview(): Overview {
  const text = useLocation({ select: ({ searchStr }) => searchStr });
  return useMemo(() => readOverview(parseSearch(text)), [text]);
}

/** The address of an overview, for a real link. */
export function overviewHref(search: LogSearch, by: string | undefined): string {
  return `${PAGE.base}/overview${formatOverview(search, by)}`;
}

export function useGoToOverview(): (search: LogSearch, by: string | undefined) => void {
  const router = useRouter();
  return useCallback((search, by) => router.history.push(overviewHref(search, by)), [router]);
}
