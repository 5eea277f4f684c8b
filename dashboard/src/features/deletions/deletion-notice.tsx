/** A line with the progress while requests are being deleted. */

import { useQueryClient } from "@tanstack/react-query";
import { useRemoved } from "~/api/deletions";
import { useStatus } from "~/api/status";
import css from "~/features/status/status-bar.module.css";
import { count, plural } from "~/format/number";
import type { DeletionRow } from "~/generated/api-types";

/** Queries that are not read again when requests were deleted: the log reads itself again. */
const NOT_READ_AGAIN = ["status", "log"];

/** Says how far deletions are. When their requests are gone, everything that the page shows is read again. */
export function DeletionNotice() {
  const client = useQueryClient();
  useRemoved(() => {
    void client.invalidateQueries({ predicate: ({ queryKey }) => !NOT_READ_AGAIN.includes(String(queryKey[0])) });
  });
  const text = useStatus(({ deletions }) => progressOf(deletions ?? [])) ?? "";
  return (
    <div role="status">
      {text !== "" && (
        <div className={css.bar}>
          <p>{text}</p>
        </div>
      )}
    </div>
  );
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
