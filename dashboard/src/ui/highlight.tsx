/** Text in which the matches of a search are marked. */

import { createContext, useContext } from "react";
import { splitByPattern } from "~/domain/search-pattern";

/** The pattern whose matches are marked in all texts below. `undefined` without a text search. */
export const HighlightContext = createContext<RegExp | undefined>(undefined);

export function Highlighted({ text }: { text: string }) {
  const pattern = useContext(HighlightContext);
  if (pattern === undefined) return text;
  return splitByPattern(text, pattern).map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text, in order
    part.isHit ? <mark key={index}>{part.text}</mark> : part.text,
  );
}
