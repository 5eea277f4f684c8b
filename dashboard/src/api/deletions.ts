/** Count the requests that a deletion would remove, delete requests, and notice deletions. */

import { queryOptions, type UseMutationResult, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import type { RequestCount, RequestedDeletion } from "~/generated/api-types";
import { apiUrl, getJson, sendJson } from "./client";
import { getPage } from "./requests";
import { removalProgress, removalsQuery, useStatus } from "./status";

/** Parameters of the API that select requests. */
type Params = readonly (readonly [string, string])[];

/** The numbers of finished and of running requests that match. Running requests are not deleted. */
export type Matches = { readonly requests: number; readonly running: number };

/** Counts all matches, without the time limit of the counts that the page shows elsewhere. */
export function matchesQuery(params: Params) {
  return queryOptions({
    queryKey: ["deletion-matches", params],
    queryFn: async ({ signal }): Promise<Matches> => {
      const [requests, page] = await Promise.all([
        countMatches(params, signal),
        getPage(
          params.map(([name, value]) => [name, value]),
          "newest",
          signal,
          1,
        ),
      ]);
      return { requests, running: page.running?.length ?? 0 };
    },
    gcTime: 0,
    retry: false,
  });
}

async function countMatches(params: Params, signal: AbortSignal): Promise<number> {
  const counted = await getJson<RequestCount>(apiUrl("count", [...params, ["exact", "true"]]), signal);
  if (!counted.complete) {
    throw new Error("The requests could not be counted in time. Use a shorter time range.");
  }
  return counted.requests;
}

/** Delete the requests that match. Fails with `wrong_count` if their number is not `requests`. */
export function useDeleteMatches(params: Params): UseMutationResult<RequestedDeletion, Error, number> {
  return useDeletion((requests) => apiUrl("requests", [...params, ["confirm", String(requests)]]));
}

/** Delete one request. */
export function useDeleteRequest(id: string): UseMutationResult<RequestedDeletion, Error, void> {
  return useDeletion(() => apiUrl(`requests/${encodeURIComponent(id)}`));
}

function useDeletion<Input>(urlOf: (input: Input) => string): UseMutationResult<RequestedDeletion, Error, Input> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => sendJson<RequestedDeletion>("DELETE", urlOf(input)),
    onSuccess: () => {
      // Not awaited, so that an open request is closed before it is read again. Reading a deleted request would fail.
      void client.invalidateQueries({ queryKey: ["status"] });
    },
  });
}

/** How often a deletion has removed all its requests from the log since the page was loaded. */
export function useRemovals(): number {
  return useQuery(removalsQuery()).data ?? 0;
}

/** Calls `onProgress` each time a running deletion has removed more requests. */
export function useRemovalProgress(onProgress: () => void): void {
  const progress = useStatus(removalProgress) ?? "";
  const tell = useEffectEvent(onProgress);
  useEffect(() => {
    if (progress !== "") tell();
  }, [progress]);
}
