/** Queries for requests: a page of the log, one request, counts. */

import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { ApiError } from "~/domain/api-error";
import { type LogSearch, queryText, toApiParams, toListParams, withoutQuery } from "~/domain/log-search";
import type { RequestCount, RequestDetail, RequestPage, ResponseProgress, Row } from "~/generated/api-types";
import { apiUrl, getJson, retryWhenUnreachable } from "./client";

/** The first page is small, so that it loads fast. Later pages are larger. */
export const PAGE_ROWS = 100;
const MORE_ROWS = 400;
/** Number of rows of a sorted list. */
export const TOP_ROWS = 200;

/** Position of a page of the log: the newest end, around a request, or after a cursor. */
export type PageParam = { around: string } | { cursor: string } | "newest";

/** A query that the API rejects, and the error message. */
export type QueryError = { readonly text: string; readonly message: string };

/**
 * A page of the log, its search, and the key of its list. If the API rejected the query in the URL, `refused` is this
 * query, and the page was read without it.
 */
export type LogPage = RequestPage &
  Pick<LogSearch, "filter" | "range" | "sort" | "order"> & { listKey: string; refused?: QueryError };

/** Filter and range as API parameters, also used as a cache key. */
export function askedOf(search: LogSearch): [string, string][] {
  return toApiParams(search);
}

/**
 * The log in pages, latest first. Pages can be added at both ends. A sorted list has one page.
 *
 * `anchor` is a request that the first page must include. A new number as `changes` or `reading` reloads all pages.
 */
export function logQuery(search: LogSearch, anchor: string | undefined, changes: number, reading = 0) {
  return infiniteQueryOptions({
    queryKey: ["log", toListParams(search), anchor ?? null, changes, reading],
    queryFn: async ({ pageParam, queryKey, signal }): Promise<LogPage> => {
      const { live: _, ...shown } = search;
      const listKey = JSON.stringify(queryKey);
      const { filter } = shown;
      try {
        return { ...(await pageOrNewest(shown, pageParam, signal)), ...shown, listKey };
      } catch (error) {
        if (!isQueryRefused(error, search)) throw error;
        const rest = { ...shown, filter: withoutQuery(filter) };
        const refused = { text: queryText(filter), message: error.message };
        return { ...(await pageOrNewest(rest, pageParam, signal)), ...rest, listKey, refused };
      }
    },
    initialPageParam: (anchor === undefined ? "newest" : { around: anchor }) as PageParam,
    getNextPageParam: (page): PageParam | undefined =>
      page.next_cursor === null ? undefined : { cursor: page.next_cursor },
    getPreviousPageParam: (page): PageParam | undefined =>
      page.newer_cursor === null ? undefined : { cursor: page.newer_cursor },
    // Pages in the cache do not change, because new rows come from the live stream. A list without a live stream is read
    // again each time it is shown.
    staleTime: search.sort === undefined && search.live !== false ? Number.POSITIVE_INFINITY : 0,
    placeholderData: keepPreviousData,
  });
}

/**
 * Read a page of the log. If the page should be around a request that no longer exists, read the newest page instead.
 */
async function pageOrNewest(search: LogSearch, position: PageParam, signal: AbortSignal): Promise<RequestPage> {
  const params = toListParams(search);
  const limit = search.sort === undefined ? undefined : TOP_ROWS;
  try {
    return await getPage(params, position, signal, limit);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404 && error.param === "around")) throw error;
    return getPage(params, "newest", signal, limit);
  }
}

/** Whether the API rejected the query `q`, and not another parameter. */
function isQueryRefused(error: unknown, { filter }: LogSearch): error is ApiError {
  return error instanceof ApiError && error.status === 400 && error.param === "q" && queryText(filter) !== "";
}

/** Read one page, without using the cache. */
export function getPage(
  params: [string, string][],
  position: PageParam,
  signal?: AbortSignal,
  limit = limitAt(position),
): Promise<RequestPage> {
  const where: [string, string][] = position === "newest" ? [] : Object.entries(position);
  return getJson<RequestPage>(apiUrl("requests", [...params, ...where, ["limit", String(limit)]]), signal);
}

function limitAt(position: PageParam): number {
  return position !== "newest" && "cursor" in position ? MORE_ROWS : PAGE_ROWS;
}

/** A request and the requests next to it in the log, if there are any. */
export function neighboursQuery(search: LogSearch, id: string) {
  const params = askedOf(search);
  return queryOptions({
    queryKey: ["neighbours", params, id],
    queryFn: ({ signal }) => getPage(params, { around: id }, signal, 3),
  });
}

/** The detail of a request. A running request is read again every second. */
export function requestQuery(id: string) {
  return queryOptions({
    queryKey: ["request", id],
    queryFn: ({ signal }) => getJson<RequestDetail>(apiUrl(`requests/${encodeURIComponent(id)}`), signal),
    refetchInterval: (query) => (query.state.data?.outcome === "open" ? 1000 : retryWhenUnreachable(query)),
    staleTime: (query) => (query.state.data?.outcome === "open" ? 0 : Number.POSITIVE_INFINITY),
  });
}

/** How the text of a streamed response grew. */
export function progressQuery(id: string, chunks: number) {
  return queryOptions({
    queryKey: ["progress", id, chunks],
    queryFn: ({ signal }) => getJson<ResponseProgress>(apiUrl(`requests/${encodeURIComponent(id)}/progress`), signal),
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData, // while a running request gets more chunks
  });
}

/**
 * The response of a request and its messages from an index on. Requests of an agent have all earlier messages, so a
 * long conversation would take minutes to load with them.
 */
export function turnQuery(id: string, firstMessage: number) {
  const path = apiUrl(`requests/${encodeURIComponent(id)}`, [["first_message", String(firstMessage)]]);
  return queryOptions({
    queryKey: ["request", id, firstMessage],
    queryFn: ({ signal }) => getJson<RequestDetail>(path, signal),
    refetchInterval: retryWhenUnreachable,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

const TICK_MS = 5_000;

/**
 * Milliseconds until all counts and sums on the page are read again. They are read at the same time, so that they
 * agree.
 */
export function untilTick(everyMs = TICK_MS, now = Date.now()): number {
  const left = everyMs - (now % everyMs);
  // A timer may fire a little early. It must not fire again for the same tick.
  return left < 100 ? left + everyMs : left;
}

/** Milliseconds until the counts beside a log are read again. While the log is paused, they stay the same. */
export function untilNextCount({ live }: Pick<LogSearch, "live">) {
  return live === false ? retryWhenUnreachable : () => untilTick();
}

/** Number of requests that match a filter. With `complete: false`, there may be more. */
export function countQuery(search: LogSearch) {
  const params = askedOf(search);
  return queryOptions({
    queryKey: ["count", params],
    queryFn: ({ signal }) => getJson<RequestCount>(apiUrl("count", params), signal),
    staleTime: 5_000,
    placeholderData: keepPreviousData,
  });
}

/** Number of requests that matched a filter when a list of them was loaded. It is not read again for this list. */
export function countAtLoadingQuery(search: LogSearch, loadedAt: number) {
  const params = askedOf(search);
  return queryOptions({
    queryKey: ["count-at-loading", params, loadedAt],
    queryFn: ({ signal }) => getJson<RequestCount>(apiUrl("count", params), signal),
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: false,
  });
}

/** The newest request in the whole log, including running requests. */
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
