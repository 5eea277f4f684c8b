/** Namespaces: the pinned ones (labels), the many others (threads), and changing how one is shown. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { TimeRange } from "~/filters/filter";
import { apiUrl, getJson, sendJson } from "./client";
import type { FieldValues, Namespace, NamespacePage } from "./types.gen";

/** All labels, with counts for the time range shown. */
export function labelsQuery(range: TimeRange) {
  const pairs: [string, string][] = [
    ["pinned", "true"],
    ["sort", "requests"],
    ["limit", "100"],
    ...Object.entries(range),
  ];
  return queryOptions({
    queryKey: ["labels", range],
    queryFn: ({ signal }) => getJson<NamespacePage>(apiUrl("namespaces", pairs), signal),
    refetchInterval: 5_000,
    placeholderData: keepPreviousData,
  });
}

/** Threads whose name begins with the prefix, most recent first. */
export function threadsQuery(prefix: string) {
  const pairs: [string, string][] = [
    ["pinned", "false"],
    ["sort", "last_at"],
    ["limit", "50"],
    ["prefix", prefix],
  ];
  return queryOptions({
    queryKey: ["threads", prefix],
    queryFn: ({ signal }) => getJson<NamespacePage>(apiUrl("namespaces", pairs), signal),
    staleTime: 2_000,
    placeholderData: keepPreviousData,
  });
}

/** Names of properties, most frequent first. */
export function propertiesQuery() {
  return queryOptions({
    queryKey: ["values", "property"],
    queryFn: ({ signal }) => getJson<FieldValues>(apiUrl("values/property", [["limit", "20"]]), signal),
    staleTime: 30_000,
  });
}

/** Values a field has in the log, most frequent first. */
export function valuesQuery(field: string, prefix: string) {
  return queryOptions({
    queryKey: ["values", field, prefix],
    queryFn: ({ signal }) =>
      getJson<FieldValues>(
        apiUrl(`values/${encodeURIComponent(field)}`, [
          ["prefix", prefix],
          ["limit", "20"],
        ]),
        signal,
      ),
    staleTime: 5_000,
    placeholderData: keepPreviousData,
  });
}

/** Pins a namespace (it becomes a label), or makes it a thread again. For everybody. */
export function pin(namespace: string, pinned: boolean): Promise<Namespace> {
  return sendJson<Namespace>("PATCH", apiUrl("namespaces"), { namespace, pinned });
}
