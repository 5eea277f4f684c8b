/** Queries for the comparison of two requests, and for the last successful request. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Comparison, LastGood } from "~/generated/api-types";
import { apiUrl, getJson, retryWhenUnreachable } from "./client";

/** The differences between two requests. If one of them is running, they are read again every two seconds. */
export function compareQuery(a: string, b: string) {
  return queryOptions({
    queryKey: ["compare", a, b],
    queryFn: ({ signal }) =>
      getJson<Comparison>(
        apiUrl("compare", [
          ["a", a],
          ["b", b],
        ]),
        signal,
      ),
    refetchInterval: (query) => (isRunning(query.state.data) ? 2_000 : retryWhenUnreachable(query)),
    staleTime: (query) => (isRunning(query.state.data) ? 0 : Number.POSITIVE_INFINITY),
    placeholderData: keepPreviousData,
  });
}

function isRunning(comparison: Comparison | undefined): boolean {
  return comparison?.a.outcome === "open" || comparison?.b.outcome === "open";
}

/** The last successful request that is like a request, or the nearest successful request. */
export function lastGoodQuery(id: string) {
  return queryOptions({
    queryKey: ["last-good", id],
    queryFn: ({ signal }) => getJson<LastGood>(apiUrl(`requests/${encodeURIComponent(id)}/last-good`), signal),
    staleTime: 2_000,
    refetchInterval: false,
  });
}
