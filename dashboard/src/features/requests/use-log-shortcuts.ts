/** Keyboard shortcuts of the log. */

import { type RefObject, useContext } from "react";
import type { usePin } from "~/api/namespaces";
import { clearNamespaces, type Filter, removeLastValue, replaceValue } from "~/domain/filter";
import type { LogSearch } from "~/domain/log-search";
import { groupsOf, useLabels } from "~/filters/labels";
import { ValueHoverContext } from "~/filters/use-hovered-value";
import type { Row } from "~/generated/api-types";
import { type Anchor, useLogNavigate } from "~/navigation/links";
import { type Runs, useActions } from "~/ui/actions";
import { useShortcuts } from "~/ui/shortcuts";
import type { RowSelection } from "./row-selection";
import { findRow, firstVisibleRow, rowOffset, scrollToRow } from "./scroll-anchor";

type Options = {
  search: LogSearch;
  rows: readonly Row[];
  scroller: RefObject<HTMLElement | null>;
  box: RefObject<HTMLInputElement | null>;
  /** The row that keeps its position on the screen. */
  anchor: Anchor | undefined;
  selected: string | undefined;
  /** Whether a request is open. The open request handles the keys that move and close. */
  isOpen: boolean;
  select: (id: string | undefined) => void;
  toNewest: () => void;
  pinning: ReturnType<typeof usePin>;
  selection: RowSelection;
};

export function useLogShortcuts(options: Options): void {
  const { search, rows, scroller, box, anchor, selected, isOpen, select, toNewest, pinning, selection } = options;
  const go = useLogNavigate();
  const labels = useLabels();
  const hover = useContext(ValueHoverContext);

  const move = (by: number) => {
    const at = rows.findIndex((row) => row.id === selected);
    const first = at === -1 ? firstVisibleRow(scroller.current) : undefined;
    const next =
      at === -1
        ? (rows.find((row) => row.id === first) ?? rows[0])
        : rows[Math.min(rows.length - 1, Math.max(0, at + by))];
    if (next === undefined) return;
    select(next.id);
    // Scroll immediately, so that the row already has the focus when Enter follows.
    scrollToRow(scroller.current, next.id, rows.indexOf(next));
  };
  /** Change the filter. `row` keeps its position on the screen. */
  const goTo = (filter: Filter, row?: Row) => {
    const place = row === undefined ? undefined : { id: row.id, top: rowOffset(scroller.current, row.id) };
    go({ search: { ...search, filter }, anchor: place });
  };

  const openMenu = (row: Row) => {
    const link = findRow(scroller.current, row.id)?.querySelector<HTMLAnchorElement>("a[data-open]");
    if (link) hover.openInRow(link, "namespace", row.namespace);
  };

  const listActions = (target: EventTarget | null): Runs => {
    const row = rows.find((each) => each.id === selected);
    return {
      next: () => move(1),
      previous: () => move(-1),
      open: row && !isLink(target) && (() => go({ search, id: row.id })),
      newest: toNewest,
      close: () => (selection.ids.size > 0 ? selection.clear() : select(undefined)),
    };
  };
  const actions = (): Runs => {
    const row = rows.find((each) => each.id === selected);
    const { live, ...whileLive } = search;
    return {
      onlyNamespace: row && (() => goTo(replaceValue(search.filter, "namespace", row.namespace), row)),
      select: row && (() => selection.toggle(row.id)),
      selectAll: rows.length > 0 && selection.toggleAll,
      valueMenu: row && (() => openMenu(row)),
      pin: row && (() => pinning.mutate({ namespace: row.namespace, pinned: !labels.has(row.namespace) })),
      // A sorted log is not live.
      pause:
        search.sort === undefined &&
        (() => go({ search: live === false ? whileLive : { ...search, live: false }, anchor, replace: true })),
      search: () => box.current?.focus(),
      allNamespaces: () => goTo(clearNamespaces(search.filter)),
      removeLast: search.filter.length > 0 && (() => goTo(removeLastValue(search.filter), row)),
      clear: search.filter.length > 0 && (() => goTo([], row)),
    };
  };
  // An open request has these keys itself.
  useActions((target) => ({ ...(isOpen ? {} : listActions(target)), ...actions() }));

  useShortcuts(({ key }) => {
    const label = groupsOf(labels.values())
      .flatMap((group) => group.labels)
      .find((each) => each.key === key);
    return label && (() => goTo(replaceValue(search.filter, "namespace", label.namespace)));
  });
}

function isLink(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("a, button") !== null;
}
