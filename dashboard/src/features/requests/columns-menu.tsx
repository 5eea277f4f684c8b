/** The menu in which the reader chooses the columns of the log, their order, and the height of its rows. */

import "@mantine/core/styles/InlineInput.css";
import "@mantine/core/styles/Checkbox.css";
import { Box, Checkbox, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useState } from "react";
import { propertiesQuery } from "~/api/namespaces";
import { useHasRoutes } from "~/api/status";
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
  /** The columns that are shown. */
  visible: readonly ColumnId[];
  onChange: (view: LogView) => void;
};

/**
 * The chosen columns come first, in their order, and properties come last. An item that is checked or unchecked keeps
 * its place until the menu is closed or a column is moved, so that nothing moves under the pointer.
 */
export function ColumnsMenu({ view, chosen, visible, onChange }: Props) {
  const properties = useQuery(propertiesQuery()).data?.data ?? [];
  const hasRoutes = useHasRoutes();
  const offered = [...OFFERED, ...properties.map(({ value }) => propertyColumn(value))];
  const [kept, setKept] = useState<readonly ColumnId[]>();
  const first = kept ?? chosen;
  const listed = [...first, ...offered.filter((id) => !first.includes(id) && (id !== "route" || hasRoutes))];
  const hidden = chosen.filter((id) => !visible.includes(id));
  // This column is never hidden for another reason.
  const isRepeated = hidden.includes("namespace");
  const tooWide = hidden.filter((id) => id !== "namespace");

  const change = (columns: readonly ColumnId[]) => {
    onChange({ ...view, columns });
    // An element that is moved loses the focus, so it gets the focus again. If another element has the focus by then,
    // such as the button of the menu, the focus does not change.
    const focused = document.activeElement;
    requestAnimationFrame(() => {
      if (focused instanceof HTMLElement && document.activeElement === document.body) focused.focus();
    });
  };
  const toggle = (id: ColumnId) => {
    setKept(listed);
    change(chosen.includes(id) ? chosen.filter((each) => each !== id) : insertColumn(chosen, id));
  };
  const move = (id: ColumnId, by: 1 | -1) => {
    setKept(undefined);
    change(moveColumn(chosen, id, by));
  };
  const reset = () => {
    setKept(undefined);
    onChange(USUAL_VIEW);
  };
  const moveByKey = (event: KeyboardEvent, id: ColumnId) => {
    const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : undefined;
    if (!event.altKey || by === undefined || !chosen.includes(id)) return;
    event.preventDefault();
    move(id, by);
  };

  return (
    <div ref={focusFirst}>
      <Box
        component="ul"
        className={css.list}
        style={{ gridTemplateRows: `repeat(${Math.ceil(listed.length / 2)}, auto)` }}
        aria-label="Columns"
      >
        {listed.map((id) => {
          const isChosen = chosen.includes(id);
          const label = labelOf(id);
          return (
            <Group
              key={id}
              component="li"
              className="wrap-anywhere"
              justify="space-between"
              gap={0}
              wrap="nowrap"
              mih={26}
              ps={4}
              onKeyDown={(event: KeyboardEvent) => moveByKey(event, id)}
            >
              <Checkbox
                size="xs"
                label={label}
                checked={isChosen}
                disabled={id === "result"}
                onChange={() => toggle(id)}
              />
              {isChosen && (
                <span className="nowrap">
                  <QuietButton label={`Move ${label} up`} disabled={id === chosen[0]} onClick={() => move(id, -1)}>
                    ↑
                  </QuietButton>
                  <QuietButton label={`Move ${label} down`} disabled={id === chosen.at(-1)} onClick={() => move(id, 1)}>
                    ↓
                  </QuietButton>
                </span>
              )}
            </Group>
          );
        })}
      </Box>
      {hidden.length > 0 && (
        <Box className="small muted" mx={4} mb={6} role="status">
          {isRepeated && <p>Hidden, because the filter selects one namespace: {labelOf("namespace")}</p>}
          {tooWide.length > 0 && <p>Hidden, because there is not enough space: {tooWide.map(labelOf).join(", ")}</p>}
        </Box>
      )}
      <Group className="top-line" justify="space-between" wrap="nowrap" pt={6} ps={4}>
        <Checkbox
          size="xs"
          label="Compact rows"
          checked={view.isCompact}
          onChange={() => onChange({ ...view, isCompact: !view.isCompact })}
        />
        <QuietButton onClick={reset}>Reset</QuietButton>
      </Group>
    </div>
  );
}

function focusFirst(menu: HTMLElement | null): void {
  menu?.querySelector("input")?.focus();
}
