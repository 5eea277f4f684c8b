/** List, save and delete saved filters, for everyone who uses the log. */

import { queryOptions, type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { type LogSearch, toListParams } from "~/domain/log-search";
import type { SavedFilterList, SavedFilterRow } from "~/generated/api-types";
import { apiUrl, getJson, sendJson } from "./client";

/** All saved filters, by name. */
export function savedFiltersQuery() {
  return queryOptions({
    queryKey: ["saved-filters"],
    queryFn: ({ signal }) => getJson<SavedFilterList>(apiUrl("saved-filters"), signal),
    select: ({ data }) => data,
    staleTime: 2_000,
  });
}

export type NamedSearch = { name: string; search: LogSearch };

/** Save filter, time range and sort field under a name. An existing filter with this name is replaced. */
export function useSaveFilter(): UseMutationResult<SavedFilterRow, Error, NamedSearch> {
  return useChange(({ name, search }) => sendJson("PUT", urlOf(name), { params: toListParams(search) }));
}

/** Delete the saved filter with this name. */
export function useDeleteFilter(): UseMutationResult<SavedFilterRow, Error, string> {
  return useChange((name) => sendJson("DELETE", urlOf(name)));
}

function useChange<Input>(mutationFn: (input: Input) => Promise<SavedFilterRow>) {
  const client = useQueryClient();
  return useMutation({ mutationFn, onSettled: () => client.invalidateQueries({ queryKey: ["saved-filters"] }) });
}

function urlOf(name: string): string {
  return apiUrl(`saved-filters/${encodeURIComponent(name)}`);
}
