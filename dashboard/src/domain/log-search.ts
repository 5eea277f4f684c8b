/** Filter and time range as search parameters. The parameters have the same names as in the API. Pure. */

import { addValue, excludeValue, type Filter, fieldOf, PREFIX, type Term, type TimeRange } from "./filter";

/**
 * The search parameters of the log. `live` is `false` if live updates are paused. With `sort`, the log shows the
 * requests with the highest values of this field instead of the latest requests, or the lowest values if `order` is
 * `asc`. The API rejects unknown fields. `columns` are the columns of a link to a view, separated by commas.
 */
export type LogSearch = {
  readonly filter: Filter;
  readonly range: TimeRange;
  readonly live?: false;
  readonly sort?: string;
  readonly order?: "asc";
  readonly columns?: string;
};

export const EMPTY_SEARCH: LogSearch = { filter: [], range: {} };

/** Search parameters as text with a leading question mark, or an empty text. The inverse of `parseSearch`. */
export function formatSearch(search: LogSearch): string {
  const pairs = toListParams(search);
  if (search.live === false) pairs.push(["live", "off"]);
  if (search.columns !== undefined) pairs.push(["columns", search.columns]);
  return formatPairs(pairs);
}

/** Names and values as the query part of an address. */
export function formatPairs(pairs: readonly (readonly [string, string])[]): string {
  const text = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
  return text === "" ? "" : `?${text}`;
}

/** Convert parameters of the API to a search. The inverse of `toListParams`. */
export function searchOf(params: readonly (readonly [string, string])[]): LogSearch {
  return parseSearch(formatPairs(params));
}

/** Convert a search to parameters of the API's list of requests, including the sort field and its order. */
export function toListParams(search: LogSearch): [string, string][] {
  const pairs = toApiParams(search);
  if (search.sort !== undefined) pairs.push(["sort", search.sort]);
  if (search.sort !== undefined && search.order !== undefined) pairs.push(["order", search.order]);
  return pairs;
}

/** The same search in another order. If `sort` is `undefined`, the newest requests come first. */
export function withSort(
  { sort: _, order: __, ...search }: LogSearch,
  sort: string | undefined,
  order?: "asc",
): LogSearch {
  if (sort === undefined) return search;
  return order === undefined ? { ...search, sort } : { ...search, sort, order };
}

/** The same search with other columns. If `columns` is `undefined`, the columns are those of the reader. */
export function withColumns({ columns: _, ...search }: LogSearch, columns: string | undefined): LogSearch {
  return columns === undefined ? search : { ...search, columns };
}

/** Convert the filter and the time range of a search to parameters of the API. */
export function toApiParams({ filter, range }: LogSearch): [string, string][] {
  const pairs: [string, string][] = filter.flatMap((term) =>
    term.values.map((value): [string, string] => [term.negated ? `${NOT}${term.name}` : term.name, value]),
  );
  if (range.from !== undefined) pairs.push(["from", range.from]);
  if (range.to !== undefined) pairs.push(["to", range.to]);
  return pairs;
}

/** Parse search parameters. Every name is accepted here, because the API rejects unknown names. */
export function parseSearch(text: string): LogSearch {
  const terms = new Map<string, { name: string; values: string[]; negated: boolean }>();
  const range: { from?: string; to?: string } = {};
  let live = true;
  let sort: string | undefined;
  let order: "asc" | undefined;
  let columns: string | undefined;
  for (const [key, value] of new URLSearchParams(text)) {
    if (key === "from" || key === "to") range[key] = value;
    else if (key === "live") live = value !== "off";
    else if (key === "sort") sort = value;
    else if (key === "order") order = value === "asc" ? value : undefined;
    else if (key === "columns") columns = value;
    else {
      const negated = key.startsWith(NOT);
      const term = terms.get(key) ?? { name: negated ? key.slice(NOT.length) : key, values: [], negated };
      if (!term.values.includes(value)) term.values.push(value);
      terms.set(key, term);
    }
  }
  const filter: Term[] = [...terms.values()];
  return withColumns(withSort(live ? { filter, range } : { filter, range, live: false }, sort, order), columns);
}

/** Add parameters to a search. A start time in the parameters replaces the time range of the search. */
export function addParams(search: LogSearch, params: readonly (readonly [string, string])[]): LogSearch {
  let { filter, range } = search;
  if (params.some(([name]) => name === "from")) range = {};
  for (const [name, value] of params) {
    if (name === "from" || name === "to") range = { ...range, [name]: value };
    else if (name.startsWith(NOT)) filter = excludeValue(filter, name.slice(NOT.length), value);
    else filter = addValue(filter, name, value);
  }
  return { ...search, filter, range };
}

/** The same search with the texts of one part of the requests searched in another part: `words` instead of `said_here`. */
export function withSearchedPart(search: LogSearch, from: string, to: string): LogSearch {
  const params = toApiParams(search).map(([name, value]): [string, string] => {
    if (name === from) return [to, value];
    return [name === PREFIX + from ? PREFIX + to : name, value];
  });
  return { ...search, filter: searchOf(params).filter };
}

/**
 * The query in the URL, or an empty text. Links from other programs may have a query. The page itself writes
 * parameters.
 */
export function queryText(filter: Filter): string {
  return filter.find(isQuery)?.values.join(" ") ?? "";
}

/** The filter without the query. */
export function withoutQuery(filter: Filter): Filter {
  return filter.filter((term) => !isQuery(term));
}

/**
 * The search with its query replaced by equivalent parameters.
 *
 * Undefined if a field of the query also occurs in the other parameters, because the meaning would change. A request
 * must match the query and the parameters, but it needs to match only one of several parameters of a field.
 */
export function replaceQuery(search: LogSearch, params: readonly (readonly [string, string])[]): LogSearch | undefined {
  const rest = { ...search, filter: withoutQuery(search.filter) };
  const fields = [...rest.filter.filter((term) => !term.negated).map((term) => term.name), ...Object.keys(rest.range)];
  const known = new Set(fields.map(fieldOf));
  return params.some(([name]) => known.has(fieldOf(name))) ? undefined : addParams(rest, params);
}

function isQuery(term: Term): boolean {
  return term.name === "q" && !term.negated;
}

const NOT = "not.";

/** Percent-encode only the characters that a URL does not allow, so that it stays readable. A space becomes `+`. */
function encode(text: string): string {
  const encoded = encodeURIComponent(text).replace(/%(2F|3A|40|2C|24)/g, (percent) => decodeURIComponent(percent));
  return encoded.replaceAll("%20", "+");
}
