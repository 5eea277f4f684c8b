/** Rows of the log table: a request or a gap. */

import { type MouseEvent, memo } from "react";
import { gapCount, gapSpan } from "~/domain/gaps";
import { useIsDimmed } from "~/filters/use-hovered-value";
import { utc } from "~/format/time";
import type { LogGap } from "~/generated/api-types";
import { GAP_REASONS } from "~/generated/vocabulary";
import { logHref, useLogNavigate } from "~/navigation/links";
import { useLatestSearch, useLogSearch } from "~/navigation/search-context";
import { hasTextSelection } from "~/ui/shortcuts";
import { useToday } from "~/ui/timestamp";
import { type CellsProps, LogCells } from "./log-cells";
import css from "./log-table.module.css";

type LogRowProps = CellsProps & { place: number; isSelected: boolean };

/** One request. A click outside of its values opens it. */
export const LogRow = memo(function LogRow({ row, place, columns, isSelected }: LogRowProps) {
  const search = useLogSearch();
  const searchAtClick = useLatestSearch();
  const go = useLogNavigate();
  const isDimmed = useIsDimmed(row);

  const open = (event: MouseEvent) => {
    if ((event.target as Element).closest("a, button, input") || hasTextSelection()) return;
    if (event.ctrlKey || event.metaKey) window.open(logHref(search, row.id), "_blank");
    else go({ search: searchAtClick(), id: row.id });
  };

  return (
    <tr
      className={css.row}
      aria-rowindex={place}
      aria-selected={isSelected}
      data-request={row.id}
      data-dimmed={isDimmed || undefined}
      data-outcome={row.outcome}
      onClick={open}
    >
      <LogCells row={row} columns={columns} />
    </tr>
  );
});

/** A line for a gap. The log never hides a gap. */
export function GapRow({ gap, place, columns }: { gap: LogGap; place: number; columns: number }) {
  return (
    <tr className={css.gap} aria-rowindex={place}>
      <td colSpan={columns} title={`${utc(gap.from_at)} – ${utc(gap.to_at)}`}>
        {gapSpan(gap, useToday())} · {gapCount(gap)} {GAP_REASONS[gap.reason]}
      </td>
    </tr>
  );
}
