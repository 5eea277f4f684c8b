/** The filter and range of the URL, for everything below the page's frame. */

import { createContext, useContext } from "react";
import { EVERYTHING, type LogSearch } from "./search";

export const SearchContext = createContext<LogSearch>(EVERYTHING);

export function useLogSearch(): LogSearch {
  return useContext(SearchContext);
}
