/** The status query and typed access to the settings in it. */

import { type QueryClient, queryOptions, skipToken, type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { Status } from "~/generated/api-types";
import { apiUrl, getJson } from "./client";

/** Keys of the queries that are not read again when requests have changed. The log reloads by itself. */
const NOT_READ_AGAIN = ["status", "log", "matches", "reread"];

/** The ids of the latest deletions whose requests are gone from the log. */
export function removedIds({ deletions }: Pick<Status, "deletions">): string {
  return (deletions ?? [])
    .filter(({ state }) => state !== "removing")
    .map(({ id }) => id)
    .join(" ");
}

/**
 * The progress of running deletions as text. It changes when more requests are removed. It is empty if no deletion is
 * running.
 */
export function removalProgress({ deletions }: Pick<Status, "deletions">): string {
  return (deletions ?? [])
    .filter(({ state }) => state === "removing")
    .map(({ id, removed }) => `${id} ${removed}`)
    .join(" ");
}

/** The status, which is polled every two seconds while the page is visible. */
export function statusQuery() {
  return queryOptions({
    queryKey: ["status"],
    queryFn: async ({ client, signal }) => {
      const status = await getJson<Status>(apiUrl("status"), signal, 4_000);
      const before = client.getQueryData<Status>(["status"]);
      if (before !== undefined) forgetRemoved(client, before, status);
      return status;
    },
    refetchInterval: 2_000,
  });
}

/** If requests were removed since the last poll, discard or reload the cached data that may contain them. */
function forgetRemoved(client: QueryClient, before: Status, status: Status): void {
  const areGone = removedIds(before) !== removedIds(status);
  if (areGone) showLogChange(client);
  else if (removalProgress(before) !== removalProgress(status)) forgetLists(client);
}

function forgetLists(client: QueryClient): void {
  client.removeQueries({ queryKey: ["log"], type: "inactive" });
}

/** Reload all shown data of requests, because requests in the log were removed or replaced. */
export function showLogChange(client: QueryClient): void {
  forgetLists(client);
  client.setQueryData(logChangesQuery().queryKey, logChangesOf(client) + 1);
  void client.invalidateQueries({ predicate: ({ queryKey }) => !NOT_READ_AGAIN.includes(String(queryKey[0])) });
}

/** A query for the number that `logChangesOf` returns. The query has no data before the first change. */
function logChangesQuery() {
  return queryOptions<number>({ queryKey: ["log-changes"], queryFn: skipToken, gcTime: Infinity });
}

/** How often a deletion or a reread was completed since the page was loaded. */
export function logChangesOf(client: QueryClient): number {
  return client.getQueryData(logChangesQuery().queryKey) ?? 0;
}

/** How often a deletion or a reread was completed since the page was loaded. */
export function useLogChanges(): number {
  return useQuery(logChangesQuery()).data ?? 0;
}

/**
 * A part of the status, or `undefined` until the status is loaded. The component renders only when this part changes.
 */
export function useStatus<T>(select: (status: Status) => T): T | undefined {
  return useQuery({ ...statusQuery(), select }).data;
}

/** Whether the server has more than one route. False until the status is loaded. */
export function useHasRoutes(): boolean {
  return useStatus(({ routes }) => (routes ?? []).length > 1) ?? false;
}

/** A single failed poll is ignored, because the next poll may succeed. */
const GRACE_MS = 3_000;

type Poll = Pick<UseQueryResult, "isError" | "errorUpdatedAt" | "dataUpdatedAt">;

/** Whether the status could not be polled for longer than the grace period. */
export function isFailing({ isError, errorUpdatedAt, dataUpdatedAt }: Poll): boolean {
  return isError && errorUpdatedAt - dataUpdatedAt > GRACE_MS;
}

/** The value of a setting if it is a number, otherwise `null`. */
export function numberSetting(status: Status, name: string): number | null {
  const value = status.settings[name];
  return typeof value === "number" ? value : null;
}

/** The value of a setting if it is text, otherwise `null`. */
export function textSetting(status: Status, name: string): string | null {
  const value = status.settings[name];
  return typeof value === "string" ? value : null;
}
