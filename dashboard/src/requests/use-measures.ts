/** How high the table's lines are, in pixels: the same numbers as in theme.css and log.module.css. */

import { useMediaQuery } from "@mantine/hooks";

const WIDE = { row: 30, head: 28 };
/** Two lines to a row, and no head. */
const NARROW = { row: 54, head: 0 };

export function useMeasures(): { row: number; head: number } {
  return useMediaQuery("(width <= 640px)", false, { getInitialValueInEffect: false }) ? NARROW : WIDE;
}
