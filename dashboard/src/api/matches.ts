/** Count the requests that a deletion or a reread would change. */

import { queryOptions } from "@tanstack/react-query";
import type { RequestCount } from "~/generated/api-types";
import { apiUrl, getJson } from "./client";
import { getPage } from "./requests";

/** Parameters of the API that select requests. */
export type Params = readonly (readonly [string, string])[];

/** The numbers of finished and of running requests that match. */
export type Matches = { readonly requests: number; readonly running: number };

/** Counts all matches, without the time limit of the counts that the page shows elsewhere. */
export function matchesQuery(params: Params) {
  return queryOptions({
    queryKey: ["matches", params],
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
