/** Select rows in order to copy them: a checkbox in each row and in the head, a switch for phones, and the actions. */

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { createContext, useCallback, useContext, useLayoutEffect, useMemo, useRef, useState } from "react";
import { countQuery } from "~/api/requests";
import { count } from "~/format/number";
import type { Row } from "~/generated/api-types";
import { useLogSearch } from "~/navigation/search-context";
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
};

const NONE: ReadonlySet<string> = new Set();

export const RowSelectionContext = createContext<RowSelection>({
  ids: NONE,
  toggle: () => {},
  clear: () => {},
  areAllSelected: false,
  toggleAll: () => {},
});

/** `list` identifies the list of rows. A new list starts with an empty selection. */
export function useRowSelection(list: string, rows: readonly Row[]): RowSelection {
  const [state, setState] = useState({ list, ids: NONE, last: "" });
  const latest = useRef(rows);
  useLayoutEffect(() => {
    latest.current = rows;
  }, [rows]);
  const toggle = useCallback(
    (id: string, isRange = false) =>
      setState((before) => {
        const ids = new Set(before.list === list ? before.ids : NONE);
        if (isRange) for (const each of idsBetween(latest.current, before.last, id)) ids.add(each);
        else if (!ids.delete(id)) ids.add(id);
        return { list, ids, last: id };
      }),
    [list],
  );
  const clear = useCallback(() => setState({ list, ids: NONE, last: "" }), [list]);
  const ids = state.list === list ? state.ids : NONE;
  const areAllSelected = includesAll(ids, rows);
  const toggleAll = useCallback(() => {
    const selected = areAllSelected ? NONE : new Set(latest.current.map((row) => row.id));
    setState({ list, ids: selected, last: "" });
  }, [list, areAllSelected]);
  return useMemo(
    () => ({ ids, toggle, clear, areAllSelected, toggleAll }),
    [ids, toggle, clear, areAllSelected, toggleAll],
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
        Select
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
  const { ids, clear } = selection;
  // The filter bar reads the number of matches.
  const counted = useQuery({ ...countQuery(useLogSearch()), enabled: false });
  const matches = counted.isPlaceholderData ? undefined : counted.data;
  if (ids.size === 0) return null;
  const selected = () => rows.filter((row) => ids.has(row.id));
  return (
    <section className={css.bar} aria-label="Selected requests">
      <span>
        <span role="status">{count(ids.size)} selected</span>{" "}
        <span className="muted">
          · {count(rows.length)} loaded
          {matches !== undefined && matches.requests > rows.length && (
            <>
              {" "}
              of {matches.complete ? "" : "at least "}
              {count(matches.requests)}
            </>
          )}
        </span>
      </span>
      <CopyButton text={() => linesOf(selected().map((row) => row.id))} label="ids">
        Copy ids
      </CopyButton>
      <CopyButton text={() => linesOf(selected().map((row) => JSON.stringify(row)))} label="as JSONL">
        Copy as JSONL
      </CopyButton>
      <Button
        variant="default"
        size="compact-xs"
        onClick={() => {
          clear();
          focusPage();
        }}
      >
        Clear
      </Button>
    </section>
  );
}

function linesOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
