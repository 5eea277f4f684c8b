/** A line that says when the requests of the latest deletion of this browser tab were removed and erased. */

import { useQuery } from "@tanstack/react-query";
import { knownParams, latestDeletionQuery, receiptQuery, useDismissDeletion } from "~/api/deletions";
import { plural } from "~/format/number";
import { clockTime } from "~/format/time";
import type { RequestedDeletion } from "~/generated/api-types";
import { AppLink, receiptHref } from "~/navigation/links";
import pageCss from "~/ui/page.module.css";
import { QuietButton } from "~/ui/quiet-button";
import { describeDeleted } from "./deleted-text";

/** Shown until it is dismissed. */
export function DeletionLine() {
  const latest = useQuery(latestDeletionQuery()).data;
  return <div role="status">{latest != null && <Line deletion={latest} />}</div>;
}

function Line({ deletion }: { deletion: RequestedDeletion }) {
  const dismiss = useDismissDeletion();
  const params = knownParams(deletion);
  const { removed_at, done_at, removed } = useQuery(receiptQuery(deletion.id, [])).data ?? deletion;
  const what = describeDeleted(params);
  return (
    <div className="notice bottom-line">
      {removed_at === null
        ? `Deleting ${plural(deletion.requests, "request")}${what}…`
        : `${plural(removed, "request")}${what} deleted ${clockTime(removed_at)}, `}
      {removed_at !== null &&
        (done_at === null ? "being erased from the disk…" : `erased from the disk ${clockTime(done_at)}.`)}{" "}
      <AppLink className={pageCss.textLink} href={receiptHref(deletion.id, params)}>
        Receipt
      </AppLink>{" "}
      <QuietButton label="Dismiss the deletion" onClick={dismiss}>
        ×
      </QuietButton>
    </div>
  );
}
