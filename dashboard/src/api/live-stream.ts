/** Live rows from `/api/live`. They are passed on in batches, so that they do not appear too fast to read. */

import { queryOptions, skipToken, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent } from "react";
import type { Row } from "~/generated/api-types";
import { apiUrl } from "./client";

/** Up to this rate, rows are passed on every 80 ms. Above this rate, they are passed on once a second. */
const BATCH_THRESHOLD_PER_SECOND = 5;
const FAST_BATCH_MS = 80;
const SLOW_BATCH_MS = 1000;
/** A browser reconnects automatically, but not after a response that is not a stream, such as a proxy error. */
const RETRY_MS = 3000;

export type LiveEvents = {
  /** New or changed rows, and the number of rows in the last second. */
  onRows: (rows: Row[], perSecond: number) => void;
  /**
   * Called when the stream is open, also after a reconnect. Rows that were recorded earlier must be read separately.
   */
  onOpen: () => void;
};

/** A query for whether the connection was lost. The query has no data before the first connection. */
function lostQuery() {
  return queryOptions<boolean>({ queryKey: ["live-stream-lost"], queryFn: skipToken, gcTime: Infinity });
}

/** Whether the live stream was lost and is not open again. */
export function useIsLiveLost(): boolean {
  return useQuery(lostQuery()).data === true;
}

/** Why new rows are not shown yet. */
export type HoldReason = "pointer" | "selected" | "scrolled" | "text" | "rush" | "older";

/** A query for why new rows are waiting. `null` if none are waiting. */
export function heldQuery() {
  return queryOptions<HoldReason | null>({ queryKey: ["live-stream-held"], queryFn: skipToken, gcTime: Infinity });
}

/**
 * Listen while `enabled` is true and the page is visible. Reconnects when the stream ends or `list` changes. `list` is
 * the key of the list to which the rows are added.
 */
export function useLive(params: readonly [string, string][], enabled: boolean, events: LiveEvents, list = ""): void {
  const onRows = useEffectEvent(events.onRows);
  const onOpen = useEffectEvent(events.onOpen);
  const url = apiUrl("live", params);
  const client = useQueryClient();

  // biome-ignore lint/correctness/useExhaustiveDependencies: another list may lack the latest rows
  useEffect(() => {
    if (!enabled) return;
    const setLost = (isLost: boolean) => client.setQueryData(lostQuery().queryKey, isLost);
    let source: EventSource | undefined;
    let later: ReturnType<typeof setTimeout> | undefined;
    const batch = new Batch((rows, perSecond) => onRows(rows, perSecond));
    const listen = () => {
      clearTimeout(later);
      source?.close();
      source = undefined;
      if (document.hidden) return;
      source = new EventSource(url);
      source.addEventListener("error", () => {
        setLost(true);
        if (source?.readyState === EventSource.CLOSED) later = setTimeout(listen, RETRY_MS);
      });
      source.addEventListener("open", () => {
        setLost(false);
        onOpen();
      });
      source.addEventListener("gap", () => onOpen());
      source.addEventListener("request", (event) => batch.add(JSON.parse(event.data) as Row));
    };
    listen();
    document.addEventListener("visibilitychange", listen);
    return () => {
      document.removeEventListener("visibilitychange", listen);
      clearTimeout(later);
      source?.close();
      batch.drop();
    };
  }, [client, url, enabled, list]);
}

/**
 * Collects rows and passes them on in batches. The batches are frequent at a low rate, and once a second at a high
 * rate.
 */
class Batch {
  private rows: Row[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private arrivals: number[] = [];

  constructor(private readonly onBatch: (rows: Row[], perSecond: number) => void) {}

  add(row: Row): void {
    const now = performance.now();
    this.arrivals.push(now);
    while ((this.arrivals[0] ?? now) < now - 1000) this.arrivals.shift();
    this.rows.push(row);
    this.timer ??= setTimeout(
      () => this.flush(),
      this.arrivals.length > BATCH_THRESHOLD_PER_SECOND ? SLOW_BATCH_MS : FAST_BATCH_MS,
    );
  }

  drop(): void {
    clearTimeout(this.timer);
  }

  private flush(): void {
    this.timer = undefined;
    const rows = this.rows;
    this.rows = [];
    this.onBatch(rows, this.arrivals.length);
  }
}
