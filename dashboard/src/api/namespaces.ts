/** Query namespaces and field values, and pin namespaces. */

import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  type UseMutationResult,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import type { LogSearch } from "~/domain/log-search";
import type { FieldValues, Namespace, NamespacePage } from "~/generated/api-types";
import { apiUrl, getJson, sendJson } from "./client";
import { untilNextCount } from "./requests";

/** All pinned namespaces, with counts for the time range. The filter does not matter. */
export function labelsQuery(search: LogSearch) {
  const { range } = search;
  const pairs: [string, string][] = [
    ["pinned", "true"],
    ["sort", "requests"],
    ["limit", "100"],
    ...Object.entries(range),
  ];
  return queryOptions({
    queryKey: ["labels", range],
    queryFn: ({ signal }) => getJson<NamespacePage>(apiUrl("namespaces", pairs), signal),
    refetchInterval: untilNextCount(search),
    placeholderData: keepPreviousData,
  });
}

/** Namespaces whose name contains the text, most recent first. */
export function recentNamespacesQuery(text: string) {
  const pairs: [string, string][] = [
    ["sort", "last_at"],
    ["limit", "50"],
    ["contains", text],
  ];
  return queryOptions({
    queryKey: ["recent-namespaces", text],
    queryFn: ({ signal }) => getJson<NamespacePage>(apiUrl("namespaces", pairs), signal),
    staleTime: 2_000,
    placeholderData: keepPreviousData,
  });
}

/** Parameters of the list of namespaces. `pinned` is "true" for pinned namespaces only, and "false" for all others. */
export type NamespaceListParams = {
  readonly prefix: string;
  readonly sort: string;
  readonly pinned: string | undefined;
};

/** Number of namespaces on a page of the list. */
export const NAMESPACES_A_PAGE = 100;

/** Namespaces in pages, sorted in descending order, with their counts since the log began. */
export function namespacesQuery({ prefix, sort, pinned }: NamespaceListParams) {
  const params: [string, string][] = [
    ["contains", prefix],
    ["sort", sort],
    ["limit", String(NAMESPACES_A_PAGE)],
  ];
  if (pinned !== undefined) params.push(["pinned", pinned]);
  return infiniteQueryOptions({
    queryKey: ["namespaces", params],
    queryFn: ({ pageParam, signal }) => {
      const where: [string, string][] = pageParam === null ? [] : [["cursor", pageParam]];
      return getJson<NamespacePage>(apiUrl("namespaces", [...params, ...where]), signal);
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
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
/** Pin or unpin a namespace for all users of the log. */
export function pin(namespace: string, pinned: boolean): Promise<Namespace> {
  return sendJson<Namespace>("PATCH", apiUrl("namespaces"), { namespace, pinned });
}

/** The maximum number of values that the API returns. A field with more values needs a prefix. */
export const MAX_VALUES = 500;

/**
 * Values that start with the prefix, most frequent first. The values of the field `property` are the names of
 * properties.
 */
export function valueListQuery(field: string, prefix: string) {
  const params: [string, string][] = [
    ["prefix", prefix],
    ["limit", String(MAX_VALUES)],
  ];
  return queryOptions({
    queryKey: ["value-list", field, prefix],
    queryFn: ({ signal }) => getJson<FieldValues>(apiUrl(`values/${encodeURIComponent(field)}`, params), signal),
    staleTime: 2_000,
    placeholderData: keepPreviousData,
  });
}

export type Pinning = { namespace: string; pinned: boolean };

/** Pin or unpin a namespace, and reload the queries that show pinned namespaces. */
export function usePin(): UseMutationResult<Namespace, Error, Pinning> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ namespace, pinned }: Pinning) => pin(namespace, pinned),
    onSuccess: () => Promise.all(["labels", "status"].map((name) => client.invalidateQueries({ queryKey: [name] }))),
  });
}

/** The error message if a namespace could not be pinned or unpinned. */
export function notPinned(pinning: Pinning | undefined, error: Error): string {
  return `${pinning?.namespace} was not ${pinning?.pinned ? "pinned" : "unpinned"}: ${error.message}`;
}
