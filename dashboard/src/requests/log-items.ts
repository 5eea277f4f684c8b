/** What stands in the log, line by line: requests, and the gaps in which something is missing. Pure. */

import type { LogGap, Row } from "~/generated/api-types";

export type Item = { readonly id: string } & ({ readonly row: Row } | { readonly gap: LogGap });

/** Puts each gap between the requests before and after it, as far as the rows reach. Gaps come latest first. */
export function itemsOf(rows: readonly Row[], gaps: readonly LogGap[], reachesNow: boolean): Item[] {
  const items: Item[] = [];
  let next = 0;
  const gapBefore = (moment: string) => {
    for (let gap = gaps[next]; gap !== undefined && gap.to_at > moment; gap = gaps[++next]) {
      if (items.length > 0 || reachesNow) items.push({ id: `gap ${gap.from_at} ${gap.reason}`, gap });
    }
  };
  for (const row of rows) {
    gapBefore(row.started_at);
    items.push({ id: row.id, row });
  }
  return items;
}
