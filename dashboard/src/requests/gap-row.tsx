import { GAP_WORDS, gapCount, gapSpan } from "~/domain/gaps";
import { utc } from "~/format/time";
import type { LogGap } from "~/generated/api-types";
import css from "./log.module.css";

/** A line for a span in which something is missing: the log never hides that. */
export function GapRow({ gap, place, columns }: { gap: LogGap; place: number; columns: number }) {
  return (
    <tr className={css.gap} aria-rowindex={place}>
      <td colSpan={columns} title={`${utc(gap.from_at)} – ${utc(gap.to_at)}`}>
        {gapSpan(gap, new Date())} · {gapCount(gap)} {GAP_WORDS[gap.reason]}
      </td>
    </tr>
  );
}
