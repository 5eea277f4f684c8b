/** Loaded and live rows of the log, merged and ordered. Pure. */

import type { LogGap, Row } from "~/generated/api-types";

/** Beyond this many rows nobody has looked at, the log is read anew instead. */
export const MAX_PENDING = 2_000;

export type LiveLog = {
  /** Finished since the pages were read, latest recorded first. */
  readonly finished: readonly Row[];
  /** Still open, latest started first. */
  readonly running: readonly Row[];
  /** What stands above the pages. Rows in it change in place; it gains and moves rows only by `release`. */
  readonly visible: readonly Row[];
  /** There may be rows between these and the pages: only reading the log anew shows all. */
  readonly hasGap: boolean;
  /** What has ended is not asked for: it goes with the next `release`. */
  readonly onlyRunning: boolean;
};

export function createLiveLog(running: readonly Row[], onlyRunning = false): LiveLog {
  return { finished: [], running, visible: running, hasGap: false, onlyRunning };
}

/** Rows came: new ones wait, known ones change in place. */
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
  return {
    finished: finished.slice(0, MAX_PENDING),
    running: [...open.values()].sort((a, b) => (a.started_at < b.started_at ? 1 : -1)),
    visible: log.visible.map((row) => ended.get(row.id) ?? open.get(row.id) ?? row),
    hasGap: log.hasGap || finished.length > MAX_PENDING,
    onlyRunning: log.onlyRunning,
  };
}

/** The newest page was read again: whatever was missed meanwhile is in it, or the log is torn. */
export function reconcile(log: LiveLog, newestKnown: number, page: readonly Row[], running: readonly Row[]): LiveLog {
  const known = Math.max(newestKnown, log.finished[0]?.seq ?? 0);
  const missed = page.filter((row) => (row.seq ?? 0) > known);
  const isTorn = missed.length > 0 && missed.length === page.length && known > 0;
  const open = new Set(running.map((row) => row.id));
  const still = log.running.filter((row) => open.has(row.id));
  const caught = receiveRows({ ...log, running: still }, [...missed, ...running]);
  return isTorn ? { ...caught, hasGap: true } : caught;
}

/** Shows everything that waits: running ones first, then the latest recorded. */
export function showPending(log: LiveLog): LiveLog {
  return { ...log, visible: wanted(log) };
}

/** How many rows wait to be shown. */
export function pendingCount(log: LiveLog): number {
  const shown = new Set(log.visible.map((row) => row.id));
  return wanted(log).filter((row) => !shown.has(row.id)).length;
}

function wanted(log: LiveLog): Row[] {
  return log.onlyRunning ? [...log.running] : [...log.running, ...log.finished];
}

/** What stands in the log, line by line: requests, and the gaps in which something is missing. Pure. */
export type Item = { readonly id: string } & ({ readonly row: Row } | { readonly gap: LogGap });

/** Puts each gap between the requests before and after it, as far as the rows reach. Gaps come latest first. */
export function itemsOf(rows: readonly Row[], gaps: readonly LogGap[], includesNewest: boolean): Item[] {
  const items: Item[] = [];
  let next = 0;
  const gapBefore = (moment: string) => {
    for (let gap = gaps[next]; gap !== undefined && gap.to_at > moment; gap = gaps[++next]) {
      if (items.length > 0 || includesNewest) items.push({ id: `gap ${gap.from_at} ${gap.reason}`, gap });
    }
  };
  for (const row of rows) {
    gapBefore(row.started_at);
    items.push({ id: row.id, row });
  }
  return items;
}
