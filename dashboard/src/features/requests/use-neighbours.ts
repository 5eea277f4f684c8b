/** The requests before and after the open one. */

import { useQuery } from "@tanstack/react-query";
import { neighboursQuery } from "~/api/requests";
import type { LogSearch } from "~/domain/log-search";

/** `null`: there is none, or it is not known yet. */
export type Neighbours = {
  newer: string | null;
  older: string | null;
  /** The log has the request, but not among its rows that are loaded. */
  isElsewhere: boolean;
};

/**
 * Of request `id` in the log as it is filtered: rows that are loaded know, else the API is asked, as for a link to a
 * request of last week.
 *
 * `ids`: of the rows that are loaded; empty: there are none yet, and nothing is asked. `isRecorded`: the log has it.
 */
export function useNeighbours(
  search: LogSearch,
  id: string | undefined,
  ids: readonly string[],
  isRecorded: boolean,
): Neighbours {
  const isLoaded = id === undefined || ids.includes(id);
  const isAsked = isRecorded && !isLoaded && ids.length > 0;
  const { data } = useQuery({ ...neighboursQuery(search, id ?? ""), enabled: isAsked });
  const near = isLoaded ? ids : (data?.data.map((row) => row.id) ?? []);
  const place = id === undefined ? -1 : near.indexOf(id);
  if (place === -1) return { newer: null, older: null, isElsewhere: false };
  return { newer: near[place - 1] ?? null, older: near[place + 1] ?? null, isElsewhere: !isLoaded };
}
