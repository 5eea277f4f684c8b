/** The name a link to a value has for those who do not see it: `Filter by namespace production`. */

import { inWords } from "./filter";

export function linkName(name: string, value: string): string {
  const words = inWords(name, value);
  return `Filter by ${words.name} ${words.value}`;
}
