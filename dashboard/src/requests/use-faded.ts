/** Which rows step back while somebody points at a value: those that do not share it. */

import type { Row } from "~/api/types.gen";
import { rowHas } from "~/filters/filter";
import { usePointed } from "~/filters/pointed";

export function useFaded(): (row: Row) => boolean {
  const pointed = usePointed();
  return (row) => pointed !== undefined && !rowHas(row, pointed.name, pointed.value);
}
