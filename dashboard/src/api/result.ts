/** How a request ended, with a sign; the same in the log and in the detail. The words come from the API. Pure. */

import { duration } from "~/format/duration";
import type { Row } from "./types.gen";

type Tone = Row["result"]["tone"];

/** The sign and the words say the same without the colour of `tone`. */
export type Result = { sign: string; words: string; tone: Tone };

const SIGNS: Record<Tone, string> = { running: "◐", good: "✓", bad: "✗", neutral: "◌" };

/** The result of a row; of a running one, with how long it has run. */
export function resultOf(row: Row, now: Date): Result {
  const { text, tone } = row.result;
  const words = tone === "running" ? `${text} ${duration(ranFor(row, now))}` : text;
  return { sign: SIGNS[tone], words, tone };
}

/** Milliseconds since a running request began, as far as the reader's clock tells. */
export function ranFor(row: Row, now: Date): number {
  return Math.max(0, now.getTime() - new Date(row.started_at).getTime());
}
