/** The results of the command palette for a text. */

import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { recentNamespacesQuery } from "~/api/namespaces";
import { requestQuery } from "~/api/requests";
import { savedFiltersQuery } from "~/api/saved-filters";
import { ApiError } from "~/domain/api-error";
import { describeSearch } from "~/domain/filter-text";
import { type LogSearch, searchOf } from "~/domain/log-search";
import { NamespaceName } from "~/filters/chips";
import { useLabels } from "~/filters/labels";
import inputCss from "~/filters/query-input.module.css";
import { connectHref, listHref, logHref } from "~/navigation/links";
import { ALL_NAMESPACES, ALL_PROPERTIES } from "~/navigation/list-search";
import { overviewHref } from "~/navigation/overview-search";
import { useLogSearch } from "~/navigation/search-context";
import css from "./palette.module.css";

/** A link. `name`: its accessible name, with the visible text. `key` differs from that of every other result. */
export type Result = {
  readonly key: string;
  readonly name: string;
  readonly href: string;
  readonly content: ReactNode;
};
export type Group = { readonly heading: string; readonly results: readonly Result[] };

const MAX_NAMESPACES = 8;
const MAX_SAVED = 8;
const DEBOUNCE_MS = 120;

/** Results in groups without empty ones. `note`: why the request with the id in the text is missing. */
export function useResults(text: string): { groups: Group[]; note: string | undefined } {
  const search = useLogSearch();
  const [settled] = useDebouncedValue(text, DEBOUNCE_MS);
  const namespaces = useNamespaces(text, settled);
  const { request, note } = useRequest(text, settled, search, namespaces);
  const onlyWith = (name: string, value: string) =>
    logHref({ filter: [{ name, values: [value], negated: false }], range: search.range });

  const groups: Group[] = [
    { heading: "Pages", results: pagesAt(search).filter(({ name }) => startsWith(name, text)) },
    { heading: "Saved filters", results: useSavedFilters(text) },
    {
      heading: "Namespaces",
      results: namespaces.names.map((name) => ({
        key: `namespace ${name}`,
        name,
        href: onlyWith("namespace", name),
        content: <NamespaceName namespace={name} />,
      })),
    },
    { heading: "Requests", results: request === undefined ? [] : [request] },
    { heading: "Search", results: text === "" ? [] : [wordSearch(text, onlyWith("words", text))] },
  ];
  return { groups: groups.filter(({ results }) => results.length > 0), note };
}

function pagesAt(search: LogSearch): Result[] {
  const pages = [
    ["Requests", logHref(search)],
    ["Namespaces", listHref(ALL_NAMESPACES)],
    ["Properties", listHref(ALL_PROPERTIES)],
    ["Overview", overviewHref(search, undefined)],
    ["Connect", connectHref(search)],
  ] as const;
  return pages.map(([name, href]) => ({ key: `page ${name}`, name, href, content: name }));
}

/** Saved filters whose name contains the text, in any case. */
function useSavedFilters(text: string): Result[] {
  const saved = useQuery(savedFiltersQuery()).data ?? [];
  const matching = saved.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  return matching.slice(0, MAX_SAVED).map(({ name, params }) => {
    const search = searchOf(params);
    const description = describeSearch(search);
    return {
      key: `saved ${name}`,
      name: `${name} ${description}`,
      href: logHref(search),
      content: (
        <>
          <bdi>{name}</bdi> <bdi className={inputCss.note}>{description}</bdi>
        </>
      ),
    };
  });
}

function wordSearch(text: string, href: string): Result {
  const name = `Search the log for “${text}”`;
  return { key: "words", name, href, content: <bdi className={css.text}>{name}</bdi> };
}

/** Names that start with the text, in any case if they are known to the page. Pinned ones come first. */
function useNamespaces(text: string, settled: string): { names: string[]; isPending: boolean } {
  const pinned = [...useLabels().keys()];
  const { data: recent, isPending, isPlaceholderData } = useQuery(recentNamespacesQuery(settled));
  const known = new Set([...pinned, ...(recent?.data ?? []).map(({ namespace }) => namespace)]);
  const names = [...known].filter((name) => startsWith(name, text)).slice(0, MAX_NAMESPACES);
  return { names, isPending: isPending || isPlaceholderData };
}

function startsWith(name: string, text: string): boolean {
  return name.toLowerCase().startsWith(text.toLowerCase());
}

/** Whether the text can be an id: one word with a digit. Clients choose their ids freely. */
function isId(text: string): boolean {
  return /^(?=.*\d)\S{8,200}$/u.test(text);
}

/**
 * The request with this id of any kind. While it is loading, the link already leads to it. A text with which the name
 * of a namespace starts is not looked up as an id.
 */
function useRequest(
  text: string,
  settled: string,
  search: LogSearch,
  namespaces: { names: readonly string[]; isPending: boolean },
): { request?: Result; note?: string } {
  const isName = namespaces.names.length > 0;
  const isWanted = isId(settled) && !isName && !namespaces.isPending;
  const { data, error, isPending } = useQuery({ ...requestQuery(settled), enabled: isWanted });
  if (!isId(text) || isName) return {};
  if (settled === text && !isPending && error !== null) {
    return { note: error instanceof ApiError && error.status === 404 ? "No request has this id." : error.message };
  }
  const found = settled === text ? data : undefined;
  const facts = [found?.namespace, found?.model].filter((fact) => fact != null).join(" · ");
  return {
    request: {
      key: "request",
      name: `${text} ${facts}`.trim(),
      href: logHref(search, found?.id ?? text),
      content: (
        <>
          <bdi className={inputCss.label}>{text}</bdi> <span className={inputCss.note}>{facts}</span>
        </>
      ),
    },
  };
}
