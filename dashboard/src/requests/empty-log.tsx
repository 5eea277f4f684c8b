import { ConnectGuide } from "~/connect/connect-guide";
import { useLogSearch } from "~/navigation/search-context";
import { NoMatch } from "./no-match";

/** Why there is no row: nothing was ever logged, or nothing matches; then what would. */
export function EmptyLog() {
  const search = useLogSearch();
  const isWhole = search.filter.length === 0 && Object.keys(search.range).length === 0;
  return isWhole ? <ConnectGuide /> : <NoMatch />;
}
