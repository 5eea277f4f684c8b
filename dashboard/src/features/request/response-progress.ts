/** The text of a response after each of its chunks. Pure. */

import type { ResponseProgress } from "~/generated/api-types";

/** The text after a number of chunks. `before` is how many of its characters the previous text has, too. */
export type TextStep = { readonly chunk: number; readonly text: string; readonly before: number };

/** Build the texts from the steps of the API, whose characters are code points. */
export function textsOf({ steps }: ResponseProgress): TextStep[] {
  const texts: TextStep[] = [];
  let text = "";
  let length = 0;
  for (const [chunk, kept, added] of steps) {
    const prefix = kept === length ? text : [...text].slice(0, kept).join("");
    text = prefix + added;
    length = kept + [...added].length;
    texts.push({ chunk, text, before: prefix.length });
  }
  return texts;
}

/** The step that says what had arrived after a number of chunks. Undefined if no text had arrived. */
export function stepAt(texts: readonly TextStep[], chunks: number): TextStep | undefined {
  let low = 0;
  let high = texts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((texts[middle]?.chunk ?? 0) <= chunks) low = middle + 1;
    else high = middle;
  }
  return texts[low - 1];
}
