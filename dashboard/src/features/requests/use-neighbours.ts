/** The requests before and after the open one. */

import { useQuery } from "@tanstack/react-query";
import { neighboursQuery } from "~/api/requests";
import type { LogSearch } from "~/domain/log-search";
import type { Row } from "~/generated/api-types";

/** `null`: there is none, or it is not known yet. */
export type Neighbours = {
  newer: string | null;
  older: string | null;
  /** The log has the request, but not among its rows that are loaded. */
  isElsewhere: boolean;
};

/**
 * The neighbours of request `id` in the filtered log: from the loaded rows, or else from the API, such as for a link to
 * a request of last week.
 *
 * `rows`: the loaded rows. If there are none yet, the API is not called. `isRecorded`: the log has the request.
 */
export function useNeighbours(
  search: LogSearch,
  id: string | undefined,
  rows: readonly Row[],
  isRecorded: boolean,
): Neighbours {
  const isLoaded = id === undefined || rows.some((row) => row.id === id);
  const isAsked = isRecorded && !isLoaded && rows.length > 0;
  const { data } = useQuery({ ...neighboursQuery(search, id ?? ""), enabled: isAsked });
  const near = isLoaded ? rows : (data?.data ?? []);
  const place = id === undefined ? -1 : near.findIndex((row) => row.id === id);
  if (place === -1) return { newer: null, older: null, isElsewhere: false };
  return { newer: near[place - 1]?.id ?? null, older: near[place + 1]?.id ?? null, isElsewhere: !isLoaded };
}
