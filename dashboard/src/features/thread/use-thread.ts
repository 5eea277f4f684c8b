/** A thread as loaded pages plus live rows. */

import { type UseInfiniteQueryResult, useInfiniteQuery } from "@tanstack/react-query";
import { useLayoutEffect, useMemo, useRef, useState } from "react";
import { useLive } from "~/api/live-stream";
import { getLatestThread, threadQuery } from "~/api/thread";
import { type LogSearch, toApiParams } from "~/domain/log-search";
import type { Row, Thread } from "~/generated/api-types";
import { type ConversationTurns, groupConversations } from "./thread-model";

export type ThreadState = {
  /** The latest page, or `undefined` until it is loaded. */
  latest: Thread | undefined;
  conversations: ConversationTurns[];
  /** Number of requests that ended since the last read and are not shown yet, up to `MAX_PENDING`. */
  pendingCount: number;
  hasEarlier: boolean;
  isReading: boolean;
  isComplete: boolean;
  error: Error | null;
  readEarlier: () => void;
  /** Reads all pages again, including new requests. */
  refetch: () => void;
};

/** At most about this many requests are loaded to find the request to start at. The page would be slow with more. */
const MAX_SEARCHED = 5_000;

/** More new requests are not counted, because a busy thread would fill the memory. */
export const MAX_PENDING = 2_000;

/**
 * `isAtEnd` returns whether the viewer is at the end of the thread. `isWaiting` returns whether the request to start at
 * must be loaded.
 */
type ReadingPosition = { isAtEnd: () => boolean; isWaiting: () => boolean };

/**
 * `start` is a request. If the latest page does not have it, earlier pages are loaded until one has it. New requests
 * are shown immediately only while the viewer is at the end.
 */
export function useThread(search: LogSearch, start: string | undefined, position: ReadingPosition): ThreadState {
  const { isAtEnd, isWaiting } = position;
  const query = useInfiniteQuery(threadQuery(search, start !== undefined));
  const pages = query.data?.pages;
  const latest = pages?.[0];
  const conversations = useMemo(() => groupConversations(pages ?? []), [pages]);
  const [newSeqs, setNewSeqs] = useState<ReadonlySet<number>>(NONE);
  const newest = useMemo(() => Math.max(0, ...(latest?.data ?? []).map(seqOf)), [latest]);
  const known = useMemo(() => new Set(pages?.flatMap((page) => page.data).map((row) => row.id)), [pages]);
  const refetch = useRefetch(query);
  const isStartMissing = start !== undefined && !known.has(start) && query.hasNextPage && known.size < MAX_SEARCHED;
  useLayoutEffect(() => {
    if (isStartMissing && !query.isFetching && !query.isError && isWaiting()) void query.fetchNextPage();
  });

  const params = useMemo(() => toApiParams(search), [search]);
  // Requests up to the newest loaded request are not new: they are loaded, or they are on an earlier page.
  const announce = (rows: readonly Row[]) =>
    setNewSeqs((current) => {
      const fresh = new Set([...current, ...rows.map(seqOf)].filter((seq) => seq > newest));
      return new Set([...fresh].slice(0, MAX_PENDING));
    });

  useLive(params, query.isSuccess, {
    onRows: (rows) => {
      const ended = rows.filter((row) => row.outcome !== "open" && !known.has(row.id));
      if (ended.length === 0) return;
      announce(ended);
      // New requests are shown immediately only if they are in conversations. In a busy thread without conversations,
      // the page would move constantly.
      if (isAtEnd() && (latest === undefined || mayBeConversation(latest))) refetch();
    },
    onOpen: () => {
      if (isAtEnd()) return refetch();
      // An error does not matter, because the next event retries and the status bar shows the failure.
      getLatestThread(params).then(
        ({ data }) => announce(data),
        () => {},
      );
    },
  });

  return {
    latest,
    conversations,
    pendingCount: [...newSeqs].filter((seq) => seq > newest).length,
    hasEarlier: query.hasNextPage,
    isReading: query.isFetchingNextPage || query.isPending,
    isComplete: pages?.every((page) => page.complete) ?? true,
    error: query.error,
    readEarlier: () => {
      if (query.hasNextPage && !query.isFetching) void query.fetchNextPage();
    },
    refetch: () => void (query.isFetchNextPageError ? query.fetchNextPage() : refetch()),
  };
}

/** With fewer requests than this, it is unknown whether there are conversations. */
const MIN_REQUESTS = 5;

export function mayBeConversation({ is_thread, data }: Thread): boolean {
  return is_thread || data.length < MIN_REQUESTS;
}

const NONE: ReadonlySet<number> = new Set();

function seqOf({ seq }: Row): number {
  return seq ?? 0;
}

/** Returns a function that reads the pages again. If a query is already running, another query follows it. */
function useRefetch({ isFetching, refetch }: Pick<UseInfiniteQueryResult, "isFetching" | "refetch">): () => void {
  const calls = useRef(0);
  return async () => {
    calls.current += 1;
    if (calls.current > 1) return;
    if (isFetching) await refetch({ cancelRefetch: false });
    for (let done = 0; done < calls.current; ) {
      done = calls.current;
      await refetch({ cancelRefetch: false });
    }
    calls.current = 0;
  };
}
