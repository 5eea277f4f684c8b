/** Deletions: how many requests would be deleted, deleting them, and noticing that some were deleted. */

import { queryOptions, type UseMutationResult, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { ApiError } from "~/domain/api-error";
import type { RequestCount, RequestedDeletion } from "~/generated/api-types";
import { apiUrl, getJson, sendJson } from "./client";
import { getPage } from "./requests";
import { statusQuery } from "./status";

/** Parameters of the API that select requests. */
type Params = readonly (readonly [string, string])[];

/** How many requests match: finished ones, and running ones, which are not deleted. */
export type Matches = { readonly requests: number; readonly running: number };

/** Counts all matches, also if that takes longer than the counts that the page shows. */
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
  const counted = await getJson<RequestCount>(apiUrl("count", params), signal);
  if (counted.complete) return counted.requests;
  try {
    // A deletion that is not confirmed is refused with the number of matches.
    await sendJson("DELETE", apiUrl("requests", params));
  } catch (error) {
    if (error instanceof ApiError && error.requests !== undefined) return error.requests;
    throw error;
  }
  throw new Error("The API did not count the requests.");
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
    onSuccess: () => client.invalidateQueries({ queryKey: ["status"] }),
  });
}

/** Calls `onRemoved` when the requests of a deletion are gone from the log. */
export function useRemoved(onRemoved: () => void): void {
  const removed = useQuery({ ...statusQuery(), select: removedIds }).data;
  const before = useRef<string>(undefined);
  const latest = useRef(onRemoved);
  useEffect(() => {
    latest.current = onRemoved;
  });
  useEffect(() => {
    if (before.current !== undefined && removed !== undefined && removed !== before.current) latest.current();
    before.current = removed ?? before.current;
  }, [removed]);
}

function removedIds({ deletions }: { deletions?: readonly { id: string; state: string }[] }): string {
  return (deletions ?? [])
    .filter(({ state }) => state !== "removing")
    .map(({ id }) => id)
    .join(" ");
}
