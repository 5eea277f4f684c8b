/** The difference between two texts in rows with the same part of both texts. Pure. */

import type { TextDifference, TextPiece } from "~/generated/api-types";

/** Equal text that is left out, or a part of both texts in which something differs. */
export type TextRow = { readonly omitted: number } | { readonly a: Segment[]; readonly b: Segment[] };

export type Segment = {
  readonly kind: TextPiece["kind"];
  readonly text: string;
  /** Whether the text says how many characters are left out. */
  readonly isNote?: boolean;
};

/** The rows in order. A row ends where equal text is left out. */
export function textRows({ pieces }: TextDifference): TextRow[] {
  const rows: TextRow[] = [];
  let a: Segment[] = [];
  let b: Segment[] = [];
  const endRow = () => {
    if ([...a, ...b].some(({ kind }) => kind !== "equal")) rows.push({ a, b });
    [a, b] = [[], []];
  };
  for (const piece of pieces) {
    const { kind, text = "", omitted = 0, end = "" } = piece;
    if (kind !== "equal") {
      (kind === "removed" ? a : b).push(...segments(piece));
      continue;
    }
    for (const side of [a, b]) if (text !== "") side.push({ kind, text });
    if (omitted === 0) continue;
    endRow();
    rows.push({ omitted });
    for (const side of [a, b]) if (end !== "") side.push({ kind, text: end });
  }
  endRow();
  return rows;
}

function segments({ kind, text = "", omitted = 0, end = "" }: TextPiece): Segment[] {
  if (omitted === 0) return [{ kind, text: visible(text) }];
  const note = { kind, text: ` … ${omitted.toLocaleString("en-US")} characters … `, isNote: true };
  return [{ kind, text }, note, { kind, text: end }];
}

/** A text of only white space with signs, so that the difference can be seen. */
function visible(text: string): string {
  return text.trim() === "" ? text.replaceAll(" ", "·").replaceAll("\t", "→\t").replaceAll("\n", "↵\n") : text;
}
