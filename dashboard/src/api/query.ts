/** Parsed queries, and suggestions for the query input. */

import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { ParsedQuery } from "~/generated/api-types";
import { apiUrl, getJson } from "./client";

/** The parsed query, and suggestions at the caret. */
export function parsedQuery(text: string, caret = text.length) {
  const params: [string, string][] = [
    ["q", text],
    ["caret", String(caret)],
  ];
  return queryOptions({
    queryKey: ["query", text, caret],
    queryFn: ({ signal }) => getJson<ParsedQuery>(apiUrl("query", params), signal),
    staleTime: 5_000,
    placeholderData: keepPreviousData,
    refetchInterval: false,
  });
}
