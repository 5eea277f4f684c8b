/** The lines of a text on the screen, and where a long text is folded. Pure. */

import { count } from "./number";

/** Longer texts are folded even where all other texts are shown whole. */
export const MAX_UNFOLDED = 100_000;
/** Longer lines are counted as several lines. */
const LINE_LENGTH = 80;
/** A text is not folded to hide fewer lines. */
const MIN_HIDDEN = 3;

/** The number of lines that a text has on the screen, up to `max`. */
export function linesOf(text: string, max: number): number {
  let lines = 0;
  for (let start = 0; lines < max; ) {
    const end = text.indexOf("\n", start);
    lines += Math.max(1, Math.ceil(((end === -1 ? text.length : end) - start) / LINE_LENGTH));
    if (end === -1) break;
    start = end + 1;
  }
  return Math.min(lines, max);
}

/** The length of the beginning that is shown of a folded text. Undefined if the text fits into its lines. */
export function foldAt(text: string, maxLines: number | undefined): number | undefined {
  if (maxLines === undefined) return text.length > MAX_UNFOLDED ? MAX_UNFOLDED : undefined;
  if (linesOf(text, maxLines + MIN_HIDDEN + 1) <= maxLines + MIN_HIDDEN) return undefined;
  let left = maxLines;
  let start = 0;
  while (left > 0) {
    const end = text.indexOf("\n", start);
    const rows = Math.max(1, Math.ceil(((end === -1 ? text.length : end) - start) / LINE_LENGTH));
    if (rows >= left) return end === -1 || rows > left ? start + left * LINE_LENGTH : end;
    left -= rows;
    start = end + 1;
  }
  return start;
}

/** `5,300 lines`, or the number of characters if the lines are few and long. */
export function sizeOf(text: string): string {
  let lines = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines * LINE_LENGTH * 2 > text.length ? `${count(lines)} lines` : `${count(text.length)} characters`;
}
