/** Filter and time range as search parameters. Names are those of the API. Pure. */

import type { Filter, Term, TimeRange } from "./filter";
import { isQuery, partsOf, QUERY } from "./query-parts";

/**
 * The search parameters of the log. `live: false` if live updates are paused. `sort`: show the requests with the
 * highest values of this field instead of the latest ones; the API rejects unknown fields.
 */
export type LogSearch = {
  readonly filter: Filter;
  readonly range: TimeRange;
  readonly live?: false;
  readonly sort?: string;
};

export const EMPTY_SEARCH: LogSearch = { filter: [], range: {} };

/** Search parameters as text with a leading question mark, or an empty text. The inverse of `parseSearch`. */
export function formatSearch(search: LogSearch): string {
  const pairs = toListParams(search);
  if (search.live === false) pairs.push(["live", "off"]);
  return formatPairs(pairs);
}

/** Names and values as the query part of an address. */
export function formatPairs(pairs: readonly (readonly [string, string])[]): string {
  const text = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
  return text === "" ? "" : `?${text}`;
}

/** The search with its sort field as parameters of the API's list of requests. */
export function toListParams(search: LogSearch): [string, string][] {
  const pairs = toApiParams(search);
  return search.sort === undefined ? pairs : [...pairs, ["sort", search.sort]];
}

/** The same search in another order; newest first if `sort` is `undefined`. */
export function withSort({ sort: _, ...search }: LogSearch, sort: string | undefined): LogSearch {
  return sort === undefined ? search : { ...search, sort };
}

/** Filter and time range as parameters of the API. */
export function toApiParams({ filter, range }: LogSearch): [string, string][] {
  const pairs: [string, string][] = filter.flatMap((term) =>
    isQuery(term)
      ? [[QUERY, term.values.join(" ")]]
      : term.values.map((value): [string, string] => [term.negated ? `not.${term.name}` : term.name, value]),
  );
  if (range.from !== undefined) pairs.push(["from", range.from]);
  if (range.to !== undefined) pairs.push(["to", range.to]);
  return pairs;
}

/** Parse search parameters. Every name is accepted here; the API rejects unknown ones. */
export function parseSearch(text: string): LogSearch {
  const terms = new Map<string, { name: string; values: string[]; negated: boolean }>();
  const range: { from?: string; to?: string } = {};
  let live = true;
  let sort: string | undefined;
  for (const [key, value] of new URLSearchParams(text)) {
    if (key === "from" || key === "to") range[key] = value;
    else if (key === "live") live = value !== "off";
    else if (key === "sort") sort = value;
    else {
      const negated = key.startsWith("not.");
      const term = terms.get(key) ?? { name: negated ? key.slice("not.".length) : key, values: [], negated };
      for (const each of key === QUERY ? partsOf(value).map((part) => part.written) : [value]) {
        if (!term.values.includes(each)) term.values.push(each);
      }
      terms.set(key, term);
    }
  }
  const filter: Term[] = [...terms.values()].filter((term) => term.values.length > 0);
  return withSort(live ? { filter, range } : { filter, range, live: false }, sort);
}

/** Percent-encode only what a URL requires, so that it stays readable. A space becomes `+`. */
function encode(text: string): string {
  const encoded = encodeURIComponent(text).replace(/%(2F|3A|40|2C|24)/g, (percent) => decodeURIComponent(percent));
  return encoded.replaceAll("%20", "+");
}
