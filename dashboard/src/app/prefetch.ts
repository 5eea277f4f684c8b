/** Start the first API calls before React renders. */

import type { QueryClient } from "@tanstack/react-query";
import { labelsQuery, propertiesQuery } from "~/api/namespaces";
import { PAGE } from "~/api/page-config";
import { logQuery } from "~/api/requests";
import { statusQuery } from "~/api/status";
import { parseSearch, queryText } from "~/domain/log-search";

export function startReading(client: QueryClient): void {
  const { pathname, search: text } = window.location;
  const isNewestOfLog = pathname === `${PAGE.base}/requests` && window.history.state?.anchor === undefined;
  if (!isNewestOfLog) return;
  const search = parseSearch(text);
  // If the URL has a query, it is first converted to parameters.
  if (queryText(search.filter) === "") void client.prefetchInfiniteQuery(logQuery(search, undefined, 0));
  void client.prefetchQuery(labelsQuery(search));
  void client.prefetchQuery(propertiesQuery());
  void client.prefetchQuery(statusQuery());
}
