/** How Relaybook is. */

import { queryOptions } from "@tanstack/react-query";
import { apiUrl, getJson } from "./client";
import type { Status } from "./types.gen";

/** Asked every two seconds while the page is in sight. */
export function statusQuery() {
  return queryOptions({
    queryKey: ["status"],
    queryFn: ({ signal }) => getJson<Status>(apiUrl("status"), signal, 4_000),
    refetchInterval: 2_000,
  });
}
