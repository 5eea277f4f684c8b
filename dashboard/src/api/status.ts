/** The status query and typed access to the settings in it. */

import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Status } from "~/generated/api-types";
import { apiUrl, getJson } from "./client";

/** Polled every two seconds while the page is visible. */
export function statusQuery() {
  return queryOptions({
    queryKey: ["status"],
    queryFn: ({ signal }) => getJson<Status>(apiUrl("status"), signal, 4_000),
    refetchInterval: 2_000,
  });
}

/** A part of the status; `undefined` until it is loaded. The component renders only when that part changes. */
export function useStatus<T>(select: (status: Status) => T): T | undefined {
  return useQuery({ ...statusQuery(), select }).data;
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
