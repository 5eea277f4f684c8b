/** The menu in which the reader chooses the columns of the log, their order, and the height of its rows. */

import "@mantine/core/styles/InlineInput.css";
import "@mantine/core/styles/Checkbox.css";
import { Checkbox, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { KeyboardEvent } from "react";
import { propertiesQuery } from "~/api/namespaces";
import { QuietButton } from "~/ui/quiet-button";
import {
  type ColumnId,
  insertColumn,
  type LogView,
  labelOf,
  moveColumn,
  OFFERED,
  propertyColumn,
  USUAL_VIEW,
} from "./columns";
import css from "./columns-menu.module.css";

type Props = {
  view: LogView;
  /** The chosen columns, in order. */
  chosen: readonly ColumnId[];
  /** The columns that fit. */
  visible: readonly ColumnId[];
  onChange: (view: LogView) => void;
};

export function ColumnsMenu({ view, chosen, visible, onChange }: Props) {
  const properties = useQuery(propertiesQuery()).data?.data ?? [];
  const offered = [...properties.map(({ value }) => propertyColumn(value)), ...OFFERED];
  const others = offered.filter((id) => !chosen.includes(id));
  const hidden = chosen.filter((id) => !visible.includes(id));

  const change = (columns: readonly ColumnId[]) => {
    onChange({ ...view, columns });
    // The focus is set again, because an element that changes its place loses the focus.
    const focused = document.activeElement;
    if (focused instanceof HTMLElement) requestAnimationFrame(() => focused.focus());
  };
  const moveByKey = (event: KeyboardEvent, id: ColumnId) => {
    const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : undefined;
    if (!event.altKey || by === undefined || !chosen.includes(id)) return;
    event.preventDefault();
    change(moveColumn(chosen, id, by));
  };

  return (
    <div ref={focusFirst}>
      <ul className={css.list} aria-label="Columns">
        {[...chosen, ...others].map((id) => {
          const isChosen = chosen.includes(id);
          const label = labelOf(id);
          const toggle = () => change(isChosen ? chosen.filter((each) => each !== id) : insertColumn(chosen, id));
          return (
            <li key={id} onKeyDown={(event) => moveByKey(event, id)}>
              <Checkbox size="xs" label={label} checked={isChosen} disabled={id === "result"} onChange={toggle} />
              {isChosen && (
                <span>
                  <QuietButton
                    label={`Move ${label} up`}
                    disabled={id === chosen[0]}
                    onClick={() => change(moveColumn(chosen, id, -1))}
                  >
                    ↑
                  </QuietButton>
                  <QuietButton
                    label={`Move ${label} down`}
                    disabled={id === chosen.at(-1)}
                    onClick={() => change(moveColumn(chosen, id, 1))}
                  >
                    ↓
                  </QuietButton>
                </span>
              )}
            </li>
          );
        })}
      </ul>
      {hidden.length > 0 && (
        <p className={css.note} role="status">
          Hidden, not enough space: {hidden.map(labelOf).join(", ")}
        </p>
      )}
      <Group className={css.foot} justify="space-between" wrap="nowrap">
        <Checkbox
          size="xs"
          label="Compact rows"
          checked={view.isCompact}
          onChange={() => onChange({ ...view, isCompact: !view.isCompact })}
        />
        <QuietButton onClick={() => onChange(USUAL_VIEW)}>Reset</QuietButton>
      </Group>
    </div>
  );
}

function focusFirst(menu: HTMLElement | null): void {
  menu?.querySelector("input")?.focus();
}
