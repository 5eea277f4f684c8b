/** Delete requests, and notice deletions. */

import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import type { RequestedDeletion } from "~/generated/api-types";
import { apiUrl, sendJson } from "./client";
import type { Params } from "./matches";
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
  return useMutation({
    mutationFn: (input: Input) => sendJson<RequestedDeletion>("DELETE", urlOf(input)),
    onSuccess: () => {
      // Not awaited, so that an open request is closed before it is read again. Reading a deleted request would fail.
      void client.invalidateQueries({ queryKey: ["status"] });
    },
  });
}

/** Calls `onProgress` each time a running deletion has removed more requests. */
export function useRemovalProgress(onProgress: () => void): void {
  const progress = useStatus(removalProgress) ?? "";
  const tell = useEffectEvent(onProgress);
  useEffect(() => {
    if (progress !== "") tell();
  }, [progress]);
}
