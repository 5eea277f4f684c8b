/** Addresses of the log, lists and threads, and hooks that navigate to them. */

import { useLocation, useRouter } from "@tanstack/react-router";
import { createContext, type MouseEvent, type ReactNode, useCallback, useContext, useMemo } from "react";
import { PAGE } from "~/api/page-config";
import type { Filter } from "~/domain/filter";
import { formatSearch, type LogSearch } from "~/domain/log-search";
import { formatList, type ListSearch, parseList } from "./list-search";

/** A request that keeps its place: its row stays selected, `top` pixels below the upper edge of the log. */
export type Anchor = { readonly id: string; readonly top: number };

declare module "@tanstack/react-router" {
  interface HistoryState {
    anchor?: Anchor;
  }
}

/** `id`: the request that is open beside the log. `replace`: without a step for Back. */
export type LogTarget = { search: LogSearch; id?: string; anchor?: Anchor | undefined; replace?: boolean };

/** The address of a state of the log, for a real link. */
export function logHref(search: LogSearch, id?: string): string {
  return `${PAGE.base}/requests${id === undefined ? "" : `/${encodeURIComponent(id)}`}${formatSearch(search)}`;
}

/** The address of a filter and range on the page that is shown: selecting a value stays on it. Usually the log's. */
export const FilterHrefContext = createContext<(search: LogSearch) => string>((search) => logHref(search));

export function useFilterHref(): (search: LogSearch) => string {
  return useContext(FilterHrefContext);
}

export function useLogNavigate(): (to: LogTarget) => void {
  const router = useRouter();
  const address = useFilterHref();
  return useCallback(
    ({ search, id, anchor, replace = false }) => {
      const href = id === undefined ? address(search) : logHref(search, id);
      const state = anchor === undefined ? {} : { anchor };
      if (replace) router.history.replace(href, state);
      else router.history.push(href, state);
    },
    [router, address],
  );
}

/** The address of a thread, for a real link. `id`: the request to begin at; without one it begins at the latest. */
export function threadHref(filter: Filter, id?: string): string {
  const place = id === undefined ? "" : `#${encodeURIComponent(id)}`;
  return `${PAGE.base}/thread${formatSearch({ filter, range: {} })}${place}`;
}

/** `replace`: without a step for Back. */
export function useThreadNavigate(): (filter: Filter, id?: string, replace?: boolean) => void {
  const router = useRouter();
  return useCallback(
    (filter, id, replace = false) => {
      if (!replace) router.history.push(threadHref(filter, id));
      else {
        router.history.replace(threadHref(filter, id));
        // A step that follows at once would swallow this one.
        router.history.flush();
      }
    },
    [router],
  );
}

/** The list the URL names, and the way to another. */
export function useListSearch(): ListSearch {
  const text = useLocation({ select: ({ searchStr }) => searchStr });
  return useMemo(() => parseList(text), [text]);
}

/** The address of a list, for a real link. */
export function listHref(list: ListSearch): string {
  return `${PAGE.base}/namespaces${formatList(list)}`;
}

/** `replace`: without a step for Back. */
export function useListNavigate(): (list: ListSearch, replace?: boolean) => void {
  const router = useRouter();
  return useCallback(
    (list, replace = false) => {
      if (replace) router.history.replace(listHref(list));
      else router.history.push(listHref(list));
    },
    [router],
  );
}

type ListLinkProps = {
  to: ListSearch;
  children: ReactNode;
  className?: string | undefined;
  title?: string | undefined;
  /** It leads to what is shown already: a page, or one of several choices. */
  current?: "page" | "true" | undefined;
};

/** A real link to a list. */
export function ListLink({ to, children, className, title, current }: ListLinkProps) {
  const go = useListNavigate();
  const follow = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a className={className} href={listHref(to)} title={title} aria-current={current} onClick={follow}>
      {children}
    </a>
  );
}
