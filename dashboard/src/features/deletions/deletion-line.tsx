/** A line that says when the requests of the latest deletion of this browser tab were removed and erased. */

import { useQuery } from "@tanstack/react-query";
import { knownParams, latestDeletionQuery, receiptQuery, useDismissDeletion } from "~/api/deletions";
import { count, plural } from "~/format/number";
import { clockTime } from "~/format/time";
import type { RequestedDeletion } from "~/generated/api-types";
import { AppLink, receiptHref } from "~/navigation/links";
import { QuietButton } from "~/ui/quiet-button";
import { describeDeleted } from "./deleted-text";
import css from "./deletion-line.module.css";

/** Shown until it is dismissed. */
export function DeletionLine() {
  const latest = useQuery(latestDeletionQuery()).data;
  return <div role="status">{latest != null && <Line deletion={latest} />}</div>;
}

/** The text changes in place. The link and the button are at the end of the line, so that they never move. */
function Line({ deletion }: { deletion: RequestedDeletion }) {
  const dismiss = useDismissDeletion();
  const params = knownParams(deletion);
  const { removed_at, done_at, removed } = useQuery(receiptQuery(deletion.id, [])).data ?? deletion;
  const what = describeDeleted(params);
  const text =
    removed_at === null
      ? `Deleting ${plural(deletion.requests, "request")}${what}: ${count(removed)} removed…`
      : `${plural(removed, "request")}${what} deleted at ${clockTime(removed_at)}, ${
          done_at === null ? "being erased from the disk…" : `erased from the disk at ${clockTime(done_at)}.`
        }`;
  return (
    <div className={`notice bottom-line ${css.line}`}>
      <span className={css.text}>{text}</span>
      <AppLink className="link" href={receiptHref(deletion.id, params)}>
        Receipt
      </AppLink>
      <QuietButton label="Dismiss the deletion" onClick={dismiss}>
        ×
      </QuietButton>
    </div>
  );
}
