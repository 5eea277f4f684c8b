/** The filter of a deletion as text. */

import type { Params } from "~/api/matches";
import { conjunction, describeValue, termLabel } from "~/domain/filter-text";
import type { DeletionRow } from "~/generated/api-types";

/** ` of user cy@example.com`, or ` where model is o1 and text: refund`. Time ranges are omitted. */
export function describeDeleted(params: Params): string {
  const terms = params.filter(([name]) => name !== "from" && name !== "to").map(([name, value]) => termOf(name, value));
  const [only, ...others] = terms;
  if (only === undefined) return "";
  const { name, verb, value } = only.text;
  if (others.length === 0 && verb === "is") return ` of ${name} ${value}`;
  return terms.reduce((before, term, at) => {
    const last = terms[at - 1];
    return `${before} ${last === undefined ? "where" : conjunction(last, term)} ${termLabel(term.text)}`;
  }, "");
}

/** A filter with its values, for documents. `formatTime` formats the times of `from` and `to`. */
export function describeFilter(filter: DeletionRow["filter"], formatTime: (timestamp: string) => string): string {
  return filter
    .map(([param, value]) => {
      const { text } = termOf(param, value ?? "");
      if (value === null) return `${text.name} (value not kept)`;
      return param === "from" || param === "to" ? `${text.name} ${formatTime(value)}` : termLabel(text);
    })
    .join(" · ");
}

function termOf(param: string, value: string) {
  const name = param.replace(/^not\./u, "");
  const negated = name !== param;
  return { name, negated, text: describeValue(name, value, negated) };
}
