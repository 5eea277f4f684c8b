/** Keeps what the reader looks at where it is: on the screen nothing jumps when rows come in above. */

import { type RefObject, useLayoutEffect, useRef } from "react";
import type { Anchor } from "~/url/use-go";

export type Place = {
  /** Empty room above and below the rows, so that the anchored row can stand at its height. */
  lead: number;
  tail: number;
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
};

/** `top`s are pixels below the upper edge of the scroller; all rows have the same height. */
export function usePlace({ scroller, list, ids, measures, anchor }: Options): Place {
  const seen = useRef<{ list: string; row: Anchor | undefined }>({ list: "", row: undefined });
  const { row: rowHeight, head } = measures;
  const at = anchor === undefined ? -1 : ids.indexOf(anchor.id);
  const lead = anchor === undefined || at === -1 ? 0 : Math.max(0, anchor.top - head - at * rowHeight);
  const height = scroller.current?.clientHeight ?? 0;
  const reach = at === -1 ? 0 : head + lead + at * rowHeight - (anchor?.top ?? 0) + height;
  const tail = Math.max(0, reach - head - lead - ids.length * rowHeight);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    if (seen.current.list !== list) {
      seen.current = { list, row: anchor };
      if (anchor === undefined) element.scrollTop = 0;
    }
    const row = seen.current.row;
    const index = row === undefined ? -1 : ids.indexOf(row.id);
    if (row !== undefined && index !== -1) element.scrollTop = head + lead + index * rowHeight - row.top;
  }, [scroller, list, ids, lead, rowHeight, head, anchor]);

  const onScroll = () => {
    const element = scroller.current;
    if (element === null || seen.current.list !== list) return;
    const index = Math.max(0, Math.floor((element.scrollTop - lead) / rowHeight));
    const id = ids[index];
    const isAtTop = element.scrollTop <= 0 && lead === 0;
    seen.current.row =
      isAtTop || id === undefined ? undefined : { id, top: head + lead + index * rowHeight - element.scrollTop };
  };

  return { lead, tail, onScroll };
}
