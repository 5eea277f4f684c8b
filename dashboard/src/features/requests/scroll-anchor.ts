/** Keep a row at its position on the screen while rows around it change. */

import { type RefObject, useLayoutEffect, useRef } from "react";
import type { Anchor } from "~/navigation/links";
import { PREVIOUS_LIST } from "./use-log";

export type ScrollAnchor = {
  /** Empty room above and below the rows, so that the anchored row can stand at its height. */
  paddingTop: number;
  paddingBottom: number;
  onScroll: () => void;
};

type Options = {
  scroller: RefObject<HTMLElement | null>;
  /** Which list the rows are of. */
  list: string;
  ids: readonly string[];
  /** Heights of a row, and of the table's head above them all. */
  measures: { row: number; head: number };
  anchor: Anchor | undefined;
  /** The step of the browser's history that is shown: Back and Forward find the place again that was left there. */
  step: string | undefined;
};

/** `top`s are pixels below the upper edge of the scroller; all rows have the same height. */
export function useScrollAnchor({ scroller, list, ids, measures, anchor, step }: Options): ScrollAnchor {
  const seen = useRef<{ list: string; row: Anchor | undefined }>({ list: "", row: undefined });
  const { row: rowHeight, head } = measures;
  const at = anchor === undefined ? -1 : ids.indexOf(anchor.id);
  const paddingTop = anchor === undefined || at === -1 ? 0 : Math.max(0, anchor.top - head - at * rowHeight);
  const height = scroller.current?.clientHeight ?? 0;
  const reach = at === -1 ? 0 : head + paddingTop + at * rowHeight - (anchor?.top ?? 0) + height;
  const paddingBottom = Math.max(0, reach - head - paddingTop - ids.length * rowHeight);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    if (seen.current.list !== list) {
      const left = list === PREVIOUS_LIST || step === undefined ? undefined : ANCHORS.get(step);
      seen.current = { list, row: left ?? anchor };
      if (seen.current.row === undefined) element.scrollTop = 0;
    }
    const row = seen.current.row;
    const index = row === undefined ? -1 : ids.indexOf(row.id);
    if (row !== undefined && index !== -1) element.scrollTop = head + paddingTop + index * rowHeight - row.top;
  }, [scroller, list, ids, paddingTop, rowHeight, head, anchor, step]);

  const onScroll = () => {
    const element = scroller.current;
    if (element === null || seen.current.list !== list) return;
    const index = Math.max(0, Math.floor((element.scrollTop - paddingTop) / rowHeight));
    const id = ids[index];
    const isAtTop = element.scrollTop <= 0 && paddingTop === 0;
    seen.current.row =
      isAtTop || id === undefined ? undefined : { id, top: head + paddingTop + index * rowHeight - element.scrollTop };
    if (step !== undefined && list !== PREVIOUS_LIST) remember(step, seen.current.row);
  };

  return { paddingTop, paddingBottom, onScroll };
}

/** Rows by step of the history, with the height at which each stood when the reader left it; the oldest go first. */
const ANCHORS = new Map<string, Anchor>();
const MAX_ANCHORS = 100;

function remember(step: string, row: Anchor | undefined): void {
  ANCHORS.delete(step);
  if (row !== undefined) ANCHORS.set(step, row);
  const [oldest] = ANCHORS.keys();
  if (oldest !== undefined && ANCHORS.size > MAX_ANCHORS) ANCHORS.delete(oldest);
}

/** Where a row stands in the log's scroller, and bringing it into sight. */
type Scroller = HTMLElement | null;

export function findRow(scroller: Scroller, id: string): HTMLElement | null {
  return scroller?.querySelector<HTMLElement>(`tr[data-request="${CSS.escape(id)}"]`) ?? null;
}

/** Pixels below the scroller's upper edge; somewhere in its upper half for a row that does not exist now. */
export function rowOffset(scroller: Scroller, id: string): number {
  const row = findRow(scroller, id);
  return row === null || scroller === null ? 120 : topIn(scroller, row);
}

/** The id of the first row that is whole below the head of the table. */
export function firstVisibleRow(scroller: Scroller): string | undefined {
  const head = scroller?.querySelector("thead")?.clientHeight ?? 0;
  const rows = [...(scroller?.querySelectorAll<HTMLElement>("tr[data-request]") ?? [])];
  return rows.find((row) => scroller !== null && topIn(scroller, row) >= head - 1)?.dataset.request;
}

/**
 * Scrolls as little as it takes, below the head of the table; the link of the row's time takes the focus.
 *
 * `index`: its place among the rows. One that is far away exists only after scrolling there.
 */
export function scrollToRow(scroller: Scroller, id: string, index: number): void {
  const near = scroller?.querySelector<HTMLElement>("tr[data-request]");
  if (scroller === null || !near || index < 0) return;
  const head = scroller.querySelector("thead")?.clientHeight ?? 0;
  const height = near.offsetHeight;
  const row = findRow(scroller, id);
  const nearIndex = Number(near.getAttribute("aria-rowindex")) - 2;
  const top = row === null ? topIn(scroller, near) + (index - nearIndex) * height : topIn(scroller, row);
  if (top < head) scroller.scrollTop -= head - top;
  else if (top + height > scroller.clientHeight) scroller.scrollTop += top + height - scroller.clientHeight;
  if (row === null) requestAnimationFrame(() => focusOn(findRow(scroller, id)));
  else focusOn(row);
}

function focusOn(row: HTMLElement | null): void {
  row?.querySelector<HTMLElement>("a[data-open]")?.focus({ preventScroll: true });
}

function topIn(scroller: HTMLElement, row: HTMLElement): number {
  return row.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
}
