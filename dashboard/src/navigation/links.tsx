/** The link component, addresses of the log, lists and threads, and hooks that navigate to them. */

import { useLocation, useRouter } from "@tanstack/react-router";
import { type ComponentProps, createContext, type MouseEvent, useCallback, useContext, useMemo } from "react";
import { PAGE } from "~/api/page-config";
import type { Filter } from "~/domain/filter";
import { EMPTY_SEARCH, formatPairs, formatSearch, type LogSearch } from "~/domain/log-search";
import { formatList, type ListSearch, parseList } from "./list-search";

type AppLinkProps = ComponentProps<"a"> & {
  href: string;
  /** Called for a plain click instead of navigating to `href`. */
  onFollow?: (event: MouseEvent<HTMLAnchorElement>) => void;
  /** Whether `onFollow` is also called for clicks with Alt or Shift. */
  hasModifiers?: boolean;
};

/** A link within the application. A plain click does not reload the page. The browser handles other clicks. */
export function AppLink({ href, onFollow, hasModifiers = false, children, ...attributes }: AppLinkProps) {
  const router = useRouter();
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    if (event.ctrlKey || event.metaKey || event.button !== 0) return;
    if (!hasModifiers && (event.shiftKey || event.altKey)) return;
    event.preventDefault();
    if (onFollow === undefined) router.history.push(href);
    else onFollow(event);
  };
  return (
    <a {...attributes} href={href} onClick={follow}>
      {children}
    </a>
  );
}

/** A request whose row is selected and stays `top` pixels below the top of the log, but never behind the header. */
export type Anchor = { readonly id: string; readonly top: number };

declare module "@tanstack/react-router" {
  interface HistoryState {
    anchor?: Anchor;
    /** Whether a request was opened from the conversation view, to which closing the request returns. */
    isFromThread?: boolean;
  }
}

/**
 * `id` is the request to open while the log keeps its position. By default, a request that is open beside the log stays
 * open. `null` closes this request. With `replace`, no history entry is added.
 */
export type LogTarget = {
  search: LogSearch;
  id?: string | null;
  anchor?: Anchor | undefined;
  isFromThread?: boolean | undefined;
  replace?: boolean;
};

/** The address of the receipt of a deletion, or of the list of deletions. The filter proves whose deletion it was. */
export function receiptHref(id: string | undefined, params: readonly (readonly [string, string])[]): string {
  return `${PAGE.base}/deletions${id === undefined ? "" : `/${encodeURIComponent(id)}${formatPairs(params)}`}`;
}

/** The address of the log with a search, for `href`. */
export function logHref(search: LogSearch, id?: string): string {
  return `${PAGE.base}/requests${id === undefined ? "" : `/${encodeURIComponent(id)}`}${formatSearch(search)}`;
}

/**
 * The address of a search on the current page, so that selecting a value stays on this page. By default it is the
 * address of the log.
 */
export const FilterHrefContext = createContext<(search: LogSearch) => string>((search) => logHref(search));

export function useFilterHref(): (search: LogSearch) => string {
  return useContext(FilterHrefContext);
}

export function useLogNavigate(): (to: LogTarget) => void {
  const router = useRouter();
  const address = useFilterHref();
  return useCallback(
    ({ search, id, anchor, isFromThread, replace = false }) => {
      const open = id === undefined ? requestBeside(router.state.matches) : (id ?? undefined);
      const href = open === undefined ? address(search) : logHref(search, open);
      const { state: current } = router.state.location;
      const nextAnchor = anchor ?? (typeof id === "string" ? current.anchor : undefined);
      const state = {
        ...(nextAnchor && { anchor: nextAnchor }),
        ...((replace ? current.isFromThread : isFromThread) && { isFromThread: true }),
      };
      if (replace) router.history.replace(href, state);
      else router.history.push(href, state);
    },
    [router, address],
  );
}

/** The request that is open beside the log. A request that covers the log on a narrow screen does not count. */
function requestBeside(matches: readonly { params: object }[]): string | undefined {
  if (document.querySelector("[data-panel]") === null) return undefined;
  return (matches.at(-1)?.params as { id?: string } | undefined)?.id;
}

/** The address of a thread, for `href`. The page starts at the request `id`, or by default at the latest request. */
export function threadHref(filter: Filter, id?: string): string {
  const hash = id === undefined ? "" : `#${encodeURIComponent(id)}`;
  return `${PAGE.base}/thread${formatSearch({ filter, range: {} })}${hash}`;
}

/** With `replace`, no history entry is added. */
export function useThreadNavigate(): (filter: Filter, id?: string, replace?: boolean) => void {
  const router = useRouter();
  return useCallback(
    (filter, id, replace = false) => {
      if (!replace) router.history.push(threadHref(filter, id));
      else {
        router.history.replace(threadHref(filter, id));
        // Otherwise a navigation that follows immediately would discard this navigation.
        router.history.flush();
      }
    },
    [router],
  );
}

/**
 * The list that the URL describes. While another page is being opened, the parameters of the URL do not belong to a
 * list.
 */
export function useListSearch(): ListSearch {
  const text = useLocation({
    select: ({ pathname, searchStr }) => (pathname.endsWith("/namespaces") ? searchStr : ""),
  });
  return useMemo(() => parseList(text), [text]);
}

/** The address of the page that explains how to connect, for `href`. */
export function connectHref(search: LogSearch): string {
  return `${PAGE.base}/connect${formatSearch(search)}`;
}

/** Stands for the last successful request in the address of a comparison. */
export const LAST_GOOD = "last-good";

/** The address of the comparison of two requests, for `href`. `a` can be `LAST_GOOD`. */
export function compareHref(a: string, b: string): string {
  return `${PAGE.base}/compare/${encodeURIComponent(a)}/${encodeURIComponent(b)}`;
}

/** Returns a function that opens an address of the application. With `replace`, no history entry is added. */
export function useGo(): (href: string, replace?: boolean) => void {
  const { history } = useRouter();
  return useCallback((href, replace = false) => (replace ? history.replace(href) : history.push(href)), [history]);
}

/** Returns a function that goes back, or to the log if the page was not opened from within the application. */
export function useBack(): () => void {
  const { history } = useRouter();
  return useCallback(() => (history.canGoBack() ? history.back() : history.push(logHref(EMPTY_SEARCH))), [history]);
}

/** The address of a list, for `href`. */
export function listHref(list: ListSearch): string {
  return `${PAGE.base}/namespaces${formatList(list)}`;
}

/** With `replace`, no history entry is added. */
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

type ListLinkProps = Omit<ComponentProps<typeof AppLink>, "href"> & {
  to: ListSearch;
  /** Set if the link leads to the current page or is the current choice. */
  current?: "page" | "true" | undefined;
};

/** A link to a list. */
export function ListLink({ to, current, ...attributes }: ListLinkProps) {
  return <AppLink {...attributes} href={listHref(to)} aria-current={current} />;
}
