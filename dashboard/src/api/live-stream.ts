/** Live rows from `/api/live`, in batches that can be followed by eye. */

import { useEffect, useEffectEvent } from "react";
import type { Row } from "~/generated/api-types";
import { apiUrl } from "./client";

/** Up to this rate rows are told as they come; above, once a second. */
const BATCH_THRESHOLD_PER_SECOND = 5;
const FAST_BATCH_MS = 80;
const SLOW_BATCH_MS = 1000;
/** A browser reconnects by itself, but not after an answer that is no stream, as of a proxy before a server that starts. */
const RETRY_MS = 3000;

export type LiveEvents = {
  /** Rows that are new or have changed, and how many came in the last second. */
  onRows: (rows: Row[], perSecond: number) => void;
  /** The stream stands (again): what was recorded before it did must be looked for. */
  onOpen: () => void;
};

/** Listens while `enabled` and while the page is in sight, and again when the stream ends. */
export function useLive(asked: readonly [string, string][], enabled: boolean, events: LiveEvents): void {
  const onRows = useEffectEvent(events.onRows);
  const onOpen = useEffectEvent(events.onOpen);
  const url = apiUrl("live", asked);

  useEffect(() => {
    if (!enabled) return;
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
        if (source?.readyState === EventSource.CLOSED) later = setTimeout(listen, RETRY_MS);
      });
      source.addEventListener("open", () => onOpen());
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
  }, [url, enabled]);
}

/** Collects rows and hands them on: soon when there are few, once a second when there are many. */
class Batch {
  private rows: Row[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private arrivals: number[] = [];

  constructor(private readonly hand: (rows: Row[], perSecond: number) => void) {}

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
    this.hand(rows, this.arrivals.length);
  }
}
