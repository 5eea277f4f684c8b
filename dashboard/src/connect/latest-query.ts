/** The newest request of the whole log, running ones included. */

import { queryOptions } from "@tanstack/react-query";
import { getPage } from "~/api/requests";
import type { Row } from "~/generated/api-types";

export function latestQuery() {
  return queryOptions({
    queryKey: ["latest-request"],
    queryFn: async ({ signal }): Promise<Row | null> => {
      const page = await getPage([], "newest", signal, 1);
      return [...(page.running ?? []), ...page.data].sort(laterFirst)[0] ?? null;
    },
    refetchInterval: 2_000,
  });
}

function laterFirst(one: Row, other: Row): number {
  return other.started_at.localeCompare(one.started_at);
}
