/** Token counts for people. */

import { count } from "./number";

/** `312 → 118`; both are estimated where one is: `≈48 → ≈9`. Unknown is `–`. */
export function tokens(input: number | null, output: number | null, estimated: boolean): string {
  if (input === null && output === null) return "–";
  const told = (tokens: number | null) => `${estimated && tokens !== null ? "≈" : ""}${count(tokens)}`;
  return `${told(input)} → ${told(output)}`;
}
