/** A line with the progress while requests are being deleted. */

import { useStatus } from "~/api/status";
import { count, plural } from "~/format/number";
import type { DeletionRow } from "~/generated/api-types";

/** Shows the progress of deletions. */
export function DeletionNotice() {
  const text = useStatus(({ deletions }) => progressOf(deletions ?? [])) ?? "";
  return <div role="status">{text !== "" && <div className="notice bottom-line">{text}</div>}</div>;
}

/** `Deleting 37 requests: 12 removed (32 %).` Empty if no requests are being removed. */
export function progressOf(deletions: readonly DeletionRow[]): string {
  const current = deletions.filter(({ state }) => state === "removing");
  if (current.length === 0) return "";
  const total = current.reduce((sum, { requests }) => sum + requests, 0);
  const removed = current.reduce((sum, deletion) => sum + deletion.removed, 0);
  const percent = total === 0 ? 0 : Math.min(100, Math.floor((100 * removed) / total));
  return `Deleting ${plural(total, "request")}: ${count(removed)} removed (${percent} %).`;
}
