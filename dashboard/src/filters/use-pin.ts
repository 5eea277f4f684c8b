/** Pins a namespace as a label, or makes it a thread again; the page then shows it so everywhere. */

import { type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { pin } from "~/api/namespaces";
import type { Namespace } from "~/generated/api-types";

export type Pinning = { namespace: string; pinned: boolean };

export function usePin(): UseMutationResult<Namespace, Error, Pinning> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ namespace, pinned }: Pinning) => pin(namespace, pinned),
    onSuccess: () =>
      Promise.all(["labels", "threads", "status"].map((name) => client.invalidateQueries({ queryKey: [name] }))),
  });
}

/** What to say when it failed. */
export function notPinned(asked: Pinning | undefined, error: Error): string {
  return `${asked?.namespace} was not ${asked?.pinned ? "pinned" : "unpinned"}: ${error.message}`;
}
