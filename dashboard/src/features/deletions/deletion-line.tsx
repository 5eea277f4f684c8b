/** A line that says when the requests of the latest deletion of this browser tab were removed and erased. */

import { useQuery } from "@tanstack/react-query";
import { serverTime } from "~/api/client";
import { knownParams, receiptQuery, useForgetOwnDeletion, useOwnDeletion } from "~/api/deletions";
import { useStatus } from "~/api/status";
import { count, plural } from "~/format/number";
import { clockTime } from "~/format/time";
import type { RequestedDeletion } from "~/generated/api-types";
import { AppLink, receiptHref } from "~/navigation/links";
import { QuietButton } from "~/ui/quiet-button";
import { describeDeleted } from "./deleted-text";
import css from "./deletion-line.module.css";

/** The line stays this long after the deletion is done. */
const SHOWN_MS = 3_600_000;

/** Shown until it is dismissed, or outdated. */
export function DeletionLine() {
  const [own, , dismiss] = useOwnDeletion();
  return <div role="status">{own !== null && <Line deletion={own} dismiss={dismiss} />}</div>;
}

type LineProps = { deletion: RequestedDeletion; dismiss: () => void };

/** The text changes in place. The link and the button are at the end of the line, so that they never move. */
function Line({ deletion, dismiss }: LineProps) {
  const params = knownParams(deletion);
  const { removed_at, done_at, removed } = useQuery(receiptQuery(deletion.id, [])).data ?? deletion;
  const isOutdated = useStatus(({ deletions: [newest] }) => {
    const isOld = done_at !== null && serverTime().getTime() - Date.parse(done_at) > SHOWN_MS;
    return isOld || (newest !== undefined && newest.requested_at > deletion.requested_at);
  });
  useForgetOwnDeletion(isOutdated === true);
  if (isOutdated) return null;
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
