/** Keep a row at its position on the screen while rows around it change. */

import { type RefObject, useLayoutEffect, useMemo, useRef } from "react";
import type { Anchor } from "~/navigation/links";
import { PREVIOUS_LIST } from "./use-log";

export type ScrollAnchor = {
  /** Empty space above and below the rows, so that the anchored row can keep its position. */
  paddingTop: number;
  paddingBottom: number;
  onScroll: () => void;
};

type Options = {
  scroller: RefObject<HTMLElement | null>;
  /** Identifies the list of rows. */
  list: string;
  /** The rows of the list. */
  items: readonly { readonly id: string }[];
  /** Heights of a row and of the table header. */
  measures: { row: number; head: number };
  anchor: Anchor | undefined;
  /** Key of the history entry: Back and Forward restore its scroll position. */
  step: string | undefined;
};

/** The list and history entry that were shown last, and the row that keeps its position. */
type Seen = { list: string; row: Anchor | undefined; step: string | undefined };

/** `top` values are pixels below the top of the scroll region. All rows have the same height. */
export function useScrollAnchor({ scroller, list, items, measures, anchor, step }: Options): ScrollAnchor {
  const seen = useRef<Seen>({ list: "", row: undefined, step: undefined });
  const { row: rowHeight, head } = measures;
  const at = useMemo(() => indexOf(items, anchor?.id), [items, anchor?.id]);
  // The table header does not cover the row.
  const top = Math.max(head, anchor?.top ?? 0);
  const paddingTop = at === -1 ? 0 : Math.max(0, top - head - at * rowHeight);
  const height = scroller.current?.clientHeight ?? 0;
  const reach = at === -1 ? 0 : head + paddingTop + at * rowHeight - top + height;
  const paddingBottom = Math.max(0, reach - head - paddingTop - items.length * rowHeight);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    // While a list is read again, nothing moves.
    if (list === PREVIOUS_LIST && seen.current.step === step) return;
    if (seen.current.list !== list) {
      const left = list === PREVIOUS_LIST || step === undefined ? undefined : ANCHORS.get(step);
      seen.current = { list, row: left ?? (anchor && { id: anchor.id, top }), step };
      if (seen.current.row === undefined) element.scrollTop = 0;
    }
    const row = seen.current.row;
    const index = indexOf(items, row?.id);
    if (row !== undefined && index !== -1) element.scrollTop = head + paddingTop + index * rowHeight - row.top;
  }, [scroller, list, items, paddingTop, rowHeight, head, anchor, top, step]);

  const onScroll = () => {
    const element = scroller.current;
    if (element === null || seen.current.list !== list) return;
    const index = Math.max(0, Math.floor((element.scrollTop - paddingTop) / rowHeight));
    const id = items[index]?.id;
    const isAtTop = element.scrollTop <= 0 && paddingTop === 0;
    seen.current.row =
      isAtTop || id === undefined ? undefined : { id, top: head + paddingTop + index * rowHeight - element.scrollTop };
    if (step !== undefined && list !== PREVIOUS_LIST) remember(ANCHORS, step, seen.current.row);
  };

  return { paddingTop, paddingBottom, onScroll };
}

function indexOf(items: readonly { readonly id: string }[], id: string | undefined): number {
  return id === undefined ? -1 : items.findIndex((item) => item.id === id);
}

/** Anchors and focused rows by history entry. The oldest are dropped first. */
const ANCHORS = new Map<string, Anchor>();
const FOCUSED = new Map<string, string>();
const MAX_ENTRIES = 100;

function remember<Value>(map: Map<string, Value>, step: string, value: Value | undefined): void {
  map.delete(step);
  if (value !== undefined) map.set(step, value);
  const [oldest] = map.keys();
  if (oldest !== undefined && map.size > MAX_ENTRIES) map.delete(oldest);
}

/** Remember the row that contains the focused element. */
export function rememberFocus(step: string | undefined, focused: Element): void {
  const row = focused.closest<HTMLElement>("tr[data-request]");
  if (step !== undefined) remember(FOCUSED, step, row?.dataset.request ?? "");
}

/** The row that had the focus. Empty if the focus was elsewhere in the log, `undefined` if it was not in the log. */
export function rememberedFocus(step: string | undefined): string | undefined {
  return step === undefined ? undefined : FOCUSED.get(step);
}

/** Return the focus to the row that had it, or to the log, if no other element has the focus. */
export function restoreFocus(scroller: HTMLElement, step: string | undefined): void {
  const id = rememberedFocus(step);
  if (id === undefined) return;
  // The rows are rendered after the scroll position is restored.
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return;
    const link = findRow(scroller, id)?.querySelector<HTMLElement>("a[data-open]");
    (link ?? scroller).focus({ preventScroll: true });
  });
}

/** The scroll region of the log. */
type Scroller = HTMLElement | null;

export function findRow(scroller: Scroller, id: string): HTMLElement | null {
  return scroller?.querySelector<HTMLElement>(`tr[data-request="${CSS.escape(id)}"]`) ?? null;
}

/** The distance of a row from the top of the scroll region in pixels, or 120 if the row is not rendered. */
export function rowOffset(scroller: Scroller, id: string): number {
  const row = findRow(scroller, id);
  return row === null || scroller === null ? 120 : topIn(scroller, row);
}

/** The id of the first row that is fully visible below the table header. */
export function firstVisibleRow(scroller: Scroller): string | undefined {
  const head = scroller?.querySelector("thead")?.clientHeight ?? 0;
  const rows = [...(scroller?.querySelectorAll<HTMLElement>("tr[data-request]") ?? [])];
  return rows.find((row) => scroller !== null && topIn(scroller, row) >= head - 1)?.dataset.request;
}

/**
 * Scrolls the row into view with the least movement and focuses its time link.
 *
 * `index` is the index of the row. A row far away is rendered only after scrolling to it.
 */
export function scrollToRow(scroller: Scroller, id: string, index: number): void {
  const isRendered = showRow(scroller, id, index);
  if (isRendered) focusOn(findRow(scroller, id));
  else requestAnimationFrame(() => focusOn(findRow(scroller, id)));
}

/**
 * Scrolls the row into view with the least movement, and does not move the focus. Returns whether the row was rendered.
 */
export function showRow(scroller: Scroller, id: string, index: number): boolean {
  const near = scroller?.querySelector<HTMLElement>("tr[data-request]");
  if (scroller === null || !near || index < 0) return false;
  const head = scroller.querySelector("thead")?.clientHeight ?? 0;
  const height = near.offsetHeight;
  const row = findRow(scroller, id);
  const nearIndex = Number(near.getAttribute("aria-rowindex")) - 2;
  const top = row === null ? topIn(scroller, near) + (index - nearIndex) * height : topIn(scroller, row);
  if (top < head) scroller.scrollTop -= head - top;
  else if (top + height > scroller.clientHeight) scroller.scrollTop += top + height - scroller.clientHeight;
  return row !== null;
}

function focusOn(row: HTMLElement | null): void {
  row?.querySelector<HTMLElement>("a[data-open]")?.focus({ preventScroll: true });
}

function topIn(scroller: HTMLElement, row: HTMLElement): number {
  return row.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
}
