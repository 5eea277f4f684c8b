/** The status query and typed access to the settings in it. */

import { queryOptions } from "@tanstack/react-query";
import type { Status } from "~/generated/api-types";
import { apiUrl, getJson } from "./client";

/** Asked every two seconds while the page is in sight. */
export function statusQuery() {
  return queryOptions({
    queryKey: ["status"],
    queryFn: ({ signal }) => getJson<Status>(apiUrl("status"), signal, 4_000),
    refetchInterval: 2_000,
  });
}

/** A setting that is a number; null where the server has none of that name. */
export function numberSetting(status: Status, name: string): number | null {
  const value = status.settings[name];
  return typeof value === "number" ? value : null;
}

/** A setting that is a text. */
export function textSetting(status: Status, name: string): string | null {
  const value = status.settings[name];
  return typeof value === "string" ? value : null;
}
