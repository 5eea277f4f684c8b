/** Delete requests, and notice deletions. */

import { useSessionStorage } from "@mantine/hooks";
import { queryOptions, type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import type { DeletionList, DeletionReceipt, DeletionRow, RequestedDeletion } from "~/generated/api-types";
import { apiUrl, getJson, sendJson } from "./client";
import type { Params } from "./matches";
import { PAGE } from "./page-config";
import { removalProgress, useStatus } from "./status";

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
  const [, keep] = useOwnDeletion();
  return useMutation({
    mutationFn: (input: Input) => sendJson<RequestedDeletion>("DELETE", urlOf(input)),
    onSuccess: (deletion) => {
      keep(deletion);
      // Not awaited, so that an open request is closed before it is read again. Reading a deleted request would fail.
      void client.invalidateQueries({ queryKey: ["status"] });
    },
  });
}

/** The latest deletion that was requested in this browser tab, until it is dismissed, also after a reload. */
export function useOwnDeletion() {
  return useSessionStorage<RequestedDeletion | null>({
    key: `relaybook.deletion${PAGE.base}`,
    defaultValue: null,
    getInitialValueInEffect: false,
  });
}

/** Remove the latest deletion of this browser tab from the browser, because its filter can identify a person. */
export function useForgetOwnDeletion(isOutdated: boolean): void {
  const [, , forget] = useOwnDeletion();
  useEffect(() => {
    if (isOutdated) forget();
  }, [isOutdated, forget]);
}

/** Whether the latest deletion of this browser tab deleted the requests of a value of this filter. */
export function useIsDeleted(params: Params): boolean {
  const [own] = useOwnDeletion();
  return own?.filter.some(([name, value]) => params.some((pair) => pair[0] === name && pair[1] === value)) ?? false;
}

/** The latest deletions, newest first. */
export function deletionsQuery() {
  return queryOptions({
    queryKey: ["deletions"],
    queryFn: ({ signal }) => getJson<DeletionList>(apiUrl("deletions"), signal),
    refetchInterval: ({ state }) => (state.data?.data.some(({ state: each }) => each !== "done") ? 2_000 : 30_000),
  });
}

/** The receipt of a deletion. With the filter of the deletion, it says how many requests match the filter now. */
export function receiptQuery(id: string, params: Params) {
  return queryOptions({
    queryKey: ["deletions", id, params],
    queryFn: ({ signal }) => getJson<DeletionReceipt>(receiptUrl(id, params), signal),
    refetchInterval: ({ state }) => (state.data?.state === "done" ? 30_000 : 1_000),
  });
}

export function receiptUrl(id: string, params: Params): string {
  return apiUrl(`deletions/${encodeURIComponent(id)}`, params);
}

/** The values of the filter that are known. The log forgets them when the requests are removed. */
export function knownParams({ filter }: Pick<DeletionRow, "filter">): Params {
  return filter.flatMap(([name, value]): [string, string][] => (value === null ? [] : [[name, value]]));
}

/** Calls `onProgress` each time a running deletion has removed more requests. */
export function useRemovalProgress(onProgress: () => void): void {
  const progress = useStatus(removalProgress) ?? "";
  const tell = useEffectEvent(onProgress);
  useEffect(() => {
    if (progress !== "") tell();
  }, [progress]);
}
