import { GAP_WORDS, gapCount, gapSpan } from "~/api/gap-words";
import type { LogGap } from "~/api/types.gen";
import { utc } from "~/format/time";
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
