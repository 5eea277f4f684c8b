/** The status query and typed access to the settings in it. */

import { queryOptions, type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { Status } from "~/generated/api-types";
import { apiUrl, getJson } from "./client";

/** Queries that are not read again when requests were deleted: the log starts again by itself. */
const NOT_READ_AGAIN = ["status", "log", "deletion-matches"];

/** The ids of the latest deletions whose requests are gone from the log. */
export function removedIds({ deletions }: Pick<Status, "deletions">): string {
  return (deletions ?? [])
    .filter(({ state }) => state !== "removing")
    .map(({ id }) => id)
    .join(" ");
}

/** How far deletions are, as text. Changes when they have removed more requests; empty if none removes any. */
export function removalProgress({ deletions }: Pick<Status, "deletions">): string {
  return (deletions ?? [])
    .filter(({ state }) => state === "removing")
    .map(({ id, removed }) => `${id} ${removed}`)
    .join(" ");
}

/** Polled every two seconds while the page is visible. */
export function statusQuery() {
  return queryOptions({
    queryKey: ["status"],
    queryFn: async ({ client, signal }) => {
      const status = await getJson<Status>(apiUrl("status"), signal, 4_000);
      const before = client.getQueryData<Status>(["status"]);
      // What the page shows may have requests that were deleted since.
      if (before !== undefined && removedIds(before) !== removedIds(status)) {
        void client.invalidateQueries({ predicate: ({ queryKey }) => !NOT_READ_AGAIN.includes(String(queryKey[0])) });
      }
      return status;
    },
    refetchInterval: 2_000,
  });
}

/** A part of the status; `undefined` until it is loaded. The component renders only when that part changes. */
export function useStatus<T>(select: (status: Status) => T): T | undefined {
  return useQuery({ ...statusQuery(), select }).data;
}

/** A single failed poll is ignored, because the next one may succeed. */
const GRACE_MS = 3_000;

type Poll = Pick<UseQueryResult, "isError" | "errorUpdatedAt" | "dataUpdatedAt">;

/** Whether polls of the status fail. */
export function isFailing({ isError, errorUpdatedAt, dataUpdatedAt }: Poll): boolean {
  return isError && errorUpdatedAt - dataUpdatedAt > GRACE_MS;
}

/** The setting if it is a number; `null` if the server has no such setting. */
export function numberSetting(status: Status, name: string): number | null {
  const value = status.settings[name];
  return typeof value === "number" ? value : null;
}

/** The setting if it is text; `null` if the server has no such setting. */
export function textSetting(status: Status, name: string): string | null {
  const value = status.settings[name];
  return typeof value === "string" ? value : null;
}
