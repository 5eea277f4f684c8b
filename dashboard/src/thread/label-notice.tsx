import type { Thread } from "~/generated/api-types";
import { LogLink } from "./log-link";
import css from "./page.module.css";

/** So few requests say nothing about how they hang together. */
const FEWEST = 5;

/** Says so where the requests do not go on from each other. */
export function LabelNotice({ latest }: { latest: Thread }) {
  if (latest.is_thread || latest.data.length < FEWEST) return null;
  return (
    <p className={css.notice}>
      Fewer than one in five of these requests go on from another: this looks like a label, not a thread. It reads
      better in <LogLink>the log</LogLink>.
    </p>
  );
}
