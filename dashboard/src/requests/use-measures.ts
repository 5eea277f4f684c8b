/** How high the table's lines are, in pixels, and how many columns are seen: the same as in theme.css, log.module.css. */

import { useMediaQuery } from "@mantine/hooks";

export type Measures = { row: number; head: number; columns: number };

const AT_ONCE = { getInitialValueInEffect: false };

export function useMeasures(hasProperty: boolean): Measures {
  const isNarrow = useMediaQuery("(width <= 640px)", false, AT_ONCE);
  const hasModelAndCost = useMediaQuery("(width >= 900px)", true, AT_ONCE);
  const hasTokens = useMediaQuery("(width >= 1120px)", true, AT_ONCE);
  const hasFirst = useMediaQuery("(width >= 1400px)", true, AT_ONCE);
  const columns = 5 + 2 * Number(hasModelAndCost) + (hasTokens ? 1 + Number(hasProperty) : 0) + Number(hasFirst);
  // On a narrow screen a row has two lines, and there is no head.
  return isNarrow ? { row: 54, head: 0, columns } : { row: 30, head: 28, columns };
}
