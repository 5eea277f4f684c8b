/** The current filter and time range for all components below the layout. */

import { createContext, type RefObject, useContext } from "react";
import { EVERYTHING, type LogSearch } from "~/domain/log-search";

export const SearchContext = createContext<LogSearch>(EVERYTHING);

export function useLogSearch(): LogSearch {
  return useContext(SearchContext);
}

/** What the page asks for by now, around rows that are about to go and still say what was asked for before. */
export const NewestSearchContext = createContext<RefObject<LogSearch> | undefined>(undefined);

/** For a click: reads what is asked for at that moment. Nothing is drawn anew for it. */
export function useSearchAtClick(): () => LogSearch {
  const shown = useLogSearch();
  const newest = useContext(NewestSearchContext);
  return () => newest?.current ?? shown;
}
