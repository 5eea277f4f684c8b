/** Token counts for people. */

import { count } from "./number";

/** `312 → 118`; an estimate has `≈` before the answer's, unknown is `–`. */
export function tokens(input: number | null, output: number | null, estimated: boolean): string {
  if (input === null && output === null) return "–";
  return `${count(input)} → ${estimated && output !== null ? "≈" : ""}${count(output)}`;
}
