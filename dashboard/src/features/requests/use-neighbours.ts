/** The requests before and after the open request. */

import { useQuery } from "@tanstack/react-query";
import { neighboursQuery } from "~/api/requests";
import type { LogSearch } from "~/domain/log-search";
import type { Row } from "~/generated/api-types";

/** `previous` and `next` are `null` if there is no such request, or if it is not known yet. */
export type Neighbours = {
  previous: string | null;
  next: string | null;
  /** Whether the request is in the log, but not among the loaded rows. */
  isElsewhere: boolean;
};

/**
 * The neighbors of request `id` in the filtered log. They come from the loaded rows if possible. Otherwise they come
 * from the API, for example for a link to a request of last week.
 *
 * `rows` are the loaded rows. If no rows are loaded yet, the API is not called. `isRecorded` says whether the log has
 * the request.
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
  if (place === -1) return { previous: null, next: null, isElsewhere: false };
  return { previous: near[place - 1]?.id ?? null, next: near[place + 1]?.id ?? null, isElsewhere: !isLoaded };
}
