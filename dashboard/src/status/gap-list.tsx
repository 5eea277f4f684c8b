import { GAP_WORDS, gapCount, gapSpan } from "~/api/gap-words";
import type { LogGap } from "~/api/types.gen";
import { count, plural } from "~/format/number";
import { utc } from "~/format/time";
import styles from "./status-panel.module.css";

type GapListProps = { gaps: readonly LogGap[]; total: number; now: Date };

/** Where something is missing from the log: when, how much, why. */
export function GapList({ gaps, total, now }: GapListProps) {
  return (
    <section>
      <h3>Gaps</h3>
      {gaps.length === 0 ? (
        <p>None: nothing is missing from the log.</p>
      ) : (
        <ul className={styles.list}>
          {gaps.map((gap) => (
            <li key={`${gap.from_at} ${gap.reason}`}>
              <span className={styles.when} title={`${utc(gap.from_at)} – ${utc(gap.to_at)}`}>
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
