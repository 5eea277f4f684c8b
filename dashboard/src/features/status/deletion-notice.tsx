/** A line with the progress while requests are being deleted. */

import { useOwnDeletion } from "~/api/deletions";
import { useStatus } from "~/api/status";
import { count, percent, plural } from "~/format/number";
import type { DeletionRow } from "~/generated/api-types";
import { ProgressNotice } from "~/ui/messages";

/** Shows the progress of deletions. The latest deletion of this browser tab has its own line. */
export function DeletionNotice() {
  const [own] = useOwnDeletion();
  const text = useStatus(({ deletions }) => progressOf((deletions ?? []).filter(({ id }) => id !== own?.id))) ?? "";
  return <ProgressNotice text={text} />;
}

/** `Deleting 37 requests: 12 removed (32 %).` Empty if no requests are being removed. */
export function progressOf(deletions: readonly DeletionRow[]): string {
  const current = deletions.filter(({ state }) => state === "removing");
  if (current.length === 0) return "";
  const total = current.reduce((sum, { requests }) => sum + requests, 0);
  const removed = current.reduce((sum, deletion) => sum + deletion.removed, 0);
  return `Deleting ${plural(total, "request")}: ${count(removed)} removed (${percent(removed, total)}).`;
}
