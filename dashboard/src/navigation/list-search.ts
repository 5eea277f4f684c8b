/** Search parameters of the namespaces page. Pure. */

import { formatPairs } from "~/domain/log-search";

/**
 * Namespaces. `pinned` is "true" for pinned namespaces only, and "false" for all others. The API rejects other values.
 */
export type NamespaceList = {
  readonly tab: "namespaces";
  readonly prefix: string;
  readonly sort: string;
  readonly pinned: string | undefined;
};

/** Properties, or the values of the selected property. */
export type PropertyList = {
  readonly tab: "properties";
  readonly prefix: string;
  readonly property: string | undefined;
};

export type ListSearch = NamespaceList | PropertyList;

export const ALL_NAMESPACES: NamespaceList = { tab: "namespaces", prefix: "", sort: "last_at", pinned: undefined };
export const ALL_PROPERTIES: PropertyList = { tab: "properties", prefix: "", property: undefined };

/** Search parameters as text with a leading question mark, or an empty text. The inverse of `parseList`. */
export function formatList(list: ListSearch): string {
  const pairs: [string, string][] = [];
  if (list.tab === "properties") {
    pairs.push(["tab", "properties"]);
    if (list.property !== undefined) pairs.push(["property", list.property]);
  } else {
    if (list.pinned !== undefined) pairs.push(["pinned", list.pinned]);
    if (list.sort !== ALL_NAMESPACES.sort) pairs.push(["sort", list.sort]);
  }
  if (list.prefix !== "") pairs.push(["prefix", list.prefix]);
  return formatPairs(pairs);
}

export function parseList(text: string): ListSearch {
  const params = new URLSearchParams(text);
  const prefix = params.get("prefix") ?? "";
  if (params.get("tab") === "properties") {
    return { tab: "properties", prefix, property: params.get("property") ?? undefined };
  }
  return {
    tab: "namespaces",
    prefix,
    sort: params.get("sort") ?? ALL_NAMESPACES.sort,
    pinned: params.get("pinned") ?? undefined,
  };
}
