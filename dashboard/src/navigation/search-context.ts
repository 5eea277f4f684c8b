/** The current filter and time range for all components below the layout. */

import { createContext, type RefObject, useContext } from "react";
import { EMPTY_SEARCH, type LogSearch } from "~/domain/log-search";

export const SearchContext = createContext<LogSearch>(EMPTY_SEARCH);

export function useLogSearch(): LogSearch {
  return useContext(SearchContext);
}

/** The latest search, while rows of the previous search are still shown. */
export const LatestSearchContext = createContext<RefObject<LogSearch> | undefined>(undefined);

/** Returns a function that reads the latest search at the time of a click, without rendering again. */
export function useLatestSearch(): () => LogSearch {
  const shown = useLogSearch();
  const newest = useContext(LatestSearchContext);
  return () => newest?.current ?? shown;
}
