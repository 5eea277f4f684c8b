/** The name a link to a value has for those who do not see it: `Filter by namespace production`. It has what is seen in it. */

import { inWords } from "./filter";

export function linkName(name: string, value: string, seen?: string): string {
  const words = inWords(name, value);
  return `Filter by ${words.name} ${words.value}${seen === undefined ? "" : `: ${seen}`}`;
}
