/** How a request ended, in a sign and a few words: the same in the log and in the detail. Pure. */

import { duration } from "~/format/duration";
import type { Row } from "./types.gen";

/** `tone` is a colour for results alone; the sign and the words say the same without it. */
export type Result = { sign: "◐" | "✓" | "✗" | "◌"; words: string; tone: "running" | "good" | "bad" | "left" };

/** The result of a row; a running one is told with how long it has run. */
export function resultOf(row: Row, now: Date): Result {
  switch (row.outcome) {
    case "open":
      return { sign: "◐", words: `running ${duration(ranFor(row, now))}`, tone: "running" };
    case "client_closed":
      return row.failed ? complete(row) : { sign: "◌", words: "caller left", tone: "left" };
    case "interrupted":
      return { sign: "✗", words: row.error_code === "log_unavailable" ? "log failed" : "relay stopped", tone: "bad" };
    case "refused":
      return { sign: "✗", words: `${row.status ?? ""} refused`.trim(), tone: "bad" };
    case "upstream_failed":
      return { sign: "✗", words: BROKEN[row.error_code ?? ""] ?? "provider cut", tone: "bad" };
    default:
      return complete(row);
  }
}

/** Milliseconds since a running request began, as far as the reader's clock tells. */
export function ranFor(row: Row, now: Date): number {
  return Math.max(0, now.getTime() - new Date(row.started_at).getTime());
}

const BROKEN: Record<string, string> = { upstream_unreachable: "no provider", upstream_timeout: "provider silent" };

function complete(row: Row): Result {
  if (row.failed) {
    const words = (row.status ?? 0) >= 400 ? `${row.status} provider` : `${row.status} error in stream`;
    return { sign: "✗", words, tone: "bad" };
  }
  const remark = REMARKS[row.finish_reason ?? ""];
  return { sign: "✓", words: remark === undefined ? `${row.status}` : `${row.status} ${remark}`, tone: "good" };
}

const REMARKS: Record<string, string> = {
  tool_calls: "tools",
  function_call: "tools",
  length: "cut short",
  content_filter: "filtered",
};
