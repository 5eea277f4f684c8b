/** The menu in which the reader chooses the columns of the log, their order, and the height of its rows. */

import "@mantine/core/styles/InlineInput.css";
import "@mantine/core/styles/Checkbox.css";
import { Box, Checkbox, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { KeyboardEvent } from "react";
import { propertiesQuery } from "~/api/namespaces";
import { useHasRoutes } from "~/api/status";
import pageCss from "~/ui/page.module.css";
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
  const hasRoutes = useHasRoutes();
  const others = offered.filter((id) => !chosen.includes(id) && (id !== "route" || hasRoutes));
  const hidden = chosen.filter((id) => !visible.includes(id));

  const change = (columns: readonly ColumnId[]) => {
    onChange({ ...view, columns });
    // An element that is moved loses the focus, so it gets the focus again. If another element has the focus by then,
    // such as the button of the menu, the focus does not change.
    const focused = document.activeElement;
    requestAnimationFrame(() => {
      if (focused instanceof HTMLElement && document.activeElement === document.body) focused.focus();
    });
  };
  const moveByKey = (event: KeyboardEvent, id: ColumnId) => {
    const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : undefined;
    if (!event.altKey || by === undefined || !chosen.includes(id)) return;
    event.preventDefault();
    change(moveColumn(chosen, id, by));
  };

  return (
    <div ref={focusFirst}>
      <Box component="ul" className={pageCss.list} mah="min(420px, 60vh)" mb={6} aria-label="Columns">
        {[...chosen, ...others].map((id) => {
          const isChosen = chosen.includes(id);
          const label = labelOf(id);
          const toggle = () => change(isChosen ? chosen.filter((each) => each !== id) : insertColumn(chosen, id));
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
              <Checkbox size="xs" label={label} checked={isChosen} disabled={id === "result"} onChange={toggle} />
              {isChosen && (
                <span className="nowrap">
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
            </Group>
          );
        })}
      </Box>
      {hidden.length > 0 && (
        <Box component="p" className="small muted" mx={4} mb={6} role="status">
          Hidden, because there is not enough space: {hidden.map(labelOf).join(", ")}
        </Box>
      )}
      <Group className="top-line" justify="space-between" wrap="nowrap" pt={6} ps={4}>
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
