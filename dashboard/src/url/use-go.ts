/** Goes to another state of the log: the one way in which anything on the page changes what the URL says of it. */

import { useRouter } from "@tanstack/react-router";
import { createContext, useCallback, useContext } from "react";
import { PAGE } from "~/api/page-facts";
import { formatSearch, type LogSearch } from "~/domain/log-search";

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

/** The address of a filter and range on the page that is shown: selecting a value stays on it. Usually the log's. */
export const AddressContext = createContext<(search: LogSearch) => string>((search) => logHref(search));

export function useAddress(): (search: LogSearch) => string {
  return useContext(AddressContext);
}

export function useGo(): (to: Destination) => void {
  const router = useRouter();
  const address = useAddress();
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
