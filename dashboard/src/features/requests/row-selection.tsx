/**
 * Select rows in order to copy or compare them: a checkbox in each row and in the head, a switch for phones, and the
 * actions.
 */

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { createContext, useCallback, useContext, useLayoutEffect, useMemo, useRef, useState } from "react";
import { countQuery } from "~/api/requests";
import { ExportButton } from "~/filters/export-button";
import { count } from "~/format/number";
import type { Row } from "~/generated/api-types";
import { AppLink, compareHref } from "~/navigation/links";
import { useLogSearch } from "~/navigation/search-context";
import { useActions } from "~/ui/actions";
import { CopyButton } from "~/ui/copy-button";
import { focusPage } from "~/ui/focus";
import css from "./row-selection.module.css";

export type RowSelection = {
  /** The ids of the selected requests. */
  readonly ids: ReadonlySet<string>;
  /** Selects or deselects a row. With `isRange`, selects all rows from the last changed row to this row. */
  readonly toggle: (id: string, isRange?: boolean) => void;
  readonly clear: () => void;
  /** Whether all loaded requests are selected. False if there are no requests. */
  readonly areAllSelected: boolean;
  /** Selects all loaded requests, or deselects all of them if they are already selected. */
  readonly toggleAll: () => void;
  /** Whether all requests that match the filter are selected, including those that are not loaded. */
  readonly isEveryMatch: boolean;
  readonly selectEveryMatch: () => void;
};

const NONE: ReadonlySet<string> = new Set();

export const RowSelectionContext = createContext<RowSelection>({
  ids: NONE,
  toggle: () => {},
  clear: () => {},
  areAllSelected: false,
  toggleAll: () => {},
  isEveryMatch: false,
  selectEveryMatch: () => {},
});

/** `list` identifies the list of rows. A new list starts with an empty selection. */
export function useRowSelection(list: string, rows: readonly Row[]): RowSelection {
  const [state, setState] = useState({ list, ids: NONE, last: "", isEveryMatch: false });
  const latest = useRef(rows);
  useLayoutEffect(() => {
    latest.current = rows;
  }, [rows]);
  const allLoaded = useCallback(() => new Set(latest.current.map((row) => row.id)), []);
  const toggle = useCallback(
    (id: string, isRange = false) =>
      setState((before) => {
        const ids = before.list !== list ? new Set<string>() : before.isEveryMatch ? allLoaded() : new Set(before.ids);
        if (isRange) for (const each of idsBetween(latest.current, before.last, id)) ids.add(each);
        else if (!ids.delete(id)) ids.add(id);
        return { list, ids, last: id, isEveryMatch: false };
      }),
    [list, allLoaded],
  );
  const isEveryMatch = state.list === list && state.isEveryMatch;
  // Rows that are loaded later are selected, too.
  const ids = useMemo(
    () => (isEveryMatch ? new Set(rows.map((row) => row.id)) : state.list === list ? state.ids : NONE),
    [isEveryMatch, rows, state, list],
  );
  const areAllSelected = includesAll(ids, rows);
  const set = useCallback(
    (next: ReadonlySet<string>, isEveryMatch = false) => setState({ list, ids: next, last: "", isEveryMatch }),
    [list],
  );
  return useMemo(
    () => ({
      ids,
      toggle,
      clear: () => set(NONE),
      areAllSelected,
      toggleAll: () => set(areAllSelected ? NONE : allLoaded()),
      isEveryMatch,
      selectEveryMatch: () => set(NONE, true),
    }),
    [ids, toggle, set, areAllSelected, isEveryMatch, allLoaded],
  );
}

function includesAll(ids: ReadonlySet<string>, rows: readonly Row[]): boolean {
  return rows.length > 0 && ids.size >= rows.length && rows.every((row) => ids.has(row.id));
}

/**
 * The ids from one row to another, in either direction. If one of the two rows is not in the list, only the second id
 * is returned.
 */
function idsBetween(rows: readonly Row[], from: string, to: string): string[] {
  const ends = [from, to].map((id) => rows.findIndex((row) => row.id === id));
  if (ends.includes(-1)) return [to];
  return rows.slice(Math.min(...ends), Math.max(...ends) + 1).map((row) => row.id);
}

/** The checkbox of a row. By keyboard, `x` selects the current row. */
export function RowCheckbox({ id, time }: { id: string; time: string }) {
  const { ids, toggle } = useContext(RowSelectionContext);
  return (
    <input
      type="checkbox"
      className={css.checkbox}
      aria-label={`Select the request of ${time}`}
      title="Select (x). Shift-click selects a range."
      tabIndex={-1}
      checked={ids.has(id)}
      onChange={({ nativeEvent }) => toggle(id, nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)}
    />
  );
}

/** The checkbox in the head, which selects all rows. By keyboard, Shift+X does the same. */
export function SelectAllCheckbox() {
  const { ids, areAllSelected, toggleAll } = useContext(RowSelectionContext);
  const isPartial = ids.size > 0 && !areAllSelected;
  return (
    <input
      ref={(box) => {
        if (box !== null) box.indeterminate = isPartial;
      }}
      type="checkbox"
      className={css.checkbox}
      aria-label="Select all loaded requests"
      title="Select all loaded requests (Shift+X)"
      tabIndex={-1}
      checked={areAllSelected}
      onChange={toggleAll}
    />
  );
}

type SwitchProps = { selection: RowSelection; isOn: boolean; onChange: (isOn: boolean) => void };

/**
 * A switch for narrow screens. It shows the checkboxes, for which there is otherwise no space, and can select all
 * loaded rows.
 */
export function SelectionSwitch({ selection, isOn, onChange }: SwitchProps) {
  const close = () => {
    selection.clear();
    onChange(false);
  };
  if (!isOn) {
    return (
      <Button variant="default" size="compact-xs" onClick={() => onChange(true)}>
        Select rows
      </Button>
    );
  }
  return (
    <>
      <Button variant="default" size="compact-xs" onClick={selection.toggleAll}>
        {selection.areAllSelected ? "None" : "All"}
      </Button>
      <Button variant="default" size="compact-xs" onClick={close}>
        Done
      </Button>
    </>
  );
}

/** The actions for the selected rows. They are not shown if no rows are selected. */
export function SelectionBar({ selection, rows }: { selection: RowSelection; rows: readonly Row[] }) {
  const { ids, clear, areAllSelected, isEveryMatch } = selection;
  const ended = endedIds(selection, rows);
  // The filter bar reads the number of matches.
  const counted = useQuery({ ...countQuery(useLogSearch()), enabled: false });
  const matches = counted.isPlaceholderData ? undefined : counted.data;
  if (ids.size === 0) return null;
  const selected = () => rows.filter((row) => ids.has(row.id));
  const total = matches && `${matches.complete ? "" : "at least "}${count(matches.requests)}`;
  const hasMore = matches !== undefined && matches.requests > rows.length;
  return (
    <section className={css.bar} aria-label="Selected requests">
      {isEveryMatch ? (
        <span role="status">All {total} selected</span>
      ) : (
        <>
          <span>
            <span role="status">{count(ids.size)} selected</span>{" "}
            <span className="muted">
              · {count(rows.length)} loaded{hasMore && ` of ${total}`}
            </span>
          </span>
          {hasMore && areAllSelected && (
            <Button variant="default" size="compact-xs" onClick={selection.selectEveryMatch}>
              Select all {total}
            </Button>
          )}
          {ids.size === 2 && <CompareLink rows={selected()} />}
          <CopyButton text={() => linesOf(selected().map((row) => row.id))} label="ids">
            Copy ids
          </CopyButton>
          <CopyButton text={() => linesOf(selected().map((row) => JSON.stringify(row)))} label="as JSONL">
            Copy as JSONL
          </CopyButton>
        </>
      )}
      {ended?.length !== 0 && <ExportButton text="Export selected…" matches={matches} selected={ended} />}
      <Button
        variant="default"
        size="compact-xs"
        onClick={() => {
          clear();
          focusPage();
        }}
      >
        Clear selection
      </Button>
    </section>
  );
}

/** The ids of the selected requests that can be exported. Undefined if the selection is every match. */
export function endedIds({ ids, isEveryMatch }: RowSelection, rows: readonly Row[]): string[] | undefined {
  if (isEveryMatch || ids.size === 0) return undefined;
  return rows.filter((row) => ids.has(row.id) && row.outcome !== "open").map((row) => row.id);
}

/** A link to the comparison of two rows. The earlier request comes first. */
function CompareLink({ rows }: { rows: readonly Row[] }) {
  const link = useRef<HTMLAnchorElement>(null);
  useActions(() => ({ compare: () => link.current?.click() }));
  const [a, b] = [...rows].sort((one, other) => one.started_at.localeCompare(other.started_at));
  if (a === undefined || b === undefined) return null;
  return (
    <Button
      component={AppLink}
      ref={link}
      variant="default"
      size="compact-xs"
      href={compareHref(a.id, b.id)}
      title="Compare (c)"
      data-compares-selected=""
    >
      Compare
    </Button>
  );
}

function linesOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
