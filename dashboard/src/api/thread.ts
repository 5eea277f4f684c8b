/** Queries for a thread. */

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Filter } from "~/domain/filter";
import { type LogSearch, toApiParams } from "~/domain/log-search";
import type { Thread } from "~/generated/api-types";
import { apiUrl, getJson } from "./client";

/** The first page is small, so that it loads fast. Later pages are larger. */
const PAGE_ROWS = 60;
const MORE_ROWS = 200;
/** The maximum number of rows that the API returns. */
const WIDE_ROWS = 500;

/** Number of requests on the latest page, and on a page around a request. */
const SOME_ROWS = 100;

type Params = readonly (readonly [string, string])[];
type PageParam = { cursor: string | undefined; limit: number };

/** The thread in pages, latest first. With `isFar`, the pages are large, because the request to show may be old. */
export function threadQuery(search: LogSearch, isFar: boolean) {
  const params = toApiParams(search);
  return infiniteQueryOptions({
    queryKey: ["thread", params],
    queryFn: ({ pageParam, signal }) => getThread(params, pageParam, signal),
    initialPageParam: { cursor: undefined, limit: isFar ? WIDE_ROWS : PAGE_ROWS } as PageParam,
    getNextPageParam: (page): PageParam | undefined =>
      page.next_cursor === null ? undefined : { cursor: page.next_cursor, limit: isFar ? WIDE_ROWS : MORE_ROWS },
    staleTime: 2_000,
  });
}

function getThread(params: Params, { cursor, limit }: PageParam, signal?: AbortSignal): Promise<Thread> {
  const where: [string, string][] = cursor === undefined ? [] : [["cursor", cursor]];
  return getJson<Thread>(apiUrl("thread", [...params, ["limit", String(limit)], ...where]), signal);
}

/** Read the latest requests of a thread, without using the cache. */
export function getLatestThread(params: Params): Promise<Thread> {
  return getThread(params, { cursor: undefined, limit: PAGE_ROWS });
}

/** The latest requests of a thread, each with its position in its conversation. */
export function latestOfThreadQuery(filter: Filter) {
  const params = toApiParams({ filter, range: {} });
  return queryOptions({
    queryKey: ["latest-of-thread", params],
    queryFn: ({ signal }) => getJson<Thread>(apiUrl("thread", [...params, ["limit", String(SOME_ROWS)]]), signal),
    staleTime: 10_000,
  });
}

/** Whether the latest requests of a namespace, session or property value continue one another. */
export function isConversationQuery(filter: Filter) {
  return {
    ...latestOfThreadQuery(filter),
    select: ({ is_thread }: Thread) => is_thread,
    staleTime: 60_000,
    refetchInterval: false as const,
  };
}

/** The requests around a request of a thread, each with its position in its conversation if this is known. */
export function aroundInThreadQuery(filter: Filter, id: string) {
  const params = toApiParams({ filter, range: {} });
  const around: [string, string][] = [
    ["limit", String(SOME_ROWS)],
    ["around", id],
  ];
  return queryOptions({
    queryKey: ["around-in-thread", params, id],
    queryFn: ({ signal }) => getJson<Thread>(apiUrl("thread", [...params, ...around]), signal),
  });
}
