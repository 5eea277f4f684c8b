/** Choose the rows of a long list that are rendered. All rows have the same height, so the list can have any length. */

import { type RefObject, useCallback, useState, useSyncExternalStore } from "react";
import { flushSync } from "react-dom";

/** Number of rows that are rendered above and below the visible rows. */
const OVERSCAN = 20;
/** The rendered rows change each time the user has scrolled by this number of pixels. */
const STEP_PX = 300;

type List = { count: number; rowHeight: number; paddingTop: number };

export type RenderedRows = {
  /** Index of the first rendered row, and the index after the last. */
  first: number;
  end: number;
  onScroll: () => void;
};

export function useRenderedRows(
  scroller: RefObject<HTMLElement | null>,
  { count, rowHeight, paddingTop }: List,
): RenderedRows {
  const [top, setTop] = useState(0);
  const height = useSize(scroller, "clientHeight") || window.innerHeight;
  const indexAt = (offset: number) => Math.min(count, Math.max(0, Math.floor((offset - paddingTop) / rowHeight)));
  return {
    first: Math.max(0, indexAt(top) - OVERSCAN),
    end: Math.min(count, indexAt(top + STEP_PX + height) + OVERSCAN + 1),
    onScroll: () => {
      const at = scroller.current?.scrollTop ?? 0;
      const next = at - (at % STEP_PX);
      // Rows that are rendered later would be blank in the next frame.
      if (next !== top) flushSync(() => setTop(next));
    },
  };
}

/** The current width or height of an element in pixels. 0 before the element exists. */
export function useSize(ref: RefObject<HTMLElement | null>, size: "offsetWidth" | "clientHeight"): number {
  const subscribe = useCallback(
    (changed: () => void) => {
      const observer = new ResizeObserver(changed);
      if (ref.current !== null) observer.observe(ref.current);
      return () => observer.disconnect();
    },
    [ref],
  );
  return useSyncExternalStore(subscribe, () => ref.current?.[size] ?? 0);
}
