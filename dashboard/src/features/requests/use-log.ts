/** The log as loaded pages plus live rows. */

import { useInterval } from "@mantine/hooks";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import { serverTime } from "~/api/client";
import { useRemovalProgress } from "~/api/deletions";
import { type HoldReason, heldQuery, useLive } from "~/api/live-stream";
import { askedOf, getPage, type LogPage, logQuery, PAGE_ROWS, type QueryError } from "~/api/requests";
import { useLogChanges } from "~/api/status";
import { type Filter, hasWords, isOnlyValue } from "~/domain/filter";
import { type LogSearch, queryText, toListParams, withColumns, withSort } from "~/domain/log-search";
import { parseTimestamp } from "~/domain/time-range";
import type { LikelyValue, RequestCount, RequestPage, Row } from "~/generated/api-types";
import {
  createLiveLog,
  type LiveLog,
  MAX_LIVE,
  pendingCount,
  receiveRows,
  reconcile,
  showPending,
  startedSince,
} from "./log-model";

/** Above this rate new rows stay pending. */
const RUSH_PER_SECOND = 50;

/** Up to this rate, the counts are read again with each row. */
const CALM_PER_SECOND = 5;

/** A row that leaves a relative time range disappears after at most this time. */
const RANGE_MS = 5_000;

/** The key of the list while rows of the previous filter are still shown. */
export const PREVIOUS_LIST = "previous";

/** The list that the table shows. The object stays the same until one of its values changes. */
export type RowList = {
  /** The key changes when rows of another filter are shown. */
  key: string;
  /** The search to which the rows belong. While the rows for the URL are loading, it is the previous search. */
  search: LogSearch;
  rows: readonly Row[];
  /** Whether the rows include the newest row, so that pending rows can be shown above them. */
  includesNewest: boolean;
  isLoading: boolean;
  /** Whether the search for older rows stopped at its time limit. `loadOlder` continues it. */
  isStopped: boolean;
  loadOlder: () => void;
  loadNewer: () => void;
};

export type Log = {
  list: RowList;
  /** Number of pending rows. 0 if the number is unknown because rows may be missing. */
  pendingCount: number;
  /** Number of running requests among the rows. */
  running: number;
  isEmpty: boolean;
  /** Whether the search was completed before its deadline. */
  isComplete: boolean;
  /** When the rows were loaded, in milliseconds since 1970. */
  loadedAt: number;
  error: Error | null;
  /** The query in the URL if the API rejects it. The rows are then from a search without the query. */
  refused: QueryError | undefined;
  /** Values that the user probably meant, if nothing matches. */
  likelyValues: readonly LikelyValue[];
  /** Shows the pending rows. */
  showPending: () => void;
  /** Reads the log again from its newest end. */
  refetch: () => void;
  /** Reads the page again that could not be read. */
  retryPage: () => void;
};

/** Functions that are called when the list changes. */
type MayMove = {
  /** Called when new rows would move the other rows down. Returns why these may not move, or `undefined`. */
  onNewRows: () => HoldReason | undefined;
  /** Called when deleted rows would disappear and the list would return to its newest end. Returns if it may. */
  onDeletion: () => boolean;
};

/** `firstRow` returns the first visible row, or `undefined` if the reader is at the newest end. */
type Place = { firstRow: () => string | undefined };

/** The row around which a list is read after a deletion or a reread. */
type Kept = { changes: number; listKey: string; row: string | undefined };

/** The log that a search selects, with live rows while it is not sorted. */
export function useLog(search: LogSearch, anchor: string | undefined, mayMove: MayMove & Place): Log {
  const [reading, setReading] = useState(0);
  const changes = useLogChanges();
  const listKey = JSON.stringify([toListParams(search), anchor]);
  // After a deletion or a reread, the list is read around the row that the reader sees, so that this row keeps its
  // position.
  const [kept, setKept] = useState<Kept>({ changes, listKey, row: undefined });
  if (kept.changes !== changes || kept.listKey !== listKey) {
    const isKept = kept.listKey === listKey && search.sort === undefined;
    setKept({ changes, listKey, row: isKept ? mayMove.firstRow() : undefined });
  }
  const center = kept.row ?? anchor;
  const options = logQuery(search, center, changes, reading);
  const query = useInfiniteQuery(options);
  const askedKey = JSON.stringify(options.queryKey);
  // While a failed read is retried, the error stays, and the rows of the previous list do not reappear.
  const [failed, setFailed] = useState<{ key: string; error: Error }>();
  if (query.isLoadingError && failed?.error !== query.error) setFailed({ key: askedKey, error: query.error });
  const isRetry = failed?.key === askedKey && (query.isPending || query.isPlaceholderData);
  const pages = isRetry ? undefined : query.data?.pages;
  const key = query.isPlaceholderData && !isRetry ? PREVIOUS_LIST : askedKey;

  const first = pages?.[0];
  const { filter, range, sort, order } = first ?? search;
  const { columns } = search;
  const asked = useMemo(() => askedOf({ filter, range }), [filter, range]);
  const start = useMemo(
    () => createLiveLog(first === undefined ? NONE : runningOf(first, filter), isOnlyValue(filter, "outcome", "open")),
    [first, filter],
  );
  const [state, setState] = useState<{ key: string; log: LiveLog }>({ key: "", log: start });
  // The list of the shown rows. While the rows for the URL are loading, it is the previous list with its live rows.
  const shownList = first?.listKey ?? key;
  const live = state.key === shownList ? state.log : start;
  const history = useMemo(() => pages?.flatMap((page) => page.data) ?? [], [pages]);
  const known = useMemo(() => new Set(history.map((row) => row.id)), [history]);
  const newest = history[0]?.seq ?? 0;
  const isAtNewest = startsAtNewest(pages, center);
  const includesNewest = !live.hasGap && isAtNewest;

  const shownKey = useRef(key);
  useLayoutEffect(() => {
    shownKey.current = key;
  }, [key]);
  const change = useCallback(
    (next: (log: LiveLog) => LiveLog) => {
      // A response for a previous list may arrive late.
      if (shownKey.current !== key) return;
      setState((last) => {
        const before = last.key === shownList ? last.log : start;
        const log = next(before);
        return log === before ? last : { key: shownList, log };
      });
    },
    [key, shownList, start],
  );
  const refetch = useCallback(() => {
    // A number that was never used, so that no earlier list is shown.
    setReading(Date.now());
    setKept((last) => ({ ...last, row: undefined }));
  }, []);

  // When a deletion ends, every list is reloaded. While a deletion is running, a list is also reloaded if its rows may
  // move.
  useRemovalProgress(() => {
    if (mayMove.onDeletion()) refetch();
  });

  const recount = useRecount(asked);
  const [hold, setHold] = useState<HoldReason>();
  const isLiveOn = search.live !== false && search.sort === undefined;
  useLive(
    asked,
    isLiveOn && pages !== undefined && !query.isPlaceholderData,
    {
      onRows: (rows, perSecond) => {
        const ended = rows.filter(({ id, outcome }) => outcome !== "open" && !known.has(id)).length;
        if (ended > 0 && perSecond <= CALM_PER_SECOND) recount(known.size + live.finished.length + ended);
        const reason = includesNewest ? (perSecond > RUSH_PER_SECOND ? "rush" : mayMove.onNewRows()) : "older";
        setHold(reason);
        const moves = reason === undefined;
        if (moves && live.finished.length > MAX_LIVE) return refetch();
        change((log) => (moves ? showPending(receiveRows(log, rows)) : receiveRows(log, rows)));
      },
      onOpen: () => {
        void readMissed(asked, live, newest).then(({ page, ended }) => {
          const running = runningOf(page, filter);
          const catchUp = (log: LiveLog) => receiveRows(reconcile(log, newest, page, running), ended);
          const reason = includesNewest ? mayMove.onNewRows() : "older";
          setHold(reason);
          if (catchUp(live).hasGap && reason === undefined) refetch();
          else change((log) => settle(catchUp(log), reason === undefined));
        }, noMatter);
      },
    },
    key,
  );

  const all = useMemo(() => {
    const added = isAtNewest ? live.visible.filter((row) => !known.has(row.id)) : NONE;
    return added.length === 0 ? history : added.concat(history);
  }, [history, known, live.visible, isAtNewest]);
  // Rows that started before the start of a range such as the last hour disappear while the rows may move.
  const [since, setSince] = useState<{ key: string; at: number }>();
  const rows = useMemo(() => (since?.key === key ? startedSince(all, since.at) : all), [all, since, key]);
  const dropOld = () => {
    if (!isLiveOn || !range.from?.startsWith("-") || mayMove.onNewRows() !== undefined) return;
    const at = parseTimestamp(range.from, serverTime())?.getTime();
    if (at !== undefined && startedSince(rows, at) !== rows) setSince({ key, at });
  };
  useInterval(dropOld, RANGE_MS, { autoInvoke: true });

  const pending = live.hasGap ? 0 : pendingCount(live, known);
  useHeld(pending > 0 || live.hasGap ? hold : undefined);

  const { live: isLive } = search;
  const shownSearch = useMemo(() => {
    const shown = isLive === false ? { filter, range, live: isLive } : { filter, range };
    return withColumns(withSort(shown, sort, order), columns);
  }, [filter, range, isLive, sort, order, columns]);

  const { hasNextPage, isFetching, fetchNextPage, fetchPreviousPage } = query;
  const isLoading = query.isFetchingNextPage || (query.isPending && !isRetry);
  const isStopped = hasNextPage && pages?.at(-1)?.complete === false;
  const list = useMemo(
    () => ({
      key,
      search: shownSearch,
      rows,
      includesNewest,
      isLoading,
      isStopped,
      loadOlder: () => {
        if (hasNextPage && !isFetching) void fetchNextPage();
      },
      loadNewer: () => {
        if (!isAtNewest && !isFetching) void fetchPreviousPage();
      },
    }),
    [
      key,
      shownSearch,
      rows,
      includesNewest,
      isLoading,
      isStopped,
      hasNextPage,
      isFetching,
      isAtNewest,
      fetchNextPage,
      fetchPreviousPage,
    ],
  );

  return {
    list,
    pendingCount: pending,
    running: isAtNewest ? live.visible.filter(({ outcome }) => outcome === "open").length : 0,
    isEmpty: pages !== undefined && !query.isPlaceholderData && rows.length === 0 && !isStopped,
    isComplete: first?.complete !== false,
    loadedAt: query.dataUpdatedAt,
    error: isRetry ? failed.error : query.error,
    // The error is kept while the rows are read again, because a rejected query is rejected again.
    refused: first?.refused?.text === queryText(search.filter) ? first.refused : undefined,
    likelyValues: first?.likely_values ?? NO_LIKELY_VALUES,
    showPending: useCallback(() => change(showPending), [change]),
    refetch,
    retryPage: () => void (query.isFetchPreviousPageError ? fetchPreviousPage() : fetchNextPage()),
  };
}

/** Tells the switch in the header why new rows are waiting. */
function useHeld(reason: HoldReason | undefined): void {
  const client = useQueryClient();
  useLayoutEffect(() => {
    client.setQueryData(heldQuery().queryKey, reason ?? null);
    return () => void client.setQueryData(heldQuery().queryKey, null);
  }, [client, reason]);
}

/**
 * Returns a function that reads all counts again if fewer requests are counted than `known`, so that the count of a
 * short log agrees with its rows. Counts of a long log are read again every few seconds.
 */
function useRecount(asked: [string, string][]): (known: number) => void {
  const client = useQueryClient();
  return (known) => {
    const counted = client.getQueryData<RequestCount>(["count", asked]);
    if (counted === undefined || counted.requests >= known) return;
    for (const key of ["count", "labels", "stats"]) {
      void client.invalidateQueries({ queryKey: [key] }, { cancelRefetch: false });
    }
  };
}

/** After most interruptions, at most this many rows were missed. */
const FEW_ROWS = 10;

/**
 * The newest page, and the requests that are shown as running but have ended and are not on this page. The page is short
 * if it reaches the newest known row.
 */
async function readMissed(asked: [string, string][], { visible, finished }: LiveLog, newestKnown: number) {
  const known = Math.max(newestKnown, finished[0]?.seq ?? 0);
  const few = await getPage(asked, "newest", undefined, FEW_ROWS);
  const isEnough = few.next_cursor === null || few.data.some(({ seq }) => (seq ?? 0) <= known);
  const page = isEnough ? few : await getPage(asked, "newest");
  const found = new Set([...(page.running ?? NONE), ...page.data].map(({ id }) => id));
  const missing = visible.filter(({ id, outcome }) => outcome === "open" && !found.has(id)).slice(0, PAGE_ROWS);
  if (missing.length === 0) return { page, ended: NONE };
  const { data } = await getPage(
    missing.map(({ id }): [string, string] => ["id", id]),
    "newest",
  );
  return { page, ended: data };
}

/** Running requests are not shown in a text search, because their text is not known yet. */
function runningOf(page: RequestPage, filter: Filter): readonly Row[] {
  return hasWords(filter) ? NONE : (page.running ?? NONE);
}

const NONE: readonly Row[] = [];
const NO_LIKELY_VALUES: readonly LikelyValue[] = [];

type Pages = readonly LogPage[] | undefined;

/**
 * Whether the first page includes the newest row. The newest page always includes it. A page around an anchor includes
 * it if the page is not full above the anchor, unless the search for the page stopped at its time limit.
 */
function startsAtNewest(pages: Pages, anchor: string | undefined): boolean {
  if (anchor === undefined || pages === undefined) return true;
  const newest = pages[0];
  // Only the newest page has running requests.
  if (newest?.running !== undefined) return true;
  if (newest?.complete === false) return false;
  const place = newest?.data.findIndex((row) => row.id === anchor) ?? -1;
  return place === -1 ? (newest?.data.length ?? 0) < PAGE_ROWS : place < PAGE_ROWS / 2;
}

function settle(log: LiveLog, moves: boolean): LiveLog {
  return moves ? showPending(log) : log;
}

/** Ignore the error, because the next event retries and the status bar shows the failure. */
function noMatter(): void {}
