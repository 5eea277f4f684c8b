/** The values a field has in the log, to be read through. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { FieldValues } from "~/generated/api-types";
import { apiUrl, getJson } from "./client";

/** The API gives no more; of a field with more values the beginning of one must be given. */
export const MOST_VALUES = 500;

/** Values that begin with the prefix, most frequent first. The field `property` has the names of properties. */
export function valueListQuery(field: string, prefix: string) {
  const asked: [string, string][] = [
    ["prefix", prefix],
    ["limit", String(MOST_VALUES)],
  ];
  return queryOptions({
    queryKey: ["value-list", field, prefix],
    queryFn: ({ signal }) => getJson<FieldValues>(apiUrl(`values/${encodeURIComponent(field)}`, asked), signal),
    staleTime: 2_000,
    placeholderData: keepPreviousData,
  });
}

/** A few values to choose from while somebody types; until they are there, those of what was typed before. */
export function offeredValuesQuery(field: string, prefix: string) {
  const asked: [string, string][] = [
    ["prefix", prefix],
    ["limit", "20"],
  ];
  return queryOptions({
    queryKey: ["offered-values", field, prefix],
    queryFn: ({ signal }) => getJson<FieldValues>(apiUrl(`values/${encodeURIComponent(field)}`, asked), signal),
    staleTime: 5_000,
    placeholderData: (last, query) => (query?.queryKey[1] === field ? last : undefined),
  });
}
