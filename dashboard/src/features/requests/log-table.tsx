/** The virtualized table of the log. */

import { useMediaQuery } from "@mantine/hooks";
import { useLocation } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, type RefObject, useCallback, useLayoutEffect, useMemo, useRef, useSyncExternalStore } from "react";
import type { LogGap } from "~/generated/api-types";
import type { Anchor } from "~/navigation/links";
import { LatestSearchContext, SearchContext, useLogSearch } from "~/navigation/search-context";
import tableCss from "~/ui/table.module.css";
import { itemsOf } from "./log-model";
import { GapRow, LogRow } from "./log-row";
import css from "./log-table.module.css";
import { useScrollAnchor } from "./scroll-anchor";
import { SortableHead, SortLink } from "./sorting";
import type { RowList } from "./use-log";

type Props = {
  list: RowList;
  gaps: readonly LogGap[];
  /** The property that has a column of its own, if any. */
  property: string | undefined;
  anchor: Anchor | undefined;
  selected: string | undefined;
  scroller: RefObject<HTMLElement | null>;
  onPointerInside: (inside: boolean) => void;
};

/** Rows rendered above and below the visible ones. */
const OVERSCAN = 20;
/** More rows are loaded when the end is this many rows away. */
const LOAD_AHEAD = 300;
const MIN_NOTE_HEIGHT = 60;

/** The rows of the log: a real table that contains only the rows near the visible ones. */
export const LogTable = memo(function LogTable(props: Props) {
  const { list, gaps, property, anchor, selected, scroller, onPointerInside } = props;
  const measures = useMeasures(property !== undefined, useWidth(scroller));
  const rowHeight = measures.row;
  const items = useMemo(() => itemsOf(list.rows, gaps, list.includesNewest), [list.rows, list.includesNewest, gaps]);
  const step = useLocation({ select: ({ state }) => state.__TSR_key });
  const place = useScrollAnchor({ scroller, list: list.key, items, measures, anchor, step });
  const hasRows = useRef(false);
  // A request opened by its address: its row is shown as soon as there are rows.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (hasRows.current || items.length === 0 || element === null) return;
    hasRows.current = true;
    const index = anchor === undefined && selected !== undefined ? items.findIndex(({ id }) => id === selected) : -1;
    const bottom = measures.head + (index + 1) * rowHeight;
    if (bottom > element.clientHeight) element.scrollTop = bottom - element.clientHeight / 2;
  }, [scroller, items, anchor, selected, measures.head, rowHeight]);
  const search = useLogSearch();
  const newest = useRef(search);
  useLayoutEffect(() => {
    newest.current = search;
  }, [search]);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    paddingStart: place.paddingTop,
    paddingEnd: place.paddingBottom,
    overscan: OVERSCAN,
  });
  // The virtualizer keeps the heights of a wide screen otherwise.
  // biome-ignore lint/correctness/useExhaustiveDependencies: measures again when the height of all rows changes
  useLayoutEffect(() => virtual.measure(), [virtual, rowHeight]);

  const seen = virtual.getVirtualItems();
  const above = seen[0]?.start ?? place.paddingTop;
  const below = virtual.getTotalSize() - (seen.at(-1)?.end ?? above);

  const scrolled = () => {
    place.onScroll();
    const element = scroller.current;
    if (element === null) return;
    const left = element.scrollHeight - element.scrollTop - element.clientHeight;
    if (left < LOAD_AHEAD * rowHeight) list.loadOlder();
    if (element.scrollTop < LOAD_AHEAD * rowHeight) list.loadNewer();
  };

  return (
    // Links of the shown rows use the search of these rows. The latest search is read at the time of a click.
    <LatestSearchContext value={newest}>
      <SearchContext value={list.search}>
        <section
          ref={scroller}
          className={css.scrollRegion}
          data-log=""
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
          aria-label="Requests"
          onScroll={scrolled}
          onPointerEnter={(event) => onPointerInside(event.pointerType === "mouse")}
          onPointerLeave={() => onPointerInside(false)}
        >
          <table
            className={tableCss.table}
            data-sort={list.search.sort}
            aria-rowcount={items.length + 1}
            aria-busy={list.isLoading}
          >
            <thead className={css.head}>
              <tr aria-rowindex={1}>
                <th scope="col" className={css.time}>
                  <span title="When the request ended; for a running request, when it started">Ended</span>
                </th>
                <th scope="col" className={css.namespace}>
                  Namespace
                </th>
                {property !== undefined && (
                  <th scope="col" className={css.property}>
                    {property}
                  </th>
                )}
                <th scope="col" className={css.model}>
                  Model
                </th>
                <th scope="col" className={css.text}>
                  Question → answer
                </th>
                <th scope="col" className={css.result}>
                  Result
                </th>
                <SortableHead className={css.tokens} fields={["input_tokens", "output_tokens"]}>
                  Tokens <SortLink field="input_tokens">in</SortLink> → <SortLink field="output_tokens">out</SortLink>
                </SortableHead>
                <SortableHead className={css.cost} fields={["cost_usd"]}>
                  <SortLink field="cost_usd">Cost</SortLink>
                </SortableHead>
                <SortableHead className={css.first} fields={["first_token_ms"]}>
                  <SortLink field="first_token_ms">First</SortLink>
                </SortableHead>
                <SortableHead className={css.total} fields={["duration_ms"]}>
                  <SortLink field="duration_ms">Total</SortLink>
                </SortableHead>
              </tr>
            </thead>
            <tbody>
              {place.paddingTop > 0 && (
                <tr className={css.lead} style={{ height: place.paddingTop }}>
                  {place.paddingTop > MIN_NOTE_HEIGHT && (
                    <td colSpan={measures.columns}>
                      {list.includesNewest && "nothing newer here: the row you chose kept its place"}
                    </td>
                  )}
                </tr>
              )}
              {above > place.paddingTop && (
                <tr aria-hidden="true" className={css.spacer} style={{ height: above - place.paddingTop }} />
              )}
              {seen.map(({ index }) => {
                const item = items[index];
                if (item === undefined) return null;
                if ("gap" in item)
                  return <GapRow key={item.id} gap={item.gap} place={index + 2} columns={measures.columns} />;
                return (
                  <LogRow
                    key={item.id}
                    row={item}
                    place={index + 2}
                    property={property}
                    isSelected={item.id === selected}
                  />
                );
              })}
              {below > 0 && <tr aria-hidden="true" className={css.spacer} style={{ height: below }} />}
            </tbody>
          </table>
        </section>
      </SearchContext>
    </LatestSearchContext>
  );
});

/** Row heights in pixels and the number of visible columns. Keep in sync with theme.css and log-table.module.css. */
export type Measures = { row: number; head: number; columns: number };

function useMeasures(hasProperty: boolean, width: number): Measures {
  const isNarrow = useMediaQuery("(width <= 640px)", false, { getInitialValueInEffect: false });
  const shown = [width >= 700, width >= 780, width >= 900, width >= 1120, width >= 1120 && hasProperty, width >= 1400];
  const columns = 4 + shown.filter(Boolean).length;
  // On a narrow screen a row has two lines, and there is no head.
  return isNarrow ? { row: 54, head: 0, columns } : { row: 30, head: 28, columns };
}

/** The width of an element in pixels, as it changes. */
function useWidth(ref: RefObject<HTMLElement | null>): number {
  const subscribe = useCallback(
    (changed: () => void) => {
      const observer = new ResizeObserver(changed);
      if (ref.current !== null) observer.observe(ref.current);
      return () => observer.disconnect();
    },
    [ref],
  );
  return useSyncExternalStore(subscribe, () => ref.current?.offsetWidth ?? window.innerWidth);
}
