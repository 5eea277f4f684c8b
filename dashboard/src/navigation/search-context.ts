/** The current filter and time range for all components below the layout. */

import { createContext, type RefObject, useContext } from "react";
import { EMPTY_SEARCH, type LogSearch } from "~/domain/log-search";

export const SearchContext = createContext<LogSearch>(EMPTY_SEARCH);

export function useLogSearch(): LogSearch {
  return useContext(SearchContext);
}

/** What the page asks for by now, around rows that are about to go and still say what was asked for before. */
export const LatestSearchContext = createContext<RefObject<LogSearch> | undefined>(undefined);

/** For a click: reads what is asked for at that moment. Nothing is drawn anew for it. */
export function useLatestSearch(): () => LogSearch {
  const shown = useLogSearch();
  const newest = useContext(LatestSearchContext);
  return () => newest?.current ?? shown;
}
