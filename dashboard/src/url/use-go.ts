/** Goes to another state of the log: the one way in which anything on the page changes the URL. */

import { useRouter } from "@tanstack/react-router";
import { useCallback } from "react";
import { PAGE } from "~/api/page-facts";
import { formatSearch, type LogSearch } from "./search";

/** A request that keeps its place: its row stays selected, `top` pixels below the upper edge of the log. */
export type Anchor = { readonly id: string; readonly top: number };

declare module "@tanstack/react-router" {
  interface HistoryState {
    anchor?: Anchor;
  }
}

/** `id`: the request that is open beside the log. `replace`: without a step for Back. */
export type Destination = { search: LogSearch; id?: string; anchor?: Anchor | undefined; replace?: boolean };

/** The address of a state of the log, for a real link. */
export function logHref(search: LogSearch, id?: string): string {
  return `${PAGE.base}/requests${id === undefined ? "" : `/${encodeURIComponent(id)}`}${formatSearch(search)}`;
}

export function useGo(): (to: Destination) => void {
  const router = useRouter();
  return useCallback(
    ({ search, id, anchor, replace = false }) => {
      const href = logHref(search, id);
      const state = anchor === undefined ? {} : { anchor };
      if (replace) router.history.replace(href, state);
      else router.history.push(href, state);
    },
    [router],
  );
}
