/** The head of the log table, and the button that opens the menu of columns. */

import { Popover } from "@mantine/core";
import { type ReactNode, Suspense, useRef } from "react";
import { useActions } from "~/ui/actions";
import controlsCss from "~/ui/controls.module.css";
import { lazyPart } from "~/ui/lazy-part";
import { TagIcon } from "~/ui/tag-icon";
import { BUTTON_WIDTH, type ColumnId, columnOf, columnWidth, type LogView, labelOf, propertyName } from "./columns";
import css from "./log-table.module.css";
import { SelectAllCheckbox } from "./row-selection";
import { SortableHead, SortLink } from "./sorting";

const ColumnsMenu = lazyPart(() => import("./columns-menu").then((menu) => menu.ColumnsMenu));

type HeadProps = {
  columns: readonly ColumnId[];
  tableWidth: number;
  /** The column of a property that the reader has not chosen. */
  automatic: ColumnId | undefined;
};

export function LogHead({ columns, tableWidth, automatic }: HeadProps) {
  return (
    <thead className={css.head}>
      <tr aria-rowindex={1}>
        {columns.map((id) => (
          <SortableHead
            key={id}
            className={columnClass(id)}
            width={id === "text" ? undefined : columnWidth(id, tableWidth) + (id === columns.at(-1) ? BUTTON_WIDTH : 0)}
            fields={columnOf(id).sorts ?? []}
          >
            {titleOf(id, automatic)}
          </SortableHead>
        ))}
      </tr>
    </thead>
  );
}

function titleOf(id: ColumnId, automatic: ColumnId | undefined): ReactNode {
  const label = labelOf(id);
  if (id === "time")
    return (
      <>
        <SortLink field="started_at" unsorted="Rows are in the order in which requests ended.">
          {label}
        </SortLink>
        <SelectAllCheckbox />
      </>
    );
  if (id === "tokens")
    return (
      <>
        {label} <SortLink field="input_tokens">in</SortLink> → <SortLink field="output_tokens">out</SortLink>
      </>
    );
  const [field] = columnOf(id).sorts ?? [];
  if (propertyName(id) !== undefined) return <PropertyTitle label={label} isAutomatic={id === automatic} />;
  return field === undefined ? <span title={label}>{label}</span> : <SortLink field={field}>{label}</SortLink>;
}

function PropertyTitle({ label, isAutomatic }: { label: string; isAutomatic: boolean }) {
  const why = "This column was selected automatically. You can select others in the menu of columns.";
  return (
    <span title={`The property ${label}.${isAutomatic ? ` ${why}` : ""}`}>
      <TagIcon /> {label}
    </span>
  );
}

export function columnClass(id: ColumnId): string | undefined {
  if (columnOf(id).isNumber) return `${css.number} ${css[id] ?? ""}`;
  return propertyName(id) === undefined ? css[id] : undefined;
}

type ButtonProps = {
  view: LogView;
  chosen: readonly ColumnId[];
  visible: readonly ColumnId[];
  onChange: (view: LogView) => void;
};

/** Opens the menu of columns, at the right end of the head. */
export function ColumnsButton(props: ButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  useActions(() => ({ columns: () => button.current?.click() }));
  return (
    <div className={css.columns}>
      <Popover position="bottom-end" width={540} trapFocus returnFocus withinPortal shadow="md">
        <Popover.Target>
          <button
            ref={button}
            type="button"
            className={controlsCss.iconButton}
            aria-label="Columns"
            title="Columns and row height"
          >
            <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" fill="none" stroke="currentColor">
              <path d="M2.5 3.5h11v9h-11zM6.2 3.5v9M9.8 3.5v9" />
            </svg>
          </button>
        </Popover.Target>
        <Popover.Dropdown aria-label="Columns" p="xs">
          <Suspense>
            <ColumnsMenu {...props} />
          </Suspense>
        </Popover.Dropdown>
      </Popover>
    </div>
  );
}
