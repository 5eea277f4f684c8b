/** The virtualized table of the log. */

import { useMediaQuery } from "@mantine/hooks";
import { useLocation, useRouter } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  memo,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { PAGE_ROWS } from "~/api/requests";
import { propertyOf, selectedValues } from "~/domain/filter";
import { parseTimestamp } from "~/domain/time-range";
import type { LogGap } from "~/generated/api-types";
import type { Anchor } from "~/navigation/links";
import { LatestSearchContext, SearchContext, useLogSearch } from "~/navigation/search-context";
import tableCss from "~/ui/table.module.css";
import { propertyName, useChosenColumns, visibleColumns } from "./columns";
import { ColumnsButton, LogHead } from "./log-head";
import { SearchStopped } from "./log-messages";
import { itemsOf } from "./log-model";
import { GapRow, LogRow } from "./log-row";
import css from "./log-table.module.css";
import { rememberFocus, restoreFocus, useScrollAnchor } from "./scroll-anchor";
import { PREVIOUS_LIST, type RowList } from "./use-log";

type Props = {
  list: RowList;
  gaps: readonly LogGap[];
  anchor: Anchor | undefined;
  selected: string | undefined;
  scroller: RefObject<HTMLElement | null>;
  onPointerInside: (inside: boolean) => void;
};

/** Number of rows that are rendered above and below the visible rows. */
const OVERSCAN = 20;
/** More rows are loaded when the end is this many rows away. */
const LOAD_AHEAD = 300;
const MIN_NOTE_HEIGHT = 60;
/** Heights of a row and of the head in pixels. Keep in sync with theme.css, table.module.css and log-table.module.css. */
const COMFORTABLE = { row: 30, head: 28 };
const COMPACT = { row: 25, head: 28 };
/** A row has two lines, and there is no head. */
const NARROW = { row: 54, head: 0 };

/** Whether rows have two lines. */
export function useIsNarrow(): boolean {
  return useMediaQuery("(width <= 640px)", false, { getInitialValueInEffect: false });
}

/** The rows of the log: a real table that contains only the rows near the visible rows. */
export const LogTable = memo(function LogTable(props: Props) {
  const { list, gaps, anchor, selected, scroller, onPointerInside } = props;
  const { view, setView, chosen: all, automatic } = useChosenColumns();
  const isNarrow = useIsNarrow();
  const width = useWidth(scroller);
  const isUsed = useUsedProperty(list, automatic && propertyName(automatic)) !== undefined;
  const chosen = automatic === undefined || isUsed ? all : all.filter((id) => id !== automatic);
  const { filter, sort } = list.search;
  const hasOneNamespace = selectedValues(filter, "namespace").length === 1;
  const columns = useStable(visibleColumns(chosen, { width, isNarrow, sort, hasOneNamespace }));
  const measures = isNarrow ? NARROW : view.isCompact ? COMPACT : COMFORTABLE;
  const rowHeight = measures.row;
  const { to } = list.search.range;
  const items = useMemo(() => {
    const end = to === undefined ? undefined : parseTimestamp(to, new Date());
    return itemsOf(list.rows, gaps, list.includesNewest, end);
  }, [list.rows, list.includesNewest, gaps, to]);
  const { history } = useRouter();
  const step = useLocation({ select: ({ state }) => state.__TSR_key });
  const place = useScrollAnchor({ scroller, list: list.key, items, measures, anchor, step });
  const hasRows = useRef(false);
  // If a request was opened by its address, its row is shown as soon as there are rows. Back returns the focus.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (hasRows.current || items.length === 0 || element === null) return;
    hasRows.current = true;
    const index = anchor === undefined && selected !== undefined ? items.findIndex(({ id }) => id === selected) : -1;
    const bottom = measures.head + (index + 1) * rowHeight;
    if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight / 2;
    restoreFocus(element, step);
  }, [scroller, items, anchor, selected, measures.head, rowHeight, step]);
  // Browsers send no `pointerleave` for a table that was removed.
  useEffect(() => () => onPointerInside(false), [onPointerInside]);
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
  // Otherwise the virtualizer would keep the row heights of a wide screen.
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
          data-compact={measures === COMPACT || undefined}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
          aria-label="Requests"
          onScroll={scrolled}
          onFocus={({ target }) => rememberFocus(history.location.state.__TSR_key, target)}
          onPointerEnter={(event) => onPointerInside(event.pointerType === "mouse")}
          onPointerLeave={() => onPointerInside(false)}
        >
          {!isNarrow && <ColumnsButton view={view} chosen={chosen} visible={columns} onChange={setView} />}
          <table
            className={tableCss.table}
            data-sort={sort}
            aria-rowcount={items.length + 1}
            aria-busy={list.isLoading}
          >
            <LogHead columns={columns} tableWidth={width} automatic={automatic} />
            <tbody>
              {place.paddingTop > 0 && (
                <tr className={css.lead} style={{ height: place.paddingTop }}>
                  {place.paddingTop > MIN_NOTE_HEIGHT && (
                    <td colSpan={columns.length}>
                      {list.includesNewest && "No newer requests match. The gap keeps the selected row in place."}
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
                  return <GapRow key={item.id} gap={item.gap} place={index + 2} columns={columns.length} />;
                return (
                  <LogRow
                    key={item.id}
                    row={item}
                    place={index + 2}
                    columns={columns}
                    isSelected={item.id === selected}
                  />
                );
              })}
              {below > 0 && <tr aria-hidden="true" className={css.spacer} style={{ height: below }} />}
            </tbody>
          </table>
          {list.isStopped && <SearchStopped isLoading={list.isLoading} onContinue={list.loadOlder} />}
        </section>
      </SearchContext>
    </LatestSearchContext>
  );
});

/**
 * The property if a row of the list has it, so that no column is empty. This is decided once for each list, when it is
 * loaded.
 */
function useUsedProperty({ key, rows }: RowList, property: string | undefined): string | undefined {
  const [decided, setDecided] = useState({ key: "", property, isUsed: true });
  const isLoaded = rows.length > 0 && key !== PREVIOUS_LIST;
  if (isLoaded && (decided.key !== key || decided.property !== property)) {
    const isUsed = property !== undefined && rows.slice(0, PAGE_ROWS).some((row) => propertyOf(row, property));
    setDecided({ key, property, isUsed });
  }
  return decided.isUsed ? property : undefined;
}

/** The previous array if its values are equal, so that the rows do not render again. */
function useStable<Value extends string>(values: readonly Value[]): readonly Value[] {
  const text = JSON.stringify(values);
  return useMemo(() => JSON.parse(text), [text]);
}

/** The current width of an element in pixels. */
function useWidth(ref: RefObject<HTMLElement | null>): number {
  const subscribe = useCallback(
    (changed: () => void) => {
      const observer = new ResizeObserver(changed);
      if (ref.current !== null) observer.observe(ref.current);
      return () => observer.disconnect();
    },
    [ref],
  );
  return useSyncExternalStore(subscribe, () => ref.current?.offsetWidth || window.innerWidth);
}
