/** The filter of a deletion as text. */

import type { Params } from "~/api/matches";
import { describeValue, termLabel } from "~/domain/filter-text";
import type { DeletionRow } from "~/generated/api-types";

/** ` of user cy@example.com`, or ` where model is o1 and text: refund`. Time ranges are omitted. */
export function describeDeleted(params: Params): string {
  const terms = params.filter(([name]) => name !== "from" && name !== "to");
  const [only, ...others] = terms;
  if (only === undefined) return "";
  const { name, verb, value } = describeValue(...only);
  if (others.length === 0 && verb === "is") return ` of ${name} ${value}`;
  return ` where ${terms.map(([param, text]) => termLabel(describeParam(param, text))).join(" and ")}`;
}

/** A filter with its values, for documents. `formatTime` formats the times of `from` and `to`. */
export function describeFilter(filter: DeletionRow["filter"], formatTime: (timestamp: string) => string): string {
  return filter
    .map(([param, value]) => {
      if (value === null) return `${describeParam(param, "").name} (value not kept)`;
      if (param === "from" || param === "to") return `${describeParam(param, "").name} ${formatTime(value)}`;
      return termLabel(describeParam(param, value));
    })
    .join(" · ");
}

function describeParam(param: string, value: string) {
  const name = param.replace(/^not\./u, "");
  return describeValue(name, value, name !== param);
}
