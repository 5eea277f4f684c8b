/** Loaded and live rows of the log, merged and ordered. Pure. */

import type { LogGap, RequestPage, Row } from "~/generated/api-types";

/** If more rows than this are pending, the oldest of them are dropped, and the log must be read again. */
export const MAX_PENDING = 2_000;
/** If there are more live rows than this and the rows may move, the log is read again. */
export const MAX_LIVE = 2_000;

export type LiveLog = {
  /** Requests that have ended since the pages were read, last recorded first. */
  readonly finished: readonly Row[];
  /** Running requests, last started first. */
  readonly running: readonly Row[];
  /** Rows shown above the pages. They are updated in place. Only `showPending` adds or moves rows. */
  readonly visible: readonly Row[];
  /** Whether rows may be missing between these rows and the pages. Only reading the log again shows all rows. */
  readonly hasGap: boolean;
  /** Whether the filter excludes ended requests. The next `showPending` then removes them. */
  readonly onlyRunning: boolean;
};

export function createLiveLog(running: readonly Row[], onlyRunning = false): LiveLog {
  return { finished: [], running, visible: running, hasGap: false, onlyRunning };
}

/**
 * Add received rows. New rows are pending, and known rows are updated in place.
 *
 * `visible` stays the same array if none of its rows changed.
 */
export function receiveRows(log: LiveLog, rows: readonly Row[]): LiveLog {
  const news = new Map(rows.map((row) => [row.id, row]));
  const ended = new Map(log.finished.map((row) => [row.id, row]));
  const open = new Map(log.running.map((row) => [row.id, row]));
  for (const row of news.values()) {
    if (row.outcome !== "open") {
      ended.set(row.id, row);
      open.delete(row.id);
    } else if (!ended.has(row.id)) open.set(row.id, row);
  }
  const finished = [...ended.values()].sort((a, b) => (b.seq ?? 0) - (a.seq ?? 0));
  const isGap = log.hasGap || finished.length - log.visible.length > MAX_PENDING;
  return {
    finished: isGap ? finished.slice(0, MAX_PENDING) : finished,
    running: [...open.values()].sort((a, b) => (a.started_at < b.started_at ? 1 : -1)),
    visible: keepIfEqual(
      log.visible,
      log.visible.map((row) => ended.get(row.id) ?? open.get(row.id) ?? row),
    ),
    hasGap: isGap,
    onlyRunning: log.onlyRunning,
  };
}

/**
 * Merge the newest page after a reconnect. If the page does not reach the known rows, `hasGap` becomes true. If no row
 * is known, `newestKnown` is 0.
 */
export function reconcile(
  log: LiveLog,
  newestKnown: number,
  { data, next_cursor }: Pick<RequestPage, "data" | "next_cursor">,
  running: readonly Row[],
): LiveLog {
  const known = Math.max(newestKnown, log.finished[0]?.seq ?? 0);
  const missed = data.filter((row) => (row.seq ?? 0) > known);
  // If no row is known and the page is empty, its search stopped at its time limit. Reading the log again would not
  // find more.
  const isTorn = next_cursor !== null && missed.length === data.length && (known > 0 || missed.length > 0);
  const open = new Set(running.map((row) => row.id));
  const still = log.running.filter((row) => open.has(row.id));
  const caught = receiveRows({ ...log, running: still }, [...missed, ...running]);
  return isTorn ? { ...caught, hasGap: true } : caught;
}

/** Show all pending rows: running requests first, then the requests that were recorded last. */
export function showPending(log: LiveLog): LiveLog {
  return { ...log, visible: keepIfEqual(log.visible, wanted(log)) };
}

/** The rows without the ended requests that started before a time, in milliseconds since 1970. */
export function startedSince(rows: readonly Row[], at: number): readonly Row[] {
  return keepIfEqual(
    rows,
    rows.filter(({ outcome, started_at }) => outcome === "open" || Date.parse(started_at) >= at),
  );
}

function keepIfEqual(last: readonly Row[], next: readonly Row[]): readonly Row[] {
  return last.length === next.length && last.every((row, index) => row === next[index]) ? last : next;
}

/** Number of rows that are not shown yet. `known` has the ids of the rows of the pages, which are always shown. */
export function pendingCount(log: LiveLog, known: ReadonlySet<string>): number {
  const shown = new Set(log.visible.map((row) => row.id));
  return wanted(log).filter(({ id }) => !shown.has(id) && !known.has(id)).length;
}

function wanted(log: LiveLog): Row[] {
  return log.onlyRunning ? [...log.running] : [...log.running, ...log.finished];
}

/** A row of the log table: a request or a gap. */
export type Item = Row | { readonly id: string; readonly gap: LogGap };

/**
 * Insert each gap between the requests that ended before and after it, within the loaded rows. Running requests are
 * above all gaps. `gaps` are latest first. Gaps that begin at or after `end`, which is the end of the time range, are
 * omitted.
 */
export function itemsOf(
  rows: readonly Row[],
  gaps: readonly LogGap[],
  includesNewest: boolean,
  end?: Date,
): readonly Item[] {
  if (gaps.length === 0) return rows;
  const items: Item[] = [];
  let next = 0;
  const gapBefore = (timestamp: string) => {
    for (let gap = gaps[next]; gap !== undefined && gap.to_at > timestamp; gap = gaps[++next]) {
      const isWithin = end === undefined || new Date(gap.from_at) < end;
      if (isWithin && (items.length > 0 || includesNewest)) items.push({ id: `gap ${gap.from_at} ${gap.reason}`, gap });
    }
  };
  for (const row of rows) {
    if (row.ended_at !== null) gapBefore(row.ended_at);
    items.push(row);
  }
  return items;
}
