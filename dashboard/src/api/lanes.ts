/** The query for the lanes of a thread. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { type LogSearch, toApiParams } from "~/domain/log-search";
import type { Lanes } from "~/generated/api-types";
import { apiUrl, getJson } from "./client";

/** When the models and the tools of a thread ran. They are read again if the newest request of the thread changes. */
export function lanesQuery(search: LogSearch, newest: string | undefined) {
  const params = toApiParams(search);
  return queryOptions({
    queryKey: ["lanes", params, newest ?? null],
    queryFn: ({ signal }) => getJson<Lanes>(apiUrl("lanes", params), signal),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
}
