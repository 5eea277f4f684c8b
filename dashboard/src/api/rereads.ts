/** Request rereads, and follow their progress. */

import { queryOptions, type UseMutationResult, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { RereadList, RereadRow } from "~/generated/api-types";
import { apiUrl, getJson, sendJson } from "./client";
import type { Params } from "./matches";
import { showLogChange } from "./status";

const POLL_MS = 1_000;

/**
 * The running reread, whoever requested it. If none is running, the last reread that was running since the page was
 * loaded, or `null`. When a reread is done, all shown data of requests is reloaded.
 */
export function rereadQuery() {
  return queryOptions({
    queryKey: ["reread"],
    queryFn: async ({ client, signal }): Promise<RereadRow | null> => {
      const before = client.getQueryData<RereadRow | null>(["reread"]) ?? null;
      if (before?.state !== "reading") return (await findRunning(signal)) ?? before;
      const reread = await getJson<RereadRow>(apiUrl(`rereads/${before.id}`), signal);
      if (reread.state === "done") showLogChange(client);
      return reread;
    },
    refetchInterval: ({ state }) => (state.data?.state === "reading" ? POLL_MS : false),
    gcTime: Infinity,
  });
}

async function findRunning(signal: AbortSignal): Promise<RereadRow | undefined> {
  const { data } = await getJson<RereadList>(apiUrl("rereads"), signal);
  return data.find(({ state }) => state === "reading");
}

/** The running reread, if the page knows of one. */
export function useRunningReread(): RereadRow | undefined {
  const known = useQuery({ ...rereadQuery(), enabled: ({ state }) => state.data?.state === "reading" }).data;
  return known?.state === "reading" ? known : undefined;
}

/** Read the requests that match again. */
export function useRequestReread(params: Params): UseMutationResult<RereadRow, Error, void> {
  const client = useQueryClient();
  const { queryKey } = rereadQuery();
  return useMutation({
    mutationFn: () => sendJson<RereadRow>("POST", apiUrl("rereads", params)),
    onSuccess: async (reread) => {
      // An earlier response must not replace the new reread.
      await client.cancelQueries({ queryKey });
      client.setQueryData(queryKey, reread);
    },
  });
}
