/** The query for the use of the provider's cache. */

import { queryOptions } from "@tanstack/react-query";
import type { CacheReport } from "~/generated/api-types";
import { apiUrl, getJson } from "./client";

/** What a finished request sent again, and what was read from the provider's cache. */
export function cacheQuery(id: string) {
  return queryOptions({
    queryKey: ["cache", id],
    queryFn: ({ signal }) => getJson<CacheReport>(apiUrl(`requests/${encodeURIComponent(id)}/cache`), signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
