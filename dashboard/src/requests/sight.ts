/** Where a row stands in the log's scroller, and bringing it into sight. */

type Scroller = HTMLElement | null;

export function rowOf(scroller: Scroller, id: string): HTMLElement | null {
  return scroller?.querySelector<HTMLElement>(`tr[data-request="${CSS.escape(id)}"]`) ?? null;
}

/** Pixels below the scroller's upper edge; somewhere in its upper half for a row that does not exist now. */
export function topOf(scroller: Scroller, id: string): number {
  const row = rowOf(scroller, id);
  return row === null || scroller === null ? 120 : topIn(scroller, row);
}

/** The id of the first row that is whole below the head of the table. */
export function firstInSight(scroller: Scroller): string | undefined {
  const head = scroller?.querySelector("thead")?.clientHeight ?? 0;
  const rows = [...(scroller?.querySelectorAll<HTMLElement>("tr[data-request]") ?? [])];
  return rows.find((row) => scroller !== null && topIn(scroller, row) >= head - 1)?.dataset.request;
}

/**
 * Scrolls as little as it takes, below the head of the table; the link of the row's time takes the focus.
 *
 * `index`: its place among the rows. One that is far away exists only after scrolling there.
 */
export function bringIntoSight(scroller: Scroller, id: string, index: number): void {
  const near = scroller?.querySelector<HTMLElement>("tr[data-request]");
  if (scroller === null || !near || index < 0) return;
  const head = scroller.querySelector("thead")?.clientHeight ?? 0;
  const height = near.offsetHeight;
  const row = rowOf(scroller, id);
  const nearIndex = Number(near.getAttribute("aria-rowindex")) - 2;
  const top = row === null ? topIn(scroller, near) + (index - nearIndex) * height : topIn(scroller, row);
  if (top < head) scroller.scrollTop -= head - top;
  else if (top + height > scroller.clientHeight) scroller.scrollTop += top + height - scroller.clientHeight;
  if (row === null) requestAnimationFrame(() => focusOn(rowOf(scroller, id)));
  else focusOn(row);
}

function focusOn(row: HTMLElement | null): void {
  row?.querySelector<HTMLElement>("a[data-open]")?.focus({ preventScroll: true });
}

function topIn(scroller: HTMLElement, row: HTMLElement): number {
  return row.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
}
