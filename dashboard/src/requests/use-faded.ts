/** Which rows step back while somebody points at a value: those that do not share it. */

import { rowHas } from "~/domain/filter";
import { usePointed } from "~/filters/pointed";
import type { Row } from "~/generated/api-types";

export function useFaded(): (row: Row) => boolean {
  const pointed = usePointed();
  return (row) => pointed !== undefined && !rowHas(row, pointed.name, pointed.value);
}
