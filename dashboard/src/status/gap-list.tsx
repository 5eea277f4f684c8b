import { GAP_WORDS, gapCount, gapSpan } from "~/domain/gaps";
import { count, plural } from "~/format/number";
import { utc } from "~/format/time";
import type { LogGap } from "~/generated/api-types";
import css from "./status-panel.module.css";

type GapListProps = { gaps: readonly LogGap[]; total: number; now: Date };

/** Where something is missing from the log: when, how much, why. */
export function GapList({ gaps, total, now }: GapListProps) {
  return (
    <section>
      <h3>Gaps</h3>
      {gaps.length === 0 ? (
        <p>None: nothing is missing from the log.</p>
      ) : (
        <ul className={css.list}>
          {gaps.map((gap) => (
            <li key={`${gap.from_at} ${gap.reason}`}>
              <span className={css.when} title={`${utc(gap.from_at)} – ${utc(gap.to_at)}`}>
                {gapSpan(gap, now)}
              </span>{" "}
              <span>
                <strong>{gapCount(gap)}</strong> {GAP_WORDS[gap.reason]}
              </span>
            </li>
          ))}
        </ul>
      )}
      {total > gaps.length && (
        <p>
          The latest {count(gaps.length)} of {plural(total, "gap")}.
        </p>
      )}
    </section>
  );
}
